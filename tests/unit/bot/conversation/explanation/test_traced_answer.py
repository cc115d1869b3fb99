from __future__ import annotations

import pytest

from bot.conversation.explanation.traced_answer import traced_answer
from rag_engine.types import ConversationId, Trace, TurnId


@pytest.mark.parametrize(
    "details",
    [
        {},
        {"passages": None, "found": [], "understanding": "x", "evidence_judged": {"probability": "high"}},
        {"passages": ["x", {"legs": [3]}], "citations": {}, "passages_cut": ["a"], "shares": {"dense": None}},
    ],
)
def test_a_trace_of_another_version_is_no_error(details: dict[str, object]) -> None:
    trace = Trace(turn=TurnId("t"), conversation=ConversationId("c"), at=0.0, seconds={}, details=details)
    assert traced_answer(trace).question == ""
