"""Conversations at the console: listed, exported, renamed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from rag_engine.storage.history import SqliteHistory
from rag_engine.storage.sqlite.database import connect
from rag_engine.types import ConversationId, Trace, Turn, TurnId

if TYPE_CHECKING:
    from pathlib import Path

    from tests.journeys.conftest import Footnote

CHANNEL = "slack:T1:C1:"
THREAD = "slack:T1:C1:17.5"
ASKED_ALONE = "slack:T1:C1::ask:U1"
DIRECT = "slack:T1:D1:"


@pytest.fixture
async def asked(footnote: Footnote, tmp_path: Path) -> Footnote:
    """Two turns in each of four places, all at one moment, the answers before the questions by the alphabet."""
    (tmp_path / "data").mkdir()
    async with connect(tmp_path / "data" / "footnote.sqlite") as database:
        history = SqliteHistory(database)
        for number, name in enumerate((CHANNEL, THREAD, ASKED_ALONE, DIRECT), 1):
            conversation = ConversationId(name)
            for round_ in (1, 2):
                answer = TurnId(f"a{number}{round_}")
                question = Turn(
                    id=TurnId(f"z{number}{round_}"),
                    conversation=conversation,
                    role="user",
                    text=f"Question {number}.{round_} {'and more ' * 9}",
                    at=float(number),
                )
                said = Turn(
                    id=answer, conversation=conversation, role="assistant", text="28 [1].", at=float(number)
                )
                cited = {"number": 1, "title": "leave.md", "anchor": "§ Leave", "quote": "28 days."}
                trace = Trace(
                    turn=answer, conversation=conversation, at=1.0, seconds={}, details={"citations": [cited]}
                )
                await history.write([question, said], trace)
    return footnote


async def test_they_are_listed_by_last_activity_and_private_words_stay_hidden(asked: Footnote) -> None:
    listed = json.loads((await asked("conversations", "--json")).out)
    assert [(row["id"], row["questions"], row["private"]) for row in listed] == [
        (DIRECT, 2, True),
        (ASKED_ALONE, 2, True),
        (THREAD, 2, False),
        (CHANNEL, 2, False),
    ]
    assert [row["title"][:12] for row in listed] == ["", "", "Question 2.1", "Question 1.1"]
    assert len(listed[2]["title"]) == 60
    printed = (await asked("conversations", "--limit", "3")).out.splitlines()
    assert printed[0] == f"1970-01-01T00:00:04+00:00  {DIRECT}  2 questions"
    assert printed[1] == "  (private)"
    assert len(printed) == 6


async def test_one_is_exported_in_order_of_writing(asked: Footnote) -> None:
    shown = json.loads((await asked("conversations", "show", THREAD, "--json")).out)
    assert [turn["id"] for turn in shown["turns"]] == ["z21", "a21", "z22", "a22"]
    assert shown["turns"][1]["citations"] == [
        {"number": 1, "title": "leave.md", "anchor": "§ Leave", "quote": "28 days."}
    ]
    text = (await asked("conversations", "show", CHANNEL)).out
    assert text.startswith("# Question 1.1 and more")
    assert text.index("Question 1.2") > text.index("28 [1].\n\n- [1] leave.md — § Leave\n\n**Question**")


async def test_a_private_one_is_shown_only_on_request(asked: Footnote) -> None:
    refused = await asked("conversations", "show", ASKED_ALONE)
    assert (refused.code, refused.out) == (1, "")
    assert "is private; --private shows it" in refused.err
    assert "Question 3.2" in (await asked("conversations", "show", ASKED_ALONE, "--private")).out


async def test_one_is_renamed_by_the_beginning_of_its_id(asked: Footnote) -> None:
    assert (await asked("conversations", "rename", f"{THREAD[:-1]}", " Leave\n in \x1b[31mMay ")).code == 0
    for wanted, reason in (
        ("slack:T1", "4 conversations begin with 'slack:T1': give more of the id"),
        ("slack:T9", "There is no conversation 'slack:T9'"),
    ):
        refused = await asked("conversations", "rename", wanted, "No")
        assert refused.code == 1
        assert reason in refused.err
    too_long = await asked("conversations", "rename", THREAD, "x" * 201)
    assert "A title has at most 200 characters; this one has 201." in too_long.err
    titles = [row["title"] for row in json.loads((await asked("conversations", "--json")).out)]
    assert [title[:15] for title in titles] == ["", "", "Leave in [31mMa", "Question 1.1 an"]


@pytest.mark.parametrize("turn", ["a32", "a42"], ids=["asked alone", "direct"])
async def test_the_trace_of_a_private_turn_shows_its_words_only_on_request(
    asked: Footnote, turn: str
) -> None:
    for json_ in ((), ("--json",)):
        shown = (await asked("trace", turn, *json_)).out
        assert turn in shown
        assert "28" not in shown
        assert "leave.md" not in shown
        assert "28 days." in (await asked("trace", turn, "--private", *json_)).out
    assert "--private" in (await asked("trace", turn)).out
    assert "28 days." in (await asked("trace", "a22")).out
