"""What was exported comes back the same: ids, texts, vectors, sources; again and again, here and elsewhere."""

from __future__ import annotations

import asyncio
import json
import re
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from rag_engine import archive
from rag_engine.errors import IndexUnavailable, UserError
from rag_engine.types import DocumentId, Section
from tests.unit.archive.shelf import IDENTITY, MemoryIndex, Shelf, shelf

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.types import Chunk, KnowledgeBase, KnowledgeBaseId


async def export(here: Shelf, base: KnowledgeBase, file: Path) -> archive.ArchiveContents:
    return await archive.export(
        base,
        file,
        library=here.catalog,
        contents=here.index,
        identity=IDENTITY,
        synonyms=here.catalog.synonyms,
        metadata=here.catalog.metadata,
    )


async def take(there: Shelf, file: Path, name: str = "") -> archive.ArchiveContents:
    return await archive.import_(
        file,
        name=name,
        catalog=there.catalog,
        documents=there.catalog,
        index=there.index,
        identity=IDENTITY,
        synonyms=there.catalog.synonyms,
        metadata=there.catalog.metadata,
    )


async def scan(shelf: Shelf, base: KnowledgeBaseId) -> list[tuple[Chunk, bytes]]:
    return [(chunk, vector.tobytes()) async for chunk, vector in shelf.index.scan(base)]


async def shelved(shelf: Shelf, base: KnowledgeBaseId) -> list[object]:
    catalog = shelf.catalog
    return [
        (record, await catalog.sources(record.document.id), await catalog.sections(record.document.id))
        for record in await catalog.records(base)
    ]


async def test_all_of_it_comes_back_the_same(here: Shelf, there: Shelf, tmp_path: Path) -> None:
    base = await here.fill(documents=5, chunks=7)
    await here.fail(base, "cat")
    told = await export(here, base, tmp_path / "kb.zip")
    assert told == archive.ArchiveContents(name="Handbook", documents=6, chunks=35)
    assert await take(there, tmp_path / "kb.zip") == told
    assert await there.catalog.knowledge_bases() == await here.catalog.knowledge_bases()
    assert await scan(there, base.id) == await scan(here, base.id)
    assert await shelved(there, base.id) == await shelved(here, base.id)


async def test_importing_again_changes_nothing(here: Shelf, there: Shelf, tmp_path: Path) -> None:
    base = await here.fill()
    await export(here, base, tmp_path / "kb.zip")
    await take(there, tmp_path / "kb.zip")
    before = await scan(there, base.id), await shelved(there, base.id)
    await take(there, tmp_path / "kb.zip")
    assert (await scan(there, base.id), await shelved(there, base.id)) == before


async def test_another_name_makes_a_second_knowledge_base_that_shares_nothing(
    here: Shelf, tmp_path: Path
) -> None:
    base = await here.fill()
    original = await scan(here, base.id), await shelved(here, base.id)
    await export(here, base, tmp_path / "kb.zip")
    told = await take(here, tmp_path / "kb.zip", "Copy")
    _, copy = sorted(await here.catalog.knowledge_bases(), key=lambda found: found.name == "Copy")
    assert (told.name, copy.name) == ("Copy", "Copy")
    assert (await scan(here, base.id), await shelved(here, base.id)) == original
    copied = await scan(here, copy.id)
    assert [chunk.text for chunk, _ in copied] == [chunk.text for chunk, _ in original[0]]
    assert not {chunk.id for chunk, _ in copied} & {chunk.id for chunk, _ in original[0]}
    assert all(chunk.knowledge_base == copy.id for chunk, _ in copied)
    await take(here, tmp_path / "kb.zip", "Copy")
    assert await scan(here, copy.id) == copied


async def test_a_document_of_the_same_place_is_replaced_whatever_its_id(
    here: Shelf, there: Shelf, tmp_path: Path
) -> None:
    base = await here.fill(documents=1)
    await export(here, base, tmp_path / "kb.zip")
    theirs = await there.catalog.open("Handbook", model=IDENTITY.model)
    record = await there.add(theirs, "x", chunks=2)
    await there.catalog.save(replace(record, document=replace(record.document, uri="file:///doc-0.pdf")))
    await there.add(theirs, "theirs", chunks=1)
    await take(there, tmp_path / "kb.zip")
    titles = [found.document.title for found in await there.catalog.records(theirs.id)]
    assert titles == ["doc-0.pdf", "theirs.pdf"]
    assert await there.index.count(theirs.id) == 5


async def test_documents_that_swapped_their_places_both_stay(
    here: Shelf, there: Shelf, tmp_path: Path
) -> None:
    base = await here.fill(documents=6, chunks=1)
    await export(here, base, tmp_path / "kb.zip")
    await take(there, tmp_path / "kb.zip")
    records = {record.document.title: record for record in await there.catalog.records(base.id)}
    one, other = records["doc-4.pdf"], records["doc-5.pdf"]
    for record, uri in ((one, "file:///x"), (other, one.document.uri), (one, other.document.uri)):
        await there.catalog.save(replace(record, document=replace(record.document, uri=uri)))
    await take(there, tmp_path / "kb.zip")
    assert await there.catalog.records(base.id) == await here.catalog.records(base.id)
    assert await scan(there, base.id) == await scan(here, base.id)


