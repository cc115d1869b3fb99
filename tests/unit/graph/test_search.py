"""What a graph adds to the hits of a question, and that nothing of it shows beyond the scope."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rag_engine.ports import Ports
from rag_engine.steps import graph

if TYPE_CHECKING:
    from rag_engine.pipeline import Inquiry
    from tests.unit.graph.world import GraphWorld

FILM = "Iron Gull is a film that was directed by Vera Lindqvist in the north."
BIRTH = "Vera Lindqvist grew up on a farm beside the lake of Skagen."
QUESTION = "Where did the director of Iron Gull grow up?"
NOISE = [f"The director of the harbour grew tulips in the year {1900 + number}." for number in range(30)]


def ranking(inquiry: Inquiry) -> list[tuple[str, float, tuple[object, ...]]]:
    return [(hit.chunk.text, hit.score, hit.legs) for hit in inquiry.hits]


async def filled(world: GraphWorld) -> None:
    await world.add("film.txt", FILM)
    await world.add("birth.txt", BIRTH)
    for number, text in enumerate(NOISE):
        await world.add(f"noise{number}.txt", text)


def place(inquiry: Inquiry, text: str) -> int:
    return next((hit.rank for hit in inquiry.hits if text in hit.chunk.text), 99)


async def test_the_second_hop_is_found_with_its_provenance(world: GraphWorld) -> None:
    await filled(world)
    before = place(await world.asked(QUESTION), BIRTH)
    await world.build()
    found = await world.asked(QUESTION)
    assert place(found, BIRTH) <= 2 < before
    best = found.hits[place(found, BIRTH) - 1]
    assert [leg.rank for leg in best.legs if leg.expansion == "graph"]
    assert found.details["graph"] == {"entities": ["iron gull"], "passages": 2, "added": 0}
    assert [hit.rank for hit in found.hits] == list(range(1, len(found.hits) + 1))


async def test_aliases_count_in_their_document(world: GraphWorld) -> None:
    await world.add("ours.txt", "Nordhafen GmbH (“the Client”) hires the crane.", "The Client pays monthly.")
    await world.add("theirs.txt", "Ostwerk AG (“the Client”) sells bolts.", "The Client ships on Friday.")
    await world.build()
    found = await world.asked("What does Nordhafen GmbH do?")
    ranked = {hit.chunk.text for hit in found.hits if any(leg.expansion == "graph" for leg in hit.legs)}
    assert any("pays monthly" in text for text in ranked)
    assert not any("ships on Friday" in text for text in ranked if "Ostwerk" not in text)


async def test_nothing_is_read_where_it_is_off_or_no_entity_is_named(world: GraphWorld) -> None:
    await filled(world)
    plain = ranking(await world.asked(QUESTION))
    reads: list[str] = []

    class Watched:
        def __getattr__(self, name: str) -> object:
            reads.append(name)
            raise AssertionError(name)

    store, world.catalog.graph = world.catalog.graph, Watched()  # pyright: ignore[reportAttributeAccessIssue]
    assert ranking(await world.asked(QUESTION)) == plain
    assert reads == []
    world.catalog.graph = store
    await world.build()
    assert "graph" not in (await world.asked("tulips in the year")).details


async def test_an_unreadable_knowledge_base_changes_nothing(world: GraphWorld) -> None:
    await filled(world)
    await world.build()
    questions = (QUESTION, "Who is Vera Lindqvist?", "Skagen")
    alone = [await world.asked(question) for question in questions]
    foreign = ("Iron Gull is owned by Boris Kane.", "Vera Lindqvist (“the Client”) owes Boris Kane.", BIRTH)
    for number in range(12):
        await world.add(f"foreign{number}.txt", *foreign, f"Skagen {number}.", base="secret")
    await world.build("secret")
    beside = [await world.asked(question) for question in questions]
    assert [(ranking(each), each.details) for each in beside] == [
        (ranking(each), each.details) for each in alone
    ]
    both = await world.asked(questions[1], "docs", "secret")
    assert ranking(both) != ranking(alone[1])


async def test_filters_on_documents_hold(world: GraphWorld) -> None:
    await filled(world)
    await world.build()
    found = await world.asked(QUESTION, weight=0)
    film = frozenset(hit.chunk.document for hit in found.hits if "Iron Gull" in hit.chunk.text)
    limited = replace(
        found, documents=film, hits=tuple(hit for hit in found.hits if hit.chunk.document in film)
    )
    ports = Ports(embedder=world.embedder, index=world.index, contents=world.index, graph=world.catalog.graph)
    after = await graph.build(graph.Settings(), ports)(limited)
    assert {hit.chunk.document for hit in after.hits} == film
    assert "graph" in after.details
