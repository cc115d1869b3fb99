"""`footnote forget` removes what an interrupted research has found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.maintenance.erasure import rules
from bot.maintenance.erasure.marks import ErasedChannel, ErasedDocument, ErasureMarks
from rag_engine.storage.research_findings import SqliteFindings
from rag_engine.storage.sqlite.database import connect
from rag_engine.types import ConversationId, DocumentId, TurnId

if TYPE_CHECKING:
    from pathlib import Path

KEPT = TurnId("other-1")


@pytest.mark.parametrize(
    "marks",
    [
        ErasureMarks(subject="document", documents=(ErasedDocument(document=DocumentId("d1")),)),
        ErasureMarks(subject="question", answers=("asked",)),
        ErasureMarks(subject="turn", turns=("asked-2",)),
        ErasureMarks(
            subject="channel", channels=(ErasedChannel(platform="slack", workspace="T1", channel="C1"),)
        ),
    ],
    ids=lambda marks: marks.subject,
)
async def test_the_findings_of_what_is_forgotten_go_and_others_stay(
    tmp_path: Path, marks: ErasureMarks
) -> None:
    async with connect(tmp_path / "footnote.sqlite") as database:
        findings = SqliteFindings(database)
        asked = TurnId("asked-2")
        await findings.write(asked, ConversationId("slack:T1:C1:t"), '{"places": [{"document": "d1"}]}')
        await findings.write(KEPT, ConversationId("slack:T1:C2:t"), '{"places": [{"document": "d2"}]}')
        for rule in rules.of(marks):
            if rule.table == "research":
                assert await rule.count(database) == 1
                await rule.apply(database)
        assert await findings.read(asked) == ""
        assert await findings.read(KEPT) != ""
