from __future__ import annotations

import pytest

from bot.access.console_names import console_name
from bot.access.permissions import find, stored_name
from rag_engine.errors import UnknownKnowledgeBase
from rag_engine.types import KnowledgeBase, KnowledgeBaseId


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("handbook", "handbook"),
        ("slack:T1:C2~0123456789ab", "Slack T1, C2 (012345)"),
        ("discord:1:2:M%C3%BCll%2C a~0123456789ab", "Discord 1, 2, Müll, a (012345)"),
        ("notes: a~b", "notes: a~b"),
    ],
)
def test_a_knowledge_base_made_in_chat_is_named_by_its_place(name: str, shown: str) -> None:
    assert console_name(name) == shown
    base = KnowledgeBase(id=KnowledgeBaseId("a"), name=name, model="m")
    assert find([base], shown) is base
    assert find([base], name) is base
    assert stored_name([base], shown.upper()) == name
    assert stored_name([base], name) == name
    assert stored_name([base], "another") == "another"
    with pytest.raises(UnknownKnowledgeBase) as unknown:
        find([base], "nothing like it")
    assert f"there are: {shown}." in str(unknown.value)
