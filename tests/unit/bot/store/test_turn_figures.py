"""Figures of questions follow their rows, whatever happens to these; lists of questions come a part at a time."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from bot.observability.observers import Observers
from bot.observability.operations import ModelCall, TurnWork
from bot.observability.turn_measurements import TurnMeasurements
from bot.port import Person, Place
from bot.store.question_list import QuestionFilter, questions
from bot.store.turn_figures import MeasuredTurn, TokenCount, TurnFigures, percentile
from bot.store.turns import ChatTurn, Turns
from rag_engine.storage.sqlite.database import connect
from rag_engine.types import Answer, ChunkId, Citation, DocumentId, TurnId
from tests.databases import new_database

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from rag_engine.storage.sqlite.database import Database

DAY = 86_400
NOW = 20_000.5 * DAY
PLACE = Place(platform="slack", workspace="T1", channel="C1")
CITATION = Citation(
    number=1, title="a", anchor="", uri="", quote="q", document=DocumentId("d1"), chunk=ChunkId("c")
)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncGenerator[Database]:
    async with connect(new_database(tmp_path / "chat.sqlite"), scripts=files("bot.store") / "sql") as opened:
        yield opened


async def ended(database: Database, message: str, **changes: object) -> ChatTurn:
    """A question that was answered."""
    place = changes.pop("place", PLACE)
    turn = ChatTurn(
        place=place,
        message=message,
        person=Person(id="U1"),
        question=f"Question {message}?",
        asked_at=NOW - float(changes.pop("ago", 0)),
    )
    turns = Turns(database)
    assert await turns.claim(turn)
    turn = replace(
        turn, **{"state": "final", "turn": TurnId(f"{turn.id}-1"), "citations": (CITATION,), **changes}
    )
    assert await turns.save(turn)
    return turn


async def figures(database: Database, days: int = 7, **where: str) -> dict[str, int]:
    found = await TurnFigures(database, clock=lambda: NOW).days(days, **where)
    assert len(found) == days
    totals: dict[str, int] = {}
    for each in found:
        for name, count in each.outcomes.items():
            totals[name] = totals.get(name, 0) + count
    return {**totals, "up": sum(each.up for each in found), "down": sum(each.down for each in found)}


async def test_what_became_of_questions_is_counted(database: Database) -> None:
    await ended(database, "1")
    await ended(database, "2", citations=())
    await ended(database, "3", citations=(), turn=None)
    await ended(database, "4", state="failed")
    await ended(database, "5", state="stopped", place=replace(PLACE, workspace="T2"))
    await ended(database, "6", ago=8 * DAY)
    all_ = {"answered": 1, "unanswered": 1, "talk": 1, "failed": 1, "stopped": 1, "up": 0, "down": 0}
    assert await figures(database) == all_
    assert await figures(database, platform="slack", workspace="T2") == {"stopped": 1, "up": 0, "down": 0}
    assert (await figures(database, 30))["answered"] == 2
    weeks = await TurnFigures(database, clock=lambda: NOW).days(14, span=7)
    assert [(each.day, each.questions) for each in weeks] == [(19_987, 1), (19_994, 5)]


async def test_they_follow_ratings_repetitions_and_deletions(database: Database) -> None:
    turns, turn = Turns(database), await ended(database, "1")
    await turns.rate(turn, "U1", "up")
    await turns.rate(turn, "U2", "down")
    assert await figures(database) == {"answered": 1, "up": 1, "down": 1}
    await turns.rate(turn, "U1", "down")
    assert await figures(database) == {"answered": 1, "up": 0, "down": 2}
    await turns.save(replace(turn, state="streaming", citations=()))
    await turns.save(replace(turn, state="final", citations=()))
    assert await figures(database) == {"unanswered": 1, "up": 0, "down": 2}
    await turns.save(replace(turn, state="withdrawn"))
    assert await figures(database) == {"up": 0, "down": 0}
    other = await ended(database, "2")
    assert await TurnFigures(database).citations(["d1", "d2"]) == {"d1": 2}
    await turns.drop(other)
    assert await figures(database) == {"up": 0, "down": 0}
    assert (await database.fetch("SELECT * FROM turn_days")) == []


async def test_measured_turns_refine_them(database: Database) -> None:
    first, second = await ended(database, "1"), await ended(database, "2", citations=())
    store = TurnFigures(database, clock=lambda: NOW)
    tokens = {"gpt": TokenCount(calls=2, prompt=100, reply=10)}
    await store.record(
        [
            MeasuredTurn(answer=first.id, outcome="answered", seconds=3.3, tokens=tokens),
            MeasuredTurn(answer=second.id, outcome="talk", seconds=900.0),
            MeasuredTurn(answer="gone", outcome="talk", seconds=1.0, tokens=tokens),
            MeasuredTurn(tokens=tokens),
        ]
    )
    assert await figures(database) == {"answered": 1, "talk": 1, "up": 0, "down": 0}
    today = (await store.days(1))[0]
    assert percentile(today.latency, 0.5) == 3.2
    assert today.tokens == {"gpt": TokenCount(calls=6, prompt=300, reply=30)}
    own = (await store.days(1, platform="slack", workspace="T1"))[0]
    assert own.tokens == tokens


def test_percentiles() -> None:
    assert percentile({}, 0.5) is None
    assert percentile({10: 1}, 0.95) == 1.0
    assert percentile({1: 50, 2: 45, 30: 5}, 0.5) == 0.1
    assert percentile({1: 50, 2: 45, 30: 5}, 0.95) == 0.2
    assert percentile({1: 50, 2: 45, 30: 5}, 0.96) == 3.0


def test_a_turn_knows_what_its_models_spent() -> None:
    sink = TurnMeasurements()
    observers = Observers(sinks=(sink,))
    answer = Answer(turn=TurnId("t"), text="", citations=(CITATION,), grounded=True, timings={})
    with observers.around(TurnWork(platform="slack", turn="a1", state="final")):
        with observers.around(ModelCall(model="gpt", task="answer", prompt_tokens=70, reply_tokens=7)):
            pass
        with observers.around(ModelCall(model="gpt", task="follow_ups", prompt_tokens=30, reply_tokens=3)):
            pass
    work = TurnWork(platform="slack", turn="a2", state="final")
    work.answer = answer
    with observers.around(work):
        pass
    with observers.around(ModelCall(model="small", task="graph", prompt_tokens=5)):
        pass
    first, second, third = sink.take()
    assert (first.answer, first.outcome) == ("a1", None)
    assert first.tokens == {"gpt": TokenCount(calls=2, prompt=100, reply=10)}
    assert (second.answer, second.outcome, second.tokens) == ("a2", "answered", {})
    assert (third.answer, third.tokens) == ("", {"small": TokenCount(calls=1, prompt=5)})
    assert sink.take() == []


@pytest.mark.parametrize(
    ("route", "state", "expected"),
    [
        ("search", "final", "unanswered"),
        ("chat", "final", "talk"),
        ("clarify", "final", "talk"),
        ("search", "stopped", None),
    ],
)
def test_the_route_tells_talk_from_what_was_not_found(route: str, state: str, expected: str | None) -> None:
    sink = TurnMeasurements()
    work = TurnWork(platform="slack", turn="a", state=state)
    work.answer = Answer(turn=TurnId("t"), text="", citations=(), grounded=False, timings={}, route=route)
    with Observers(sinks=(sink,)).around(work):
        pass
    assert sink.take()[0].outcome == expected


async def test_questions_come_a_part_at_a_time_the_newest_first(database: Database) -> None:
    for number in range(25):
        await ended(database, str(number), ago=number // 3, citations=() if number % 5 == 0 else (CITATION,))
    seen: list[str] = []
    chosen = QuestionFilter()
    while True:
        part = await questions(database, chosen, limit=10)
        seen += [each.question for each in part.questions]
        if part.next is None:
            break
        chosen = replace(chosen, before=part.next)
    assert len(seen) == len(set(seen)) == 25
    assert seen[-1] == "Question 24?"
    unanswered = await questions(database, QuestionFilter(outcome="unanswered"), limit=10)
    assert {each.question for each in unanswered.questions} == {f"Question {n}?" for n in (0, 5, 10, 15, 20)}


async def test_questions_of_a_workspace_a_channel_a_rating_and_with_words(database: Database) -> None:
    turn = await ended(database, "1")
    await ended(database, "2", place=replace(PLACE, workspace="T2"))
    await ended(database, "3", place=replace(PLACE, channel="C2"))
    gone = await ended(database, "4")
    await Turns(database).save(replace(gone, state="withdrawn"))
    await Turns(database).rate(turn, "U1", "down")

    async def found(**fields: str) -> list[str]:
        part = await questions(database, QuestionFilter(**fields), limit=10)
        return sorted(each.question for each in part.questions)

    workspace = {"platform": "slack", "workspace": "T1"}
    assert await found(**workspace) == ["Question 1?", "Question 3?"]
    assert await found(**workspace, channel="C2") == ["Question 3?"]
    assert await found(**workspace, outcome="down") == ["Question 1?"]
    assert await found(platform="slack", workspace="T2", outcome="down") == []
    assert await found(text="QUESTION 2") == ["Question 2?"]
    assert await found(text="%") == []


async def test_what_was_asked_before_the_page_existed_is_counted(tmp_path: Path) -> None:
    path = new_database(tmp_path / "chat.sqlite")
    scripts = files("bot.store") / "sql"
    async with connect(path, scripts=scripts) as database:
        await ended(database, "1")
        before = await database.fetch("SELECT answer, outcome FROM turn_figures")
        cited = await database.fetch("SELECT * FROM turn_citations")
        script = (scripts / "0018_web_sessions.sql").read_text()
        refill = [each for each in script.split(";\n") if each.strip().startswith("INSERT")][-2:]
        assert all("FROM answers" in each for each in refill)
        async with database.transaction() as transaction:
            await transaction.execute("DELETE FROM turn_figures")
            await transaction.execute("DELETE FROM turn_citations")
            for statement in refill:
                await transaction.execute(statement)
        assert await database.fetch("SELECT answer, outcome FROM turn_figures") == before
        assert await database.fetch("SELECT * FROM turn_citations") == cited