async def test_an_import_that_broke_off_leaves_whole_documents_and_can_be_repeated(
    here: Shelf, tmp_path: Path
) -> None:
    base = await here.fill(documents=4)
    await export(here, base, tmp_path / "kb.zip")
    async with shelf(tmp_path / "there", fail_after=2) as there:
        with pytest.raises(IndexUnavailable):
            await take(there, tmp_path / "kb.zip")
        states = [record.state for record in await there.catalog.records(base.id)]
        assert sorted(states) == ["embedding", "ready", "ready"]
        mended = replace(there, index=MemoryIndex())
        await take(mended, tmp_path / "kb.zip")
        assert await scan(mended, base.id) == await scan(here, base.id)
        assert await shelved(mended, base.id) == await shelved(here, base.id)


async def test_what_is_being_read_is_left_out_and_named(here: Shelf, tmp_path: Path) -> None:
    base = await here.fill(documents=1)
    await here.fail(base, "slow", state="parsing")
    told = await export(here, base, tmp_path / "kb.zip")
    assert (told.documents, told.left_out) == (1, ("slow.pdf",))


async def test_an_index_that_lost_a_part_is_not_exported(here: Shelf, tmp_path: Path) -> None:
    base = await here.fill()
    here.index.documents.popitem()
    (tmp_path / "kb.zip").write_bytes(b"the export of yesterday")
    with pytest.raises(
        UserError, match=r"doc-2\.pdf changed while it was exported, or the index has lost a part"
    ):
        await export(here, base, tmp_path / "kb.zip")
    assert (tmp_path / "kb.zip").read_bytes() == b"the export of yesterday"
    assert names(tmp_path) == ["kb.zip"]


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir() if file.is_file())


async def test_a_cancelled_export_leaves_nothing(here: Shelf, tmp_path: Path) -> None:
    base = await here.fill(documents=20)
    started = asyncio.Event()
    task = asyncio.create_task(
        archive.export(
            base,
            tmp_path / "kb.zip",
            library=here.catalog,
            contents=here.index,
            identity=IDENTITY,
            progress=lambda done, total: started.set(),
        )
    )
    async with asyncio.timeout(5):
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert names(tmp_path) == []


async def test_a_cancelled_import_lets_go_of_the_file(here: Shelf, there: Shelf, tmp_path: Path) -> None:
    base = await here.fill(documents=20)
    await export(here, base, tmp_path / "kb.zip")
    halfway = asyncio.Event()
    task = asyncio.create_task(
        archive.import_(
            tmp_path / "kb.zip",
            catalog=there.catalog,
            documents=there.catalog,
            index=there.index,
            identity=IDENTITY,
            progress=lambda done, total: halfway.set() if done > total // 2 + 5 else None,
        )
    )
    async with asyncio.timeout(5):
        await halfway.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    ready = [record for record in await there.catalog.records(base.id) if record.state == "ready"]
    assert 5 <= len(ready) < 20
    for record in ready:
        assert len(there.index.documents[base.id, record.document.id]) == record.chunks


async def test_only_json_lines_are_in_it(here: Shelf, tmp_path: Path) -> None:
    base = await here.fill()
    await export(here, base, tmp_path / "kb.zip")
    with zipfile.ZipFile(tmp_path / "kb.zip") as opened:
        assert sorted(opened.namelist()) == [
            "chunks.jsonl",
            "documents.jsonl",
            "manifest.json",
            "vectors.jsonl",
        ]
        for name in ("chunks.jsonl", "documents.jsonl", "vectors.jsonl"):
            lines = opened.read(name).decode("utf-8").split("\n")
            assert lines.pop() == ""
            assert all(isinstance(json.loads(line), dict) for line in lines)
        assert re.search(r'"analyzer": "3"', opened.read("manifest.json").decode("utf-8"))


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("nowhere/kb.zip", "cannot be written: there is no such file or folder"),
        ("taken.zip", "cannot be written: is a directory"),
    ],
)
async def test_a_place_that_cannot_be_written_is_reported(
    here: Shelf, tmp_path: Path, place: str, said: str
) -> None:
    (tmp_path / "taken.zip").mkdir()
    base = await here.fill(documents=1)
    with pytest.raises(UserError, match=said):
        await export(here, base, tmp_path / place)
    assert names(tmp_path) == []


async def test_an_empty_knowledge_base_is_exported_too(here: Shelf, there: Shelf, tmp_path: Path) -> None:
    base = await here.catalog.open("Empty", model=IDENTITY.model)
    await export(here, base, tmp_path / "kb.zip")
    assert await take(there, tmp_path / "kb.zip") == archive.ArchiveContents(
        name="Empty", documents=0, chunks=0
    )


