"""A question is researched: plan, searches, checked facts, follow-ups, report."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import pytest

from rag_engine.errors import ModelUnavailable
from rag_engine.generation.phrases import phrase
from rag_engine.types import AnswerOptions, KnowledgeBaseId, Query, Stage
from tests.unit.research.setup import FACTS, HOPS, QUESTION, bench, facts_in, two_hops

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_question_of_two_hops_is_answered_with_both_cited(tmp_path: Path) -> None:
    async with bench(tmp_path) as running:
        answer = await running.ask()
    assert {citation.title for citation in answer.citations} == {"projects.md", "people.md"}
    assert all(fact.removesuffix(".") in answer.text for fact in FACTS.values())
    assert (answer.route, answer.grounded) == ("research", True)
    assert answer.research["rounds"] == 2
    assert answer.research["ending"] == "sufficient"
    assert running.model.tasks == [
        "subqueries",
        "extract",
        "sufficiency",
        "extract",
        "sufficiency",
        "answer",
    ]


async def test_the_second_hop_knows_what_the_first_found(tmp_path: Path) -> None:
    async with bench(tmp_path) as running:
        await running.ask()
    first, second = running.model.sent("extract")
    assert FACTS[HOPS[0]] not in first
    assert f"- {FACTS[HOPS[0]]}" in second


async def test_the_plan_and_its_ticks_are_shown_in_order(tmp_path: Path) -> None:
    async with bench(tmp_path) as running:
        told = await running.events()
    shown = [event.steps for event in told if isinstance(event, Stage) and event.name == "research"]
    assert [(step.text, step.state) for step in shown[1]] == [(HOPS[0], "running")]
    assert [(step.text, step.state) for step in shown[-1]] == [(hop, "done") for hop in HOPS]


async def test_the_report_is_written_from_findings_with_the_numbers_of_passages(tmp_path: Path) -> None:
    async with bench(tmp_path) as running:
        await running.ask()
    (sent,) = running.model.sent("answer")
    findings = sent.partition("</findings>")[0]
    assert f"- {FACTS[HOPS[0]]} [1]" in findings
    assert f"- {FACTS[HOPS[1]]} [2]" in findings
    assert "{{" not in sent


async def test_an_ordinary_question_makes_no_call_more(tmp_path: Path) -> None:
    async with bench(tmp_path) as running:
        await running.ask(options=AnswerOptions())
        assert len(running.index.searched) == 1
    assert running.model.tasks == ["answer"]


async def test_a_language_model_may_choose_it(tmp_path: Path) -> None:
    def choosing(task: str, sent: str) -> object:
        if task == "understand":
            return {"route": "research", "confidence": 0.9, "question": QUESTION, "queries": []}
        return two_hops(task, sent)

    async with bench(tmp_path, choosing) as running:
        await running.ask("What about the Aurora project?", options=AnswerOptions())
        answer = await running.ask("And where does she work?", options=AnswerOptions())
        assert (answer.route, answer.understood_as) == ("research", QUESTION)
        assert running.engine.research is not None
        running.engine = replace(running.engine, research=replace(running.engine.research, automatic=False))
        ordinary = await running.ask("And where does she work?", options=AnswerOptions())
    assert ordinary.route == "search"


@pytest.mark.parametrize(
    "reply", ["I would first look for the leader.", '{"questions": 7}', '{"plan": []}', "x" * 10_000_000, " "]
)
async def test_without_a_readable_plan_the_question_is_the_only_part(tmp_path: Path, reply: str) -> None:
    def planless(task: str, sent: str) -> object:
        return reply if task == "subqueries" else two_hops(task, sent)

    async with bench(tmp_path, planless) as running:
        answer = await running.ask()
        noted = await running.noted()
    queries = [query["query"] for query in noted["queries"]]
    assert queries[0] == QUESTION
    assert any(fault.startswith("plan: ") for fault in noted["faults"])
    assert "research_incomplete" in answer.fallbacks
    assert "Lisbon" in answer.text


@pytest.mark.parametrize("task", ["extract", "sufficiency"])
@pytest.mark.parametrize("reply", ["prose", '{"facts": 3, "sufficient": []}', "{" * 10_000_000, ""])
async def test_an_unreadable_reply_leaves_an_answer(tmp_path: Path, task: str, reply: str) -> None:
    def broken(asked: str, sent: str) -> object:
        if asked == "answer":
            return "Nadia Petrov leads the Aurora project [1]."
        return reply if asked == task else two_hops(asked, sent)

    async with bench(tmp_path, broken) as running:
        answer = await running.ask()
    assert answer.citations
    assert "research_incomplete" in answer.fallbacks
    if task == "sufficiency":
        assert answer.research["ending"] == "unreadable"


@pytest.mark.parametrize(
    ("limits", "ending"),
    [
        ({"rounds": 2}, "rounds"),
        ({"searches": 3}, "searches"),
        ({"tokens": 4_000}, "tokens"),
    ],
)
async def test_each_limit_ends_a_research_that_never_has_enough(
    tmp_path: Path, limits: dict[str, float], ending: str
) -> None:
    words = iter(f"What is known of number {number}?" for number in range(1_000))

    def endless(task: str, sent: str) -> object:
        if task == "sufficiency":
            return {"sufficient": False, "missing": ["all"], "questions": [next(words)]}
        return two_hops(task, sent)

    async with bench(tmp_path, endless, **{"rounds": 1_000, "searches": 1_000, **limits}) as running:
        for number in range(40):
            await running.add(f"{number}.md", f"Of number {number} it is known that it is {number * number}.")
        answer = await running.ask()
    spent = cast("dict[str, float]", answer.research)
    assert spent["ending"] == ending
    assert spent["searches"] <= limits.get("searches", 1_000)
    assert spent["rounds"] <= limits.get("rounds", 1_000)
    largest = max(prompt.tokens + prompt.reply_tokens for _, prompt in running.model.asked)
    assert spent["tokens"] <= limits.get("tokens", 100_000) + largest
    assert answer.text


@pytest.mark.parametrize("task", ["subqueries", "extract", "sufficiency"])
async def test_a_call_that_never_ends_is_left_at_the_time_limit(tmp_path: Path, task: str) -> None:
    async with bench(tmp_path, seconds=0.5) as running:
        running.model.hangs = task
        answer = await running.ask()
    assert answer.text
    assert "research_incomplete" in answer.fallbacks
    assert running.model.tasks[-1] == "answer"


async def test_a_round_without_a_new_passage_is_the_last(tmp_path: Path) -> None:
    def insisting(task: str, sent: str) -> object:
        if task == "sufficiency":
            number = len(sent.split("Part: "))
            return {
                "sufficient": False,
                "missing": ["x"],
                "questions": [f"Who leads Aurora, reading {number}?"],
            }
        return two_hops(task, sent)

    async with bench(tmp_path, insisting) as running:
        answer = await running.ask()
    assert answer.research["ending"] == "nothing_new"
    assert answer.research["rounds"] < 4  # the limit


async def test_a_repeated_query_is_searched_once(tmp_path: Path) -> None:
    def repeating(task: str, sent: str) -> object:
        if task == "sufficiency":
            again = ["who leads the aurora project", "The Aurora project: who leads?"]
            return {"sufficient": False, "missing": ["x"], "questions": again}
        return two_hops(task, sent)

    async with bench(tmp_path, repeating) as running:
        answer = await running.ask()
        assert len(running.index.searched) == 2  # the question's and that of its part
    assert answer.research["ending"] == "no_questions"
    assert answer.research["refused"] == ["who leads the aurora project", "The Aurora project: who leads?"]


async def test_a_search_that_fails_leaves_the_others(tmp_path: Path) -> None:
    def wide(task: str, sent: str) -> object:
        if task == "subqueries":
            return {"questions": [*HOPS, "What does the canteen serve?"]}
        return two_hops(task, sent)

    async with bench(tmp_path, wide) as running:
        running.index.broken.add("canteen")
        answer = await running.ask()
        noted = await running.noted()
    faults = {query["query"]: query["faults"] for query in noted["queries"]}
    assert faults == {
        HOPS[0]: [],
        HOPS[1]: [],
        "What does the canteen serve?": ["The index does not answer."],
    }
    assert {citation.title for citation in answer.citations} == {"projects.md", "people.md"}


async def test_an_extraction_that_fails_leaves_the_others(tmp_path: Path) -> None:
    def wide(task: str, sent: str) -> object:
        if task == "subqueries":
            return {"questions": [*HOPS, "What does the canteen serve?"]}
        if task == "extract" and "canteen serve?" in sent.rpartition("Part:")[2]:
            return ModelUnavailable("Gone.")
        return two_hops(task, sent)

    async with bench(tmp_path, wide) as running:
        answer = await running.ask()
    assert {citation.title for citation in answer.citations} == {"projects.md", "people.md"}
    assert "research_incomplete" in answer.fallbacks


async def test_a_fact_that_its_passages_do_not_say_is_left_out(tmp_path: Path) -> None:
    def inventing(task: str, sent: str) -> object:
        if task == "extract":
            invented = [
                {"fact": "The Aurora project costs 900 million dollars a year.", "passages": [1]},
                {"fact": "Boris Dahl founded the whole enterprise in Oslo.", "passages": [1, 2]},
                {"fact": "It is somewhere.", "passages": [99]},
            ]
            return {"facts": [*invented[:2], *facts_in(sent)]}
        return two_hops(task, sent)

    async with bench(tmp_path, inventing) as running:
        await running.ask()
        noted = await running.noted()
    facts = [fact["fact"] for query in noted["queries"] for fact in query["facts"]]
    assert facts == list(FACTS.values())
    assert "900 million" not in running.model.sent("answer")[0]


async def test_a_fact_keeps_only_the_passages_that_say_it(tmp_path: Path) -> None:
    def generous(task: str, sent: str) -> object:
        if task == "extract":
            everything = list(range(1, sent.count("<passage id=") + 1))
            return {"facts": [{"fact": FACTS[HOPS[0]], "passages": everything}]}
        return two_hops(task, sent)

    async with bench(tmp_path, generous) as running:
        await running.ask()
        noted = await running.noted()
    (fact,) = noted["queries"][0]["facts"]
    assert fact["passages"] == ["kb/projects.md#0"]


async def test_what_was_not_found_and_what_contradicts_is_said(tmp_path: Path) -> None:
    def lacking(task: str, sent: str) -> object:
        if task == "sufficiency":
            return {
                "sufficient": False,
                "missing": ["her salary"],
                "questions": [],
                "contradictions": ["One file says 2023, another 2024."],
            }
        return two_hops(task, sent)

    async with bench(tmp_path, lacking) as running:
        answer = await running.ask()
    assert phrase("research_gaps", language="en", gaps="her salary") in answer.notices
    (sent,) = running.model.sent("answer")
    assert "Not found: her salary" in sent
    assert "Contradiction: One file says 2023, another 2024." in sent


async def test_without_a_model_one_sentence_says_so_beside_the_ordinary_answer(tmp_path: Path) -> None:
    async with bench(tmp_path, has_model=False) as running:
        answer = await running.ask("Who leads the Aurora project?")
        assert len(running.index.searched) == 1
    assert answer.notices == (phrase("research_needs_model", language="en"),)
    assert "Nadia Petrov" in answer.text
    assert answer.route == "search"
    assert answer.research == {}


async def test_a_research_that_finds_nothing_is_answered_as_not_found(tmp_path: Path) -> None:
    async with bench(tmp_path) as running:
        answer = await running.ask(QUESTION, "empty")
    assert "not find" in answer.text
    assert not answer.citations
    assert "answer" not in running.model.tasks


async def test_the_trace_has_rounds_queries_calls_and_tokens(tmp_path: Path) -> None:
    async with bench(tmp_path) as running:
        answer = await running.ask()
        noted = await running.noted()
    assert (noted["rounds"], noted["searches"], noted["calls"]) == (2, 3, 5)
    assert noted["tokens"] > 0
    assert [query["query"] for query in noted["queries"]] == list(HOPS)
    assert {"research", "answer"} <= set(answer.timings)


async def test_stopping_ends_every_call(tmp_path: Path) -> None:
    begun = asyncio.Event()

    def waiting(task: str, sent: str) -> object:
        if task == "extract":
            begun.set()
        return two_hops(task, sent)

    async with bench(tmp_path, waiting) as running:
        query = Query(
            text=QUESTION,
            knowledge_bases=frozenset({KnowledgeBaseId("kb")}),
            options=AnswerOptions(research=True),
        )

        async def read() -> None:
            async with aclosing(running.engine.answer(query)) as answering:
                async for _ in answering:
                    pass

        reading = asyncio.create_task(read())
        async with asyncio.timeout(30):
            await begun.wait()
            reading.cancel()
            with pytest.raises(asyncio.CancelledError):
                await reading
        left = [task for task in asyncio.all_tasks() if task.get_name() == "research a part"]
        assert left == []
        assert "answer" not in running.model.tasks
