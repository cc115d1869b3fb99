"""On a full disk (a page limit in SQLite), ingestion reports one sentence, stores nothing partial, and resumes with space."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import StorageUnavailable
from tests.unit.ingestion.world import long_text

if TYPE_CHECKING:
    from tests.unit.ingestion.world import World

FULL = r"^the disk that holds .*footnote\.sqlite is full: make room, then try again\.$"
BOOK = "\f".join(long_text(f"Chapter {number}", pages=1) for number in range(200))


async def have_room(world: World, *, pages: int) -> None:
    """Allows `pages` more than there are now."""
    ((used,),) = await world.database.fetch("PRAGMA page_count")
    async with world.database.transaction() as transaction:
        await transaction.execute(f"PRAGMA max_page_count = {used + pages}")


@pytest.mark.slow
async def test_a_full_disk_is_one_sentence_and_work_continues_once_there_is_room(world: World) -> None:
    await have_room(world, pages=2)
    with pytest.raises(StorageUnavailable, match=FULL):
        await world.add("book.txt", BOOK)
    assert "ready" not in [record.state for record in await world.catalog.records(world.base)]
    assert (await world.add("leave.txt", long_text("Leave"))).state == "ready", "what is small has room"
    await have_room(world, pages=10_000)
    record = await world.add("book.txt", BOOK)
    assert (record.state, record.reason, record.pages) == ("ready", "", 200)
    assert len(world.index.documents) == 2


@pytest.mark.slow
async def test_an_earlier_version_stays_searchable_where_the_new_one_has_no_room(world: World) -> None:
    first = await world.add("book.txt", long_text("Old"))
    await have_room(world, pages=2)
    with pytest.raises(StorageUnavailable, match=FULL):
        await world.add("book.txt", BOOK)
    assert await world.record("book.txt") == first
    assert "Old" in world.index.text(first.document.id)
