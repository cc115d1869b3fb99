"""What every `History` must do."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.errors import UserError
from rag_engine.storage.history import SqliteHistory
from rag_engine.storage.sqlite.database import connect
from rag_engine.types import ConversationId, Role, Trace, Turn, TurnId
from tests.databases import new_database
from tests.hypothesis_profiles import examples

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from rag_engine.ports import History

HERE = ConversationId("slack:T1:C1:17.5")
ELSEWHERE = ConversationId("slack:T1:C2")


@pytest.fixture(params=["sqlite"])
async def history(tmp_path: Path) -> AsyncIterator[SqliteHistory]:
    async with connect(new_database(tmp_path / "footnote.sqlite")) as database:
        yield SqliteHistory(database)


def turn(
    name: str, *, conversation: ConversationId = HERE, role: Role = "user", text: str = "", at: float = 1.0
) -> Turn:
    return Turn(id=TurnId(name), conversation=conversation, role=role, text=text or name, at=at)


def trace(name: str, *, conversation: ConversationId = HERE, **details: object) -> Trace:
    return Trace(
        turn=TurnId(name), conversation=conversation, at=1.0, seconds={"retrieve": 0.25}, details=details
    )


async def test_turns_come_back_oldest_first_whatever_their_clock_says(history: History) -> None:
    await history.write([turn("a", at=9.0), turn("b", at=9.0, role="assistant")], trace("b"))
    await history.write([turn("c", at=2.0)], trace("c"))
    assert [t.id for t in await history.read(HERE, limit=10)] == ["a", "b", "c"]


async def test_a_version_takes_the_place_of_an_earlier_one_which_can_come_back(
    history: SqliteHistory,
) -> None:
    async def read(before: str = "") -> list[str]:
        found = await history.read(HERE, limit=10, before=TurnId(before) if before else None)
        return [each.id for each in found]

    await history.write([turn("q1"), turn("a1", role="assistant")], trace("a1"))
    await history.write([turn("q2"), turn("a2", role="assistant")], trace("a2"))
    earlier = [TurnId("q1"), TurnId("a1")]
    await history.write([turn("q1b"), turn("a1b", role="assistant")], trace("a1b"), in_place_of=earlier)
    assert await read() == ["q1b", "a1b", "q2", "a2"]
    assert await read(before="q1") == await read(before="q1b") == []
    assert await read(before="q2") == ["q1b", "a1b"]
    await history.activate(earlier)
    assert await read() == ["q1", "a1", "q2", "a2"]
    await history.activate([TurnId("q1b"), TurnId("a1b")])
    assert await read() == ["q1b", "a1b", "q2", "a2"]
    kept = await history.turn(TurnId("a1"))
    assert kept is not None
    assert kept.text == "a1"
    unknown = [TurnId("gone"), TurnId("gone too")]
    await history.write([turn("q3"), turn("a3", role="assistant")], trace("a3"), in_place_of=unknown)
    assert await read() == ["q1b", "a1b", "q2", "a2", "q3", "a3"]


async def test_only_the_last_turns_are_read(history: History) -> None:
    await history.write([turn(str(number)) for number in range(20)], trace("19"))
    assert [t.id for t in await history.read(HERE, limit=3)] == ["17", "18", "19"]
    assert await history.read(HERE, limit=0) == []


async def test_a_turn_comes_back_as_it_was_written(history: History) -> None:
    written = turn("ünï", role="assistant", text="line one\n第二行 🙂 \x00 end", at=1_763_650_000.123456)
    await history.write([written], trace("ünï"))
    assert await history.read(HERE, limit=1) == [written]


async def test_conversations_do_not_see_each_other(history: History) -> None:
    await history.write([turn("a"), turn("b", conversation=ELSEWHERE)], trace("a"))
    assert [t.id for t in await history.read(ELSEWHERE, limit=10)] == ["b"]
    assert await history.read(ConversationId("nobody"), limit=10) == []


async def test_a_turn_written_again_is_replaced_in_its_place(history: History) -> None:
    await history.write([turn("a"), turn("b")], trace("b"))
    await history.write([turn("a", text="edited")], trace("a"))
    assert [(t.id, t.text) for t in await history.read(HERE, limit=10)] == [("a", "edited"), ("b", "b")]


async def test_a_trace_comes_back_as_it_was_written(history: SqliteHistory) -> None:
    written = Trace(
        turn=TurnId("t1"),
        conversation=HERE,
        at=2.5,
        seconds={"retrieve": 0.25, "answer": 1.5},
        fallbacks=("dense_unavailable",),
        details={"question": "Wo? 在哪里", "passages": [{"rank": 1, "score": 0.5}], "nothing": None},
    )
    await history.write([], written)
    assert await history.trace(TurnId("t1")) == written


async def test_the_newest_trace_is_the_last_one_written(history: SqliteHistory) -> None:
    assert await history.trace() is None
    await history.write([], trace("zz"))
    await history.write([], trace("aa"))
    newest = await history.trace()
    assert newest is not None
    assert newest.turn == "aa"


async def test_a_trace_is_found_by_a_unique_beginning(history: SqliteHistory) -> None:
    for name in ("3f2a", "3f2a-question", "3f9b", "%"):
        await history.write([], trace(name))
    for wanted, expected in {"3f9": "3f9b", "3f2a": "3f2a", "3f2a-": "3f2a-question", "%": "%"}.items():
        found = await history.trace(TurnId(wanted))
        assert found is not None
        assert found.turn == expected
    assert await history.trace(TurnId("3f3")) is None
    with pytest.raises(UserError, match="several turns begin with '3f'"):
        await history.trace(TurnId("3f"))


async def test_of_a_repeated_question_the_latest_trace(history: SqliteHistory) -> None:
    for name in ("7f3a11-1", "7f3a11-2"):
        await history.keep(trace(name))
    found = await history.trace(TurnId("7f3a"))
    assert found is not None
    assert found.turn == "7f3a11-2"
    await history.write([], trace("7f3a22-1"))
    with pytest.raises(UserError, match=r"7f3a22-1 \(.*7f3a11-2 \("):
        await history.trace(TurnId("7f3a"))


async def test_what_is_forgotten_is_gone_with_its_trace_and_nothing_else(history: SqliteHistory) -> None:
    await history.write([turn("a"), turn("b", role="assistant")], trace("b"))
    await history.write([turn("c"), turn("d", role="assistant")], trace("d"))
    await history.forget([TurnId("a"), TurnId("b"), TurnId("never was")])
    assert [t.id for t in await history.read(HERE, limit=10)] == ["c", "d"]
    assert await history.trace(TurnId("b")) is None
    assert await history.trace(TurnId("d")) is not None


async def test_turns_and_trace_hold_together_or_not_at_all(history: SqliteHistory) -> None:
    await history.write([turn("a")], trace("a"))
    wrong = Trace(turn=TurnId("c"), conversation=cast("ConversationId", None), at=1.0, seconds={})
    with pytest.raises(sqlite3.IntegrityError):  # after both turns are in, the trace is refused
        await history.write([turn("b"), turn("c")], wrong)
    assert [t.id for t in await history.read(HERE, limit=10)] == ["a"]
    assert await history.trace(TurnId("c")) is None


async def test_fifty_writers_at_once_lose_nothing(history: SqliteHistory) -> None:
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        for number in range(50):
            pair = [turn(f"{number}q"), turn(f"{number}a", role="assistant")]
            group.create_task(history.write(pair, trace(f"{number}a")))
    turns = [t.id for t in await history.read(HERE, limit=1000)]
    assert sorted(turns) == sorted(f"{number}{side}" for number in range(50) for side in "qa")
    assert all(
        turns[at][:-1] == turns[at + 1][:-1] for at in range(0, 100, 2)
    )  # no writer came between a pair


@given(texts=st.lists(st.text(min_size=1), max_size=5))
@examples(25)
def test_any_text_can_be_kept(texts: list[str]) -> None:
    async def round_trip(folder: str) -> list[str]:
        async with connect(new_database(Path(folder) / "footnote.sqlite")) as database:
            history = SqliteHistory(database)
            await history.write(
                [turn(str(number), text=text) for number, text in enumerate(texts)], trace("x")
            )
            return [t.text for t in await history.read(HERE, limit=len(texts))]

    with TemporaryDirectory() as folder:
        assert asyncio.run(round_trip(folder)) == texts


async def test_conversations_are_listed_by_last_activity(history: SqliteHistory) -> None:
    single = ConversationId("single:x")
    await history.write([turn("s", conversation=single, at=9.0)], trace("s", conversation=single))
    await history.write([turn("a", at=1.0), turn("b", role="assistant", at=2.0)], trace("b"))
    await history.write([turn("c", conversation=ELSEWHERE, at=3.0)], trace("c", conversation=ELSEWHERE))
    await history.write([turn("d", conversation=ELSEWHERE, at=3.0)], trace("d", conversation=ELSEWHERE))
    listed = await history.conversations(limit=10)
    assert [(each.id, each.at, each.questions, each.title, each.opening) for each in listed] == [
        (ELSEWHERE, 3.0, 2, "", "c"),
        (HERE, 2.0, 1, "", "a"),
    ]
    await history.write([turn("e", at=4.0)], trace("e"), in_place_of=[TurnId("a")])
    assert [(each.id, each.questions, each.opening) for each in await history.conversations(limit=1)] == [
        (HERE, 1, "e")
    ]
    assert [each.id for each in await history.conversations(limit=10, beginning="slack:T1:C2")] == [ELSEWHERE]
    await history.forget([TurnId("c"), TurnId("d")])
    assert [each.id for each in await history.conversations(limit=10)] == [HERE]


async def test_a_title_goes_with_what_it_may_repeat(history: SqliteHistory) -> None:
    async def titles() -> dict[str, str]:
        return {each.id: each.title for each in await history.conversations(limit=10)}

    await history.rename(HERE, "Of nothing")
    await history.write([turn("a", at=5.0), turn("b", at=5.0)], trace("b"))
    await history.write([turn("c", conversation=ELSEWHERE, at=6.0)], trace("c", conversation=ELSEWHERE))
    assert await titles() == {HERE: "", ELSEWHERE: ""}
    await history.rename(HERE, "Leave")
    await history.rename(ELSEWHERE, "Travel")
    await history.rename(HERE, "Leave in May")
    assert await titles() == {HERE: "Leave in May", ELSEWHERE: "Travel"}
    await history.write([turn("d", at=5.0)], trace("d"), in_place_of=[TurnId("a")])
    await history.forget([TurnId("a")])
    assert await titles() == {HERE: "Leave in May", ELSEWHERE: "Travel"}, (
        "an earlier version, no longer shown"
    )
    await history.forget([TurnId("b")])
    assert await titles() == {HERE: "", ELSEWHERE: "Travel"}
    await history.prune(before=7.0, limit=10)
    await history.write([turn("c", conversation=ELSEWHERE)], trace("c", conversation=ELSEWHERE))
    assert await titles() == {ELSEWHERE: ""}
    await history.rename(ELSEWHERE, "Travel")
    await history.prune(before=1.0, limit=10)
    assert await titles() == {ELSEWHERE: "Travel"}
    await history.rename(ELSEWHERE, "")
    assert await titles() == {ELSEWHERE: ""}
