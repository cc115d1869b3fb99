"""Which expansions of passages are made, how, how often, and how failures end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import ContentFiltered, ModelUnavailable
from rag_engine.expansion.types import TASKS
from tests.doubles.expansion_model import ExpansionModel, first_sentence, passage_of, unavailable
from tests.unit.ingestion.expansion.world import opened, paragraph

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.types import Expansion
    from tests.unit.ingestion.expansion.world import ExpansionWorld


async def test_nothing_is_made_until_it_is_switched_on(world: ExpansionWorld) -> None:
    model = ExpansionModel()
    await world.add("a.txt", *map(paragraph, range(3)))
    assert (await world.expander(model).work()).documents == 0
    found = await world.found("topic1")
    assert model.prompts == []
    assert await world.counts() == (0, 0)
    assert {ranking.expansion for ranking in found.rankings} == {None}
    await world.switch("summary")
    assert (await world.expander(model).work()).made == 3
    assert set(model.tasks()) == {"passage_summary"}
    assert await world.counts() == (3, 0)


async def test_each_kind_has_its_own_model(world: ExpansionWorld) -> None:
    summaries, questions = ExpansionModel(name="s1"), ExpansionModel(name="q1")
    await world.switch("summary", "question")
    await world.add("a.txt", *map(paragraph, range(2)))
    await world.expander(models={"summary": summaries, "question": questions}).work()
    assert summaries.tasks() == [TASKS["summary"]] * 2
    assert questions.tasks() == [TASKS["question"]] * 2


async def test_the_temperature_is_0_unless_it_is_set(world: ExpansionWorld) -> None:
    model = ExpansionModel()
    await world.switch("summary", "question")
    await world.add("a.txt", paragraph(1))
    await world.expander(model, temperatures={"question": 0.7}).work()
    assert {task: prompt.temperature for task, prompt in model.prompts} == {
        "passage_summary": 0.0,
        "passage_questions": 0.7,
    }


@pytest.mark.parametrize(
    ("own", "begins"),
    [("XYZ {paragraph}", "XYZ a.txt"), ("", "Summarise"), ("  ", "Summarise"), ("Short!", "Short!")],
)
async def test_a_prompt_of_ones_own_replaces_the_rules_unless_it_is_blank(
    world: ExpansionWorld, own: str, begins: str
) -> None:
    model = ExpansionModel()
    await world.switch("summary")
    await world.add("a.txt", paragraph(1))
    await world.expander(model, prompts={"summary": own}).work()
    ((_, prompt),) = model.prompts
    assert prompt.messages[0].content.startswith(begins)
    assert "topic1" in prompt.messages[-1].content


async def test_only_passages_longer_than_the_limit_have_them(world: ExpansionWorld) -> None:
    model = ExpansionModel()
    await world.switch("summary")
    await world.add("short.txt", paragraph(1, 200))
    await world.add("long.txt", paragraph(2, 201))
    report = await world.expander(model).work()
    assert (report.documents, report.made) == (2, 1)
    assert ["topic2" in passage_of(prompt) for _, prompt in model.prompts] == [True]
    await world.catalog.expansions.queue(await world.base())
    assert (await world.expander(model, longer_than=199).work()).made == 1


async def test_a_few_are_made_at_a_time(world: ExpansionWorld) -> None:
    gate = asyncio.Event()
    model = ExpansionModel(gate=lambda passage: gate)
    await world.switch("summary")
    await world.add("a.txt", *map(paragraph, range(12)))
    working = asyncio.create_task(world.expander(model, at_once=3).work())
    for _ in range(3):
        await model.entered.acquire()
    assert model.at_once == 3
    gate.set()
    assert (await working).made == 12
    assert model.most_at_once == 3


async def test_each_stays_with_its_passage_whatever_comes_first(world: ExpansionWorld) -> None:
    """The first passage is answered last."""
    last = asyncio.Event()
    model = ExpansionModel(gate=lambda passage: last if "topic0." in passage else None)
    await world.switch("summary")
    record = await world.add("a.txt", *map(paragraph, range(5)))
    working = asyncio.create_task(world.expander(model).work())
    for _ in range(5):
        await model.entered.acquire()
    last.set()
    await working
    chunks = await world.index.chunks(record.document.knowledge_base, record.document.id, limit=9)
    made = await world.catalog.expansions.made(record.document.id)
    assert [each.texts for each in made] == [(first_sentence(chunk.text),) for chunk in chunks]
    for number, chunk in enumerate(chunks):
        found = await world.found(first_sentence(paragraph(number)))
        (summaries,) = [ranking for ranking in found.rankings if ranking.expansion]
        assert summaries.hits[0].chunk == chunk
        assert summaries.hits[0].score == pytest.approx(1, abs=1e-3)


async def test_a_failure_is_recorded_once_and_the_others_are_made(world: ExpansionWorld) -> None:
    model = ExpansionModel(faults={"topic2.": unavailable(), "topic7.": ContentFiltered("It was refused.")})
    await world.switch("summary")
    record = await world.add("a.txt", *map(paragraph, range(10)))
    report = await world.expander(model).work()
    assert (report.made, report.failed) == (8, 2)
    failures = await world.catalog.expansions.failures(await world.base())
    assert [(found.document.title, made.passage, made.kind, made.failure) for found, made in failures] == [
        ("a.txt", 2, "summary", "The language model answered with an error (500)."),
        ("a.txt", 7, "summary", "It was refused."),
    ]
    assert await world.catalog.expansions.counts(await world.base()) == {"summary": (8, 2)}
    assert (await world.catalog.records(record.document.knowledge_base))[0].state == "ready"
    assert (await world.found("topic2")).hits[0].chunk.ordinal == 2


async def test_a_failed_one_alone_is_made_again(world: ExpansionWorld) -> None:
    model = ExpansionModel(faults={"topic2.": unavailable()})
    await world.switch("summary", "question")
    await world.add("a.txt", *map(paragraph, range(4)))
    await world.expander(model).work()
    model.faults.clear()
    model.prompts.clear()
    await world.catalog.expansions.queue(await world.base())
    report = await world.expander(model).work()
    assert (report.made, report.reused, report.failed) == (2, 6, 0)
    assert all("topic2." in passage_of(prompt) for _, prompt in model.prompts)
    assert await world.catalog.expansions.failures(await world.base()) == []
    assert await world.counts() == (4, 8)


async def test_an_empty_reply_and_a_slow_one_are_failures(world: ExpansionWorld) -> None:
    await world.switch("summary")
    await world.add("a.txt", paragraph(1))
    assert (await world.expander(ExpansionModel(says=lambda task, passage: " … ")).work()).failed == 1
    await world.catalog.expansions.queue(await world.base())
    never = asyncio.Event()
    slow = ExpansionModel(gate=lambda passage: never)
    assert (await world.expander(slow, seconds=0.05).work()).failed == 1
    ((_, made),) = await world.catalog.expansions.failures(await world.base())
    assert made.failure == "The language model maker took longer than 0.05 s."


async def test_an_outage_leaves_the_rest_waiting(world: ExpansionWorld) -> None:
    model = ExpansionModel(faults={"topic": unavailable()})
    await world.switch("summary")
    await world.add("a.txt", *map(paragraph, range(40)))
    with pytest.raises(ModelUnavailable):
        await world.expander(model).work()
    assert len(model.prompts) < 10
    assert len(await world.catalog.expansions.jobs()) == 1
    model.faults.clear()
    assert (await world.expander(model).work()).made == 40
    assert await world.catalog.expansions.failures(await world.base()) == []


async def test_interrupted_work_goes_on_and_makes_nothing_twice(tmp_path: Path) -> None:
    stopped, never = ExpansionModel(), asyncio.Event()
    stopped = ExpansionModel(gate=lambda passage: never if "topic6." in passage else None)
    async with opened(tmp_path) as world:
        await world.switch("summary")
        await world.add("a.txt", *map(paragraph, range(8)))
        working = asyncio.create_task(world.expander(stopped, at_once=1).work())
        for _ in range(7):
            await stopped.entered.acquire()
        working.cancel()
        await asyncio.wait([working])
    again = ExpansionModel()
    async with opened(tmp_path) as world:
        report = await world.expander(again).work()
        assert (report.made, report.reused) == (2, 6)
        assert [passage_of(prompt).split()[2] for _, prompt in again.prompts] == [
            "number6",
            "number7",
        ] or len(again.prompts) == 2
        assert await world.counts() == (8, 0)


async def test_a_new_version_makes_those_of_its_new_passages_alone(world: ExpansionWorld) -> None:
    model = ExpansionModel()
    await world.switch("summary")
    record = await world.add("a.txt", *map(paragraph, range(4)))
    await world.expander(model).work()
    model.prompts.clear()
    await world.add("a.txt", paragraph(0), paragraph(9), paragraph(2), paragraph(3))
    report = await world.expander(model).work()
    assert (report.made, report.reused) == (1, 3)
    made = await world.catalog.expansions.made(record.document.id)
    assert len(made) == 4
    assert not any("topic1." in text for each in made for text in each.texts)
    assert await world.counts() == (4, 0)


async def test_another_model_or_prompt_makes_them_anew(world: ExpansionWorld) -> None:
    await world.switch("summary")
    await world.add("a.txt", *map(paragraph, range(2)))
    await world.expander().work()
    for change in ({"model": ExpansionModel(name="other")}, {"prompts": {"summary": "Say it: {passage}"}}):
        await world.catalog.expansions.queue(await world.base())
        assert (await world.expander(**change).work()).made == 2  # pyright: ignore[reportArgumentType]
    await world.catalog.expansions.queue(await world.base())
    assert await world.counts() == (2, 0)


async def test_they_go_with_their_document_and_knowledge_base(world: ExpansionWorld) -> None:
    await world.switch("summary", "question")
    kept = await world.add("kept.txt", *map(paragraph, range(2)))
    gone = await world.add("gone.txt", *map(paragraph, range(3, 5)))
    await world.expander().work()
    assert await world.counts() == (4, 8)
    await world.ingestion.forget(gone.document.knowledge_base, gone.document.id)
    assert await world.counts() == (2, 4)
    assert await world.catalog.expansions.made(gone.document.id) == []
    await world.ingestion.forget(kept.document.knowledge_base)
    assert await world.index.expansions(kept.document.knowledge_base, "summary") == 0
    assert await world.catalog.expansions.made(kept.document.id) == []
    assert await world.catalog.expansions.enabled([kept.document.knowledge_base]) == {}


async def test_a_document_removed_meanwhile_ends_its_work_alone(world: ExpansionWorld) -> None:
    gate = asyncio.Event()
    model = ExpansionModel(gate=lambda passage: gate if "topic0." in passage else None)
    await world.switch("summary")
    gone = await world.add("a.txt", paragraph(0))
    await world.add("b.txt", paragraph(1))
    working = asyncio.create_task(world.expander(model).work())
    await model.entered.acquire()
    await world.ingestion.forget(gone.document.knowledge_base, gone.document.id)
    gate.set()
    assert (await working).made == 1
    assert await world.counts() == (1, 0)


async def test_switched_off_they_are_gone_and_switched_on_they_cost_nothing(world: ExpansionWorld) -> None:
    model = ExpansionModel()
    await world.switch("summary", "question")
    await world.add("a.txt", *map(paragraph, range(3)))
    await world.expander(model).work()
    await world.switch()
    await world.expander(model).work()
    assert await world.counts() == (0, 0)
    calls = len(model.prompts)
    await world.switch("summary", "question")
    assert (await world.expander(model).work()).reused == 6
    assert len(model.prompts) == calls
    assert await world.counts() == (3, 6)


async def test_indexed_again_they_come_back_without_a_call(world: ExpansionWorld) -> None:
    model = ExpansionModel()
    await world.switch("summary")
    record = await world.add("a.txt", *map(paragraph, range(3)))
    await world.expander(model).work()
    await world.ingestion.reindex(record)
    assert await world.counts() == (0, 0)
    await world.expander(model).work()
    assert await world.counts() == (3, 0)
    assert len(model.prompts) == 3


@pytest.mark.parametrize("kinds", [("summary",), ("question",), ("summary", "question")])
async def test_the_cost_is_estimated_before(world: ExpansionWorld, kinds: tuple[Expansion, ...]) -> None:
    model = ExpansionModel()
    record = await world.add("a.txt", *map(paragraph, range(3)), paragraph(9, 150))
    expander = world.expander(model)
    cost = await expander.cost([record], kinds)
    assert model.prompts == []
    await world.switch(*kinds)
    await expander.work()
    assert cost.calls == len(model.prompts) == 3 * len(kinds)
    assert cost.prompt_tokens == sum(prompt.tokens for _, prompt in model.prompts)
    assert cost.reply_tokens == 3 * sum({"summary": 120, "question": 90}[kind] for kind in kinds)
    assert (await expander.cost([record], kinds)).calls == 0
