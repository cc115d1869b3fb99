"""Which questions ask for a card, what is on it, and that nothing of it comes from beyond the scope."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from rag_engine.graph.card import EntityCard, asked_entity, card_of
from rag_engine.ports import Ports
from rag_engine.steps.entity import with_card
from rag_engine.summaries.entity_card import written

if TYPE_CHECKING:
    from tests.unit.graph.world import GraphWorld

CONTRACT = "Nordhafen GmbH (“the Client”) hires the crane XK-4711 from Vera Lindqvist."
DUTY = "The Client pays monthly. Nobody else does."
LETTER = "Vera Lindqvist wrote to Nordhafen GmbH in May."


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What do we know about Nordhafen GmbH?", "Nordhafen GmbH"),
        ("/about XK-4711", "XK-4711"),
        ("Was wissen wir über „Nordhafen“?", "Nordhafen"),
        ("Que savons-nous de Vera Lindqvist ?", "Vera Lindqvist"),
        ("¿Qué sabemos sobre Nordhafen?", "Nordhafen"),
        ("我们对港口手册了解多少？", "港口手册"),
        ("关于《港口手册》我们知道什么？", "港口手册"),
        ("Who pays the crane?", ""),
        ("What do we know about " + "x" * 200, ""),
    ],
)
def test_questions_that_ask_for_a_card(question: str, name: str) -> None:
    assert asked_entity(question) == name


async def card(world: GraphWorld, name: str, *bases: str) -> EntityCard | None:
    ids = frozenset([await world.base(base) for base in bases or ("docs",)])
    return await card_of(name, world.catalog.graph, world.index, ids)


async def filled(world: GraphWorld) -> None:
    await world.add("contract.txt", CONTRACT, DUTY)
    await world.add("letter.txt", LETTER)
    await world.build()


async def test_a_card_quotes_by_document_with_places_aliases_and_neighbours(world: GraphWorld) -> None:
    await filled(world)
    found = await card(world, "nordhafen gmbh")
    assert found is not None
    assert (found.name, found.aliases) == ("Nordhafen GmbH", ("the Client",))
    text, citations = written(found, "en")
    said = [CONTRACT, "The Client pays monthly.", LETTER]
    assert [citation.quote for citation in citations] == said
    assert all(
        f"- {quote.replace('[', '(')} [{citation.number}]" in text
        for quote, citation in zip(said, citations, strict=True)
    )
    assert text.startswith("**Nordhafen GmbH**\nAlso called: the Client.\n\n**contract.txt**")
    assert "Named beside it: Vera Lindqvist, XK-4711." in text
    part = await card(world, "Nordhafen")
    assert part is not None
    assert part.statements == found.statements


async def test_what_is_unknown_has_no_card(world: GraphWorld) -> None:
    await filled(world)
    assert await card(world, "Boris Kane") is None
    assert await card(world, "") is None


async def test_an_unreadable_knowledge_base_shows_in_no_card(world: GraphWorld) -> None:
    await filled(world)
    names = ("Nordhafen GmbH", "Nordhafen", "Boris Kane", "Vera Lindqvist")
    alone = [await card(world, name) for name in names]
    await world.add(
        "secret.txt",
        "Nordhafen GmbH (“the Whale”) owes Boris Kane and Nordhafen Boris Kane AG.",
        base="secret",
    )
    await world.build("secret")
    assert [await card(world, name) for name in names] == alone
    both = await card(world, "Boris Kane", "docs", "secret")
    assert both is not None


async def test_the_passages_of_the_card_come_first(world: GraphWorld) -> None:
    await filled(world)
    for number in range(9):
        await world.add(f"noise{number}.txt", f"What we know about know {number}.")
    asked = await world.asked("What do we know about Nordhafen GmbH?")
    ports = Ports(embedder=world.embedder, index=world.index, contents=world.index, graph=world.catalog.graph)
    found = await with_card(asked, ports=ports)
    assert found.card is not None
    assert {hit.chunk.title for hit in found.hits[:2]} == {"contract.txt", "letter.txt"}
    assert [hit.rank for hit in found.hits] == list(range(1, len(found.hits) + 1))
    other = replace(asked, query=replace(asked.query, text="Who pays?"), question="Who pays?")
    assert await with_card(other, ports=ports) == other
