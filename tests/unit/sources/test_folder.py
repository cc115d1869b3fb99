"""A knowledge base follows a folder: what is read, what goes, and what no fault can remove."""

from __future__ import annotations

import os
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import Unavailable, UserError
from rag_engine.ingestion.source_sync import SyncLimits
from rag_engine.sync.types import SyncCounts

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.sync.types import SyncedSource
    from tests.unit.sources.synced import Synced


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "watched"
    (folder / "sub").mkdir(parents=True)
    for name in ("a.md", "b.md", "sub/c.txt"):
        (folder / name).write_text(f"The file {name} says something of its own.")
        settle(folder / name)
    return folder


def settle(path: Path) -> None:
    """As if it had been written a while ago."""
    os.utime(path, (1_700_000_000, 1_700_000_000))


def move_away(folder: Path, leave: str = "") -> None:
    if folder.is_dir():
        folder.rename(folder.with_name("elsewhere"))
    if leave == "folder":
        folder.mkdir()
    if leave == "link":
        folder.symlink_to(folder.with_name("nowhere"))


async def followed(synced: Synced, folder: Path) -> SyncedSource:
    source = await synced.add("folder", str(folder))
    outcome = await synced.run(source)
    assert outcome.error == ""
    return source


async def test_only_what_changed_is_read(synced: Synced, folder: Path) -> None:
    source = await followed(synced, folder)
    assert await synced.titles() == ["a.md", "b.md", "c.txt"]
    for _ in range(100):  # what has just been written is read once more
        assert (await synced.run(source)).counts == SyncCounts()
        if not synced.read:
            break
    assert synced.read == []
    assert synced.last is not None
    assert synced.last.listings == 1
    (folder / "b.md").write_text("It says something else now.")
    outcome = await synced.run(source)
    assert outcome.counts == SyncCounts(changed=1)
    assert synced.read == ["b.md"]


async def test_a_renamed_file_is_not_embedded_again(synced: Synced, folder: Path) -> None:
    source = await followed(synced, folder)
    embedded = list(synced.world.embedder.texts)
    (folder / "a.md").rename(folder / "sub" / "renamed.md")
    outcome = await synced.run(source)
    assert outcome.counts == SyncCounts(new=1, gone=1)
    assert synced.world.embedder.texts == embedded
    assert await synced.titles() == ["b.md", "c.txt", "renamed.md"]
    (chunks,) = [
        chunks for document, chunks in synced.world.index.documents.values() if document.title == "renamed.md"
    ]
    assert {(chunk.title, chunk.uri) for chunk, _ in chunks} == {
        ("renamed.md", (folder / "sub" / "renamed.md").as_uri())
    }


async def test_gone_is_gone(synced: Synced, folder: Path) -> None:
    source = await followed(synced, folder)
    (folder / "a.md").unlink()
    (folder / "sub" / "c.txt").unlink()
    (folder / "sub").rmdir()
    assert (await synced.run(source)).counts == SyncCounts(gone=2)
    assert await synced.titles() == ["b.md"]


async def test_a_listing_that_fails_half_way_removes_nothing(synced: Synced, folder: Path) -> None:
    source = await followed(synced, folder)
    away = Unavailable("The disk is away.", backend="source")
    outcome = await synced.run(source, break_after=0, failure=away)
    assert outcome.error == "The disk is away."
    assert outcome.counts == SyncCounts()
    assert len(await synced.titles()) == 3


async def test_a_folder_that_may_not_be_listed_removes_nothing(synced: Synced, folder: Path) -> None:
    source = await followed(synced, folder)
    move_away(folder)
    with pytest.raises(UserError, match="There is no folder"):
        await synced.run(source)
    move_away(folder, leave="link")
    with pytest.raises(UserError, match="There is no folder"):
        await synced.run(source)
    assert len(await synced.titles()) == 3


async def test_an_empty_disk_is_no_reason_to_remove_many_documents(synced: Synced, folder: Path) -> None:
    for number in range(10):
        (folder / f"{number}.txt").write_text(f"Number {number} of ten.")
    source = await followed(synced, folder)
    move_away(folder, leave="folder")
    outcome = await synced.run(source)
    assert "its 13 documents stay" in outcome.error
    assert len(await synced.titles()) == 13


async def test_a_forgotten_document_does_not_come_back(synced: Synced, folder: Path) -> None:
    source = await followed(synced, folder)
    record = await synced.world.catalog.find(synced.world.base, uri=(folder / "a.md").as_uri())
    assert record is not None
    await synced.world.ingestion.forget(synced.world.base, record.document.id)
    assert (await synced.run(source)).counts == SyncCounts()
    (folder / "a.md").rename(folder / "again.md")
    await synced.run(source, again=True)
    assert await synced.titles() == ["b.md", "c.txt"]


