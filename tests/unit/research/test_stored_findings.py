"""An interrupted research continues from what it found, and from nothing else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from rag_engine.types import ConversationId, DocumentId, KnowledgeBaseId, TurnId
from tests.unit.research.setup import FACTS, FILES, HOPS, QUESTION, TURN, bench, two_hops

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.research.setup import Bench


async def interrupted(running: Bench, *, at: str, nth: int = 1) -> dict[str, Any]:
    """What is stored if the process ends during the nth call of a task."""
    seen = 0

    class Killed(BaseException):
        pass

    def dying(task: str, sent: str) -> object:
        nonlocal seen
        seen += task == at
        if task == at and seen == nth:
            raise Killed
        return two_hops(task, sent)

    running.model.reply = dying
    with pytest.raises(Killed):
        await running.ask(turn=TURN)
    running.model.reply = two_hops
    running.model.asked.clear()
    return json.loads(await running.findings.read(TURN) or "{}")


@pytest.mark.parametrize(
    ("at", "nth", "left"),
    [
        ("subqueries", 1, ["subqueries", "extract", "sufficiency", "extract", "sufficiency", "answer"]),
        ("sufficiency", 1, ["extract", "sufficiency", "answer"]),
        ("extract", 2, ["extract", "sufficiency", "answer"]),
        ("sufficiency", 2, ["sufficiency", "answer"]),
        ("answer", 1, ["answer"]),
    ],
)
async def test_it_goes_on_where_it_was(tmp_path: Path, at: str, nth: int, left: list[str]) -> None:
    async with bench(tmp_path) as running:
        await interrupted(running, at=at, nth=nth)
        answer = await running.ask(turn=TURN)
        tasks = running.model.tasks
    assert {citation.title for citation in answer.citations} == {"projects.md", "people.md"}
    assert all(fact.removesuffix(".") in answer.text for fact in FACTS.values())
    assert tasks[-len(left) :] == left
    assert tasks.count("subqueries") == left.count("subqueries")


async def test_what_is_stored_holds_no_text_of_passages_and_what_was_spent(tmp_path: Path) -> None:
    async with bench(tmp_path) as running:
        stored = await interrupted(running, at="answer")
        spent = await running.ask(turn=TURN)
    assert not any(text in json.dumps(stored) for text in FILES.values())
    assert stored["calls"] == 5
    assert spent.research["calls"] == 5


async def test_another_question_begins_anew(tmp_path: Path) -> None:
    async with bench(tmp_path) as running:
        await interrupted(running, at="answer")
        await running.ask("What does the canteen serve?", turn=TURN)
        assert running.model.tasks[0] == "subqueries"


async def test_what_the_asker_may_no_longer_read_is_not_used(tmp_path: Path) -> None:
    async with bench(tmp_path) as running:
        await running.add("projects.md", FILES["projects.md"], base="other")
        await interrupted(running, at="answer")
        answer = await running.ask(QUESTION, "other", turn=TURN)
        (sent,) = running.model.sent("answer")
    assert "Lisbon" not in sent
    assert {citation.document for citation in answer.citations} <= {DocumentId("other/projects.md")}


async def test_a_removed_file_takes_its_facts_with_it(tmp_path: Path) -> None:
    async with bench(tmp_path) as running:
        await interrupted(running, at="answer")
        await running.index.drop(KnowledgeBaseId("kb"), DocumentId("kb/people.md"))
        await running.ask(turn=TURN)
        (sent,) = running.model.sent("answer")
    assert FACTS[HOPS[0]] in sent
    assert "Lisbon office of the company" not in sent
    assert FACTS[HOPS[1]] not in sent


@pytest.mark.parametrize("state", ["", "{", "[]", '{"question": 3}'])
async def test_damaged_findings_begin_anew(tmp_path: Path, state: str) -> None:
    async with bench(tmp_path) as running:
        await running.findings.write(TURN, ConversationId("c"), state)
        answer = await running.ask(turn=TURN)
    assert answer.research["ending"] == "sufficient"


async def test_they_move_to_the_turn_that_continues_and_go_with_it(tmp_path: Path) -> None:
    async with bench(tmp_path) as running:
        later = TurnId("turn-2")
        await running.findings.write(TURN, ConversationId("c"), "{}")
        await running.findings.move(TURN, later)
        assert (await running.findings.read(TURN), await running.findings.read(later)) == ("", "{}")
        await running.history.forget([later])
        assert await running.findings.read(later) == ""
        await running.findings.write(TURN, ConversationId("c"), "{}")
        await running.history.prune(before=9e12, limit=10)
        assert await running.findings.read(TURN) == ""
