"""What is read, when again, and what goes with its document."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import ModelUnavailable
from rag_engine.graph.types import GraphCounts, entity_id
from tests.doubles.expansion_model import ExpansionModel, unavailable
from tests.unit.graph.world import graph_world

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.types import DocumentRecord
    from tests.unit.graph.world import GraphWorld

FILLING = "It is kept for the record of the harbour and nobody may remove it from there. " * 3


def page(name: str) -> str:
    return f"The pump of {name} is checked weekly. {FILLING}"


def reply(*names: str, relations: object = ()) -> str:
    return json.dumps({"entities": [{"name": name} for name in names], "relations": relations})


async def counts(world: GraphWorld) -> GraphCounts:
    return await world.catalog.graph.counts(await world.base())


async def rows(world: GraphWorld) -> list[int]:
    database = world.catalog._database  # pyright: ignore[reportPrivateUsage]
    counted = (
        "SELECT count(*) FROM graph_passages",
        "SELECT count(*) FROM graph_mentions",
        "SELECT count(*) FROM graph_relations",
        "SELECT count(*) FROM graph_jobs",
    )
    return [(await database.fetch(statement))[0][0] for statement in counted]


async def mentioned(world: GraphWorld, key: str) -> int:
    entity = entity_id(await world.base(), key)
    return (await world.catalog.graph.frequencies([entity], most=99)).get(entity, 0)


async def test_it_is_off_until_it_is_switched_on_and_new_documents_follow(world: GraphWorld) -> None:
    await world.add("a.txt", page("Anna Field"))
    assert (await world.builder().work()).documents == 0
    assert await rows(world) == [0, 0, 0, 0]
    assert (await world.build()).read == 1
    await world.add("b.txt", page("Anna Field"), page("Boris Kane"))
    assert (await counts(world)).waiting == 1
    assert (await world.builder().work()).read == 2
    assert await mentioned(world, "anna field") == 2


async def test_a_new_version_is_read_where_it_changed(world: GraphWorld) -> None:
    await world.build()
    await world.add("a.txt", *map(page, ("Anna Field", "Boris Kane", "Cara Lund")))
    assert (await world.builder().work()).read == 3
    await world.add("a.txt", page("Dora Mast"), *map(page, ("Anna Field", "Cara Lund")))
    report = await world.builder().work()
    assert (report.read, report.reused) == (1, 2)
    assert await mentioned(world, "boris kane") == 0
    assert await mentioned(world, "dora mast") == 1
    found = await world.asked("Anna Field")
    assert found.hits[0].legs[-1].expansion == "graph"


async def test_it_goes_with_document_knowledge_base_and_switch(world: GraphWorld) -> None:
    await world.build()
    gone = await world.add("gone.txt", "Nordhafen GmbH (“the Client”) hires Anna Field.")
    kept = await world.add("kept.txt", page("Boris Kane"))
    await world.builder().work()
    await world.ingestion.forget(gone.document.knowledge_base, gone.document.id)
    assert (await rows(world))[2] == 0
    assert await mentioned(world, "anna field") == 0
    assert await mentioned(world, "boris kane") == 1
    await world.catalog.graph.switch(kept.document.knowledge_base, None)
    assert await rows(world) == [0, 0, 0, 0]
    await world.build()
    await world.ingestion.forget(kept.document.knowledge_base)
    assert await rows(world) == [0, 0, 0, 0]


async def test_killed_work_goes_on_and_asks_nothing_twice(tmp_path: Path) -> None:
    never = asyncio.Event()
    model = ExpansionModel(says=lambda task, passage: reply())
    stopping = ExpansionModel(
        says=lambda task, passage: reply(), gate=lambda passage: never if "Name0201" in passage else None
    )
    async with graph_world(tmp_path) as world:
        await world.add("a.txt", *(page(f"Anna Name{number:04}") for number in range(202)))
        await world.catalog.graph.switch(await world.base(), "model")
        working = asyncio.create_task(world.builder(stopping, at_once=1).work())
        for _ in range(202):
            await stopping.entered.acquire()
        working.cancel()
        await asyncio.wait([working])
        assert (await counts(world)).passages == 200
    async with graph_world(tmp_path) as world:
        report = await world.builder(model).work()
        assert (report.read, report.reused) == (2, 200)
        assert len(model.prompts) == 2
        assert ((await counts(world)).passages, (await counts(world)).waiting) == (202, 0)


async def test_a_model_adds_what_the_passage_holds_and_states_relations(world: GraphWorld) -> None:
    statement = {"subject": "Anna Field", "object": "the pump", "statement": "Anna Field checks the pump."}
    invented = {"subject": "Anna Field", "object": "Zeus", "statement": "No."}
    model = ExpansionModel(
        says=lambda task, passage: reply("Anna Field", "the pump", "Zeus", relations=[statement, invented])
    )
    record = await world.add("a.txt", page("Anna Field"))
    builder = world.builder(model)
    cost = await builder.cost([record])
    await world.catalog.graph.switch(record.document.knowledge_base, "model")
    await builder.work()
    assert model.tasks() == ["graph"]
    assert (cost.calls, cost.prompt_tokens) == (1, model.prompts[0][1].tokens)
    assert (await builder.cost([record])).calls == 0
    assert (await mentioned(world, "pump"), await mentioned(world, "zeus")) == (1, 0)
    entity = entity_id(record.document.knowledge_base, "pump")
    passages = {each.passage for each in await world.catalog.graph.mentions([entity])}
    stated = await world.catalog.graph.statements([entity], passages=passages)
    assert [each.text for each in stated] == [statement["statement"]]


@pytest.mark.parametrize(("replies", "calls"), [(("pump", "harbour", "record"), 3), (("pump", "", ""), 2)])
async def test_gleanings_are_bounded_and_end_when_nothing_is_new(
    world: GraphWorld, replies: tuple[str, ...], calls: int
) -> None:
    waiting = iter(replies)
    model = ExpansionModel(says=lambda task, passage: reply(*filter(None, [next(waiting)])))
    record = await world.add("a.txt", page("Anna Field"))
    await world.catalog.graph.switch(record.document.knowledge_base, "model")
    await world.builder(model, gleanings=2).work()
    assert len(model.prompts) == calls


async def failing(world: GraphWorld, pages: int) -> tuple[ExpansionModel, DocumentRecord]:
    model = ExpansionModel(says=lambda task, passage: reply(), faults={"Name": unavailable()})
    record = await world.add("a.txt", *(page(f"Anna Name{number}") for number in range(pages)))
    await world.catalog.graph.switch(record.document.knowledge_base, "model")
    return model, record


async def test_a_failure_leaves_the_rules_and_is_tried_again(world: GraphWorld) -> None:
    model, record = await failing(world, 2)
    assert (await world.builder(model).work()).failed == 2
    assert (await counts(world)).failed == 2
    assert await mentioned(world, "anna name1") == 1
    model.faults.clear()
    await world.catalog.graph.queue(record.document.knowledge_base)
    assert (await world.builder(model).work()).read == 2
    assert (await counts(world)).failed == 0


async def test_an_outage_leaves_the_document_waiting(world: GraphWorld) -> None:
    model, _ = await failing(world, 12)
    with pytest.raises(ModelUnavailable):
        await world.builder(model).work()
    assert (await counts(world)).waiting == 1
    assert len(model.prompts) < 10