async def test_a_document_whose_removal_waits_for_the_index_is_forgotten_too(
    synced: Synced, folder: Path
) -> None:
    source = await followed(synced, folder)
    record = await synced.world.catalog.find(synced.world.base, uri=(folder / "a.md").as_uri())
    assert record is not None
    await synced.world.catalog.unfinished.withdraw(synced.world.base, record.document.id)
    await synced.run(source, again=True)
    await synced.world.ingestion.finish_removals()
    assert await synced.titles() == ["b.md", "c.txt"]


async def test_links_and_hidden_names_are_left_out(synced: Synced, folder: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("Not of this folder.")
    (folder / "link.txt").symlink_to(secret)
    (folder / "loop").symlink_to(folder)
    (folder / "outside").symlink_to(tmp_path)
    (folder / ".hidden.txt").write_text("hidden")
    os.mkfifo(folder / "pipe.txt")
    await followed(synced, folder)
    assert await synced.titles() == ["a.md", "b.md", "c.txt"]


async def test_a_folder_that_became_a_link_is_not_read_through(
    synced: Synced, folder: Path, tmp_path: Path
) -> None:
    source = await synced.add("folder", str(folder))
    async with synced.opened(source) as opened:
        entries = [entry async for batch in opened.entries() for entry in batch]
        (secret,) = [entry for entry in entries if entry.key == "sub/c.txt"]
        outside = tmp_path / "outside"
        outside.mkdir()
        (outside / "c.txt").write_text("secret")
        (folder / "sub").rename(folder / "former")
        (folder / "sub").symlink_to(outside)
        copy = tmp_path / "copy"
        with pytest.raises(UserError):
            await opened.read(secret, copy, since="")
    assert not copy.exists() or not copy.read_bytes()


async def test_what_was_just_written_is_read_again(
    synced: Synced, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = await synced.add("folder", str(folder))
    new = folder / "new.txt"
    new.write_text("At this moment.")
    clock = SimpleNamespace(time_ns=lambda: new.stat().st_mtime_ns)
    monkeypatch.setattr("rag_engine.sources.folder.time", clock)
    await synced.run(source)
    await synced.run(source)
    assert "new.txt" in synced.read


async def test_a_file_that_cannot_be_read_keeps_its_earlier_version(synced: Synced, folder: Path) -> None:
    source = await followed(synced, folder)
    (folder / "a.md").write_text("!broken")
    outcome = await synced.run(source)
    assert outcome.counts == SyncCounts(failed=1)
    (record,) = [
        record
        for record in await synced.world.catalog.records(synced.world.base)
        if record.document.title == "a.md"
    ]
    assert "says something" in synced.world.index.text(record.document.id)
    (row,) = await synced.store.unread(source.id, limit=5)
    assert "a.md is damaged" in row.reason


async def test_too_many_entries_are_one_sentence(synced: Synced, folder: Path) -> None:
    synced.limits = SyncLimits(entries=2)
    outcome = await synced.run(await synced.add("folder", str(folder)))
    assert outcome.error.startswith("The source has more than 2 entries; choose a part of it")
    assert await synced.titles() == []


async def test_the_data_directory_is_no_source(synced: Synced, folder: Path) -> None:
    synced.data_dir = folder
    (folder / "data").mkdir()
    (folder / "data" / "own.txt").write_text("what Footnote stores")
    await followed(synced, folder)
    assert await synced.titles() == ["a.md", "b.md", "c.txt"]
    outcome = await synced.run(await synced.add("folder", str(folder / "data")))
    assert outcome.error == "The data directory of Footnote cannot be a source."


async def test_a_removed_source_takes_its_documents_along(synced: Synced, folder: Path) -> None:
    await synced.world.add("own.txt", "Added by hand.")
    source = await followed(synced, folder)
    other = await synced.add("folder", str(folder / "sub"))
    await synced.run(other)
    await synced.sync.remove(source)
    assert await synced.titles() == ["c.txt", "own.txt"], "c.txt is in the other source too"
    assert [each.id for each in await synced.store.all()] == [other.id]


async def test_an_index_that_is_away_ends_the_run_and_the_next_one_goes_on(
    synced: Synced, folder: Path
) -> None:
    source = await synced.add("folder", str(folder))
    synced.limits = replace(synced.limits, at_once=1)
    synced.world.index.refuse = Unavailable("The index is away.")
    assert (await synced.run(source)).error == "The index is away."
    synced.world.index.refuse = None
    assert (await synced.run(source)).error == ""
    assert len(await synced.titles()) == 3