async def test_text_that_is_no_unicode_does_not_stop_an_export(
    here: Shelf, there: Shelf, tmp_path: Path
) -> None:
    base = await here.catalog.open("Odd", model=IDENTITY.model)
    record = await here.add(base, "odd", chunks=1)
    await here.catalog.save(record, sections=[Section(text="half \ud800 a pair")])
    await export(here, base, tmp_path / "kb.zip")
    await take(there, tmp_path / "kb.zip")
    assert await there.catalog.sections(record.document.id) == [Section(text="half ? a pair")]


async def test_progress_counts_to_the_end(here: Shelf, there: Shelf, tmp_path: Path) -> None:
    base = await here.fill(documents=3)
    exported: list[tuple[int, int]] = []
    imported: list[tuple[int, int]] = []
    await archive.export(
        base,
        tmp_path / "kb.zip",
        library=here.catalog,
        contents=here.index,
        identity=IDENTITY,
        progress=lambda *step: exported.append(step),
    )
    await archive.import_(
        tmp_path / "kb.zip",
        catalog=there.catalog,
        documents=there.catalog,
        index=there.index,
        identity=IDENTITY,
        progress=lambda *step: imported.append(step),
    )
    assert exported == [(1, 3), (2, 3), (3, 3)]
    assert imported == [(step, 6) for step in range(1, 7)]


async def test_synonyms_come_along(here: Shelf, there: Shelf, tmp_path: Path) -> None:
    base = await here.fill(documents=1)
    await here.catalog.synonyms.add(base.id, [("PTO", "paid leave"), ("年假", "annual leave")])
    await export(here, base, tmp_path / "kb.zip")
    await take(there, tmp_path / "kb.zip")
    imported = await take(there, tmp_path / "kb.zip")
    (copy,) = await there.catalog.select(names={imported.name})
    assert await there.catalog.synonyms.read({copy.id}) == {
        copy.id: [("PTO", "paid leave"), ("年假", "annual leave")]
    }


@pytest.mark.parametrize("name", ["Handbook", "Another"])
async def test_tags_and_properties_come_along(here: Shelf, there: Shelf, tmp_path: Path, name: str) -> None:
    base = await here.fill(documents=2, chunks=1)
    failed = await here.fail(base, "cat")
    metadata = here.catalog.metadata
    described = {"author": ("Ada Lovelace", "安娜"), "created": ("2024-05-01",)}
    await metadata.describe(DocumentId(f"{base.id}-doc-0"), described)
    await metadata.tag(DocumentId(f"{base.id}-doc-0"), add=["Budget", "年度"])
    await metadata.tag(failed.document.id, add=["scan"])
    await export(here, base, tmp_path / "kb.zip")
    await take(there, tmp_path / "kb.zip", name)
    imported = await take(there, tmp_path / "kb.zip", name)
    (copy,) = await there.catalog.select(names={imported.name})
    told = {
        record.document.title: (
            await there.catalog.metadata.own(record.document.id),
            await there.catalog.metadata.tags(record.document.id),
        )
        for record in await there.catalog.records(copy.id)
    }
    assert told == {
        "doc-0.pdf": (described, ["Budget", "年度"]),
        "doc-1.pdf": ({}, []),
        "cat.pdf": ({}, ["scan"]),
    }


async def test_tags_of_here_stay_when_an_export_without_any_is_imported(here: Shelf, tmp_path: Path) -> None:
    base = await here.fill(documents=1)
    await export(here, base, tmp_path / "kb.zip")
    document = DocumentId(f"{base.id}-doc-0")
    await here.catalog.metadata.tag(document, add=["later"])
    await here.catalog.metadata.describe(document, {"author": ("Ada",)})
    await take(here, tmp_path / "kb.zip")
    assert await here.catalog.metadata.tags(document) == ["later"]
    assert await here.catalog.metadata.own(document) == {"author": ("Ada",)}


@pytest.mark.parametrize(("tagged", "version"), [(False, 2), (True, 3)])
async def test_the_format_is_as_old_as_what_it_holds_allows(
    here: Shelf, tmp_path: Path, tagged: bool, version: int
) -> None:
    base = await here.fill(documents=1)
    await here.catalog.synonyms.add(base.id, [("PTO", "paid leave")])
    if tagged:
        await here.catalog.metadata.tag(DocumentId(f"{base.id}-doc-0"), add=["Budget"])
    await export(here, base, tmp_path / "kb.zip")
    assert read_manifest(tmp_path / "kb.zip")["version"] == version


def read_manifest(file: Path) -> dict[str, object]:
    with zipfile.ZipFile(file) as opened:
        manifest: dict[str, object] = json.loads(opened.read("manifest.json"))
    return manifest


async def test_an_export_without_synonyms_and_tags_is_read_by_earlier_versions(
    here: Shelf, tmp_path: Path
) -> None:
    base = await here.fill(documents=1)
    await export(here, base, tmp_path / "kb.zip")
    manifest = read_manifest(tmp_path / "kb.zip")
    assert manifest["version"] == 1
    with zipfile.ZipFile(tmp_path / "kb.zip") as opened:
        assert not {"tags", "properties"} & json.loads(opened.read("documents.jsonl").splitlines()[0]).keys()
    assert "synonyms" not in manifest
