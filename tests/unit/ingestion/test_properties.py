"""What a file says of itself is kept with its document, and survives indexing it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import EmbedderUnavailable
from tests.unit.ingestion.world import STATED, long_text

if TYPE_CHECKING:
    from tests.unit.ingestion.world import World

ANNA = STATED + '{"author": ["Anna Li"], "CreationDate": ["D:20240131"]}'
OWN = {"author": ("Anna Li",), "created": ("2024-01-31",)}


async def test_they_are_kept_and_not_searched_as_text(world: World) -> None:
    record = await world.add("a.txt", f"The budget.\n\n{ANNA}")
    assert await world.catalog.metadata.own(record.document.id) == OWN
    assert world.index.text(record.document.id) == "The budget."
    assert [section.text for section in await world.catalog.sections(record.document.id)] == ["The budget."]
    assert (await world.catalog.metadata.properties([world.base]))[record.document.id]["author"] == (
        "Anna Li",
    )


async def test_they_survive_indexing_the_document_again(world: World) -> None:
    record = await world.add("a.txt", f"The budget.\n\n{ANNA}")
    await world.ingestion.reindex(record)
    assert await world.catalog.metadata.own(record.document.id) == OWN


async def test_a_new_version_has_its_own_and_keeps_the_tags(world: World) -> None:
    record = await world.add("a.txt", f"The budget.\n\n{ANNA}")
    await world.catalog.metadata.tag(record.document.id, add=["draft"])
    again = await world.add("a.txt", "The new budget.")
    assert again.document.id == record.document.id
    assert await world.catalog.metadata.own(record.document.id) == {}
    assert await world.catalog.metadata.tags(record.document.id) == ["draft"]


async def test_they_survive_an_embedder_that_was_away(world: World) -> None:
    text = f"{ANNA}\n\n{long_text('budget', pages=6, paragraphs=200)}"
    world.embedder.refuse = EmbedderUnavailable()
    with pytest.raises(EmbedderUnavailable):
        await world.add("a.txt", text)
    world.embedder.refuse = None
    record = await world.add("a.txt", text)
    assert record.state == "ready"
    assert await world.catalog.metadata.own(record.document.id) == OWN
