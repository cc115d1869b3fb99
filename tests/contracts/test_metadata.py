"""What every `Metadata` must do."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import UserError
from rag_engine.metadata.comparison import meets
from rag_engine.metadata.conditions import filter_of
from rag_engine.metadata.properties import DERIVED
from rag_engine.storage.catalog import SqliteCatalog
from rag_engine.storage.sqlite.database import connect
from rag_engine.types import Document, DocumentId, DocumentRecord
from tests.databases import new_database

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from rag_engine.metadata.filter_types import Properties
    from rag_engine.ports import DocumentCatalog
    from rag_engine.types import KnowledgeBase


@pytest.fixture(params=["sqlite"])
async def catalog(tmp_path: Path) -> AsyncIterator[SqliteCatalog]:
    async with connect(new_database(tmp_path / "footnote.sqlite")) as database:
        yield SqliteCatalog(database)


async def added(catalog: DocumentCatalog, base: KnowledgeBase, name: str) -> DocumentId:
    document = Document(
        id=DocumentId(f"{base.id}/{name}"),
        knowledge_base=base.id,
        title=name,
        uri=f"file:///team/{name}",
        media_type="application/pdf",
        digest=name,
    )
    await catalog.save(DocumentRecord(document=document, state="ready"))
    return document.id


async def test_what_a_file_says_of_itself_is_kept_with_what_follows_from_its_record(
    catalog: SqliteCatalog,
) -> None:
    base, other = await catalog.open("Handbook", model="m"), await catalog.open("Other", model="m")
    one, two = await added(catalog, base, "a.pdf"), await added(catalog, base, "b.docx")
    await added(catalog, other, "c.pdf")
    await catalog.metadata.describe(one, {"author": ("Anna", "Bob"), "year": ("2024",)})
    found = await catalog.metadata.properties([base.id], names={base.id: "#general"})
    assert set(found) == {one, two}
    assert found[one]["author"] == ("Anna", "Bob")
    assert found[one]["type"] == ("pdf", "document")
    assert found[one]["folder"] == ("/team",)
    assert found[one]["place"] == ("#general", "Handbook")
    assert len(found[one]["added"][0]) == 10
    assert "author" not in found[two]


@pytest.mark.parametrize(
    ("filter_", "own"),
    [
        ("year >= 2024", {"year": ("2024",)}),
        ("in:a.pdf", {}),
        ("tag:draft", {"tags": ("budget",)}),
        ("after:2024", {"created": ("2024-01-01",), "modified": ("2024-02-01",)}),
    ],
)
async def test_a_filter_reads_no_property_that_it_does_not_compare(
    catalog: SqliteCatalog, filter_: str, own: Properties
) -> None:
    base = await catalog.open("Handbook", model="m")
    one = await added(catalog, base, "a.pdf")
    await catalog.metadata.tag(one, add=["Draft"])
    described = {"year": ("2024",), "created": ("2024-01-01",), "modified": ("2024-02-01",)}
    await catalog.metadata.describe(one, {**described, "tags": ("budget",), "author": ("Anna",)})
    keys = {condition.key for condition in filter_of(filter_).conditions}
    found = (await catalog.metadata.properties([base.id], keys=keys))[one]
    assert {key: found[key] for key in found.keys() - {*DERIVED}} == own
    assert meets(found, filter_of(filter_))


async def test_of_many_documents_the_latest_are_read(catalog: SqliteCatalog) -> None:
    base = await catalog.open("Handbook", model="m")
    documents = [await added(catalog, base, f"{number}.pdf") for number in range(4)]
    for document in documents:
        await catalog.metadata.describe(document, {"author": ("Anna",)})
    found = await catalog.metadata.properties([base.id], latest=2)
    assert set(found) == {*documents[2:]}
    assert all(each["author"] == ("Anna",) for each in found.values())


async def test_a_new_description_replaces_the_earlier_one_and_leaves_the_tags(catalog: SqliteCatalog) -> None:
    base = await catalog.open("Handbook", model="m")
    one = await added(catalog, base, "a.pdf")
    await catalog.metadata.tag(one, add=["Draft"])
    await catalog.metadata.describe(one, {"author": ("Anna",), "year": ("2024",)})
    await catalog.metadata.describe(one, {"author": ("Bob",)})
    assert await catalog.metadata.own(one) == {"author": ("Bob",)}
    assert await catalog.metadata.tags(one) == ["Draft"]


async def test_authors_and_tags_are_those_of_the_knowledge_bases(catalog: SqliteCatalog) -> None:
    base, other = await catalog.open("Handbook", model="m"), await catalog.open("Other", model="m")
    one, two = await added(catalog, base, "a.pdf"), await added(catalog, base, "b.docx")
    await catalog.metadata.tag(one, add=["Draft"])
    await catalog.metadata.describe(one, {"author": ("Anna", "Bob"), "tags": ("budget",), "year": ("2024",)})
    await catalog.metadata.describe(two, {"author": ("Bob",)})
    await catalog.metadata.describe(await added(catalog, other, "c.pdf"), {"author": ("Eve",)})
    assert sorted(await catalog.metadata.authors_and_tags([base.id])) == ["Anna", "Bob", "Draft", "budget"]


async def test_tags_ignore_case_and_are_few(catalog: SqliteCatalog) -> None:
    base = await catalog.open("Handbook", model="m")
    one = await added(catalog, base, "a.pdf")
    await catalog.metadata.tag(one, add=["draft", "#Final"])
    await catalog.metadata.tag(one, add=["DRAFT"], remove=["final"])
    assert await catalog.metadata.tags(one) == ["DRAFT"]
    found = await catalog.metadata.properties([base.id])
    assert found[one]["tag"] == ("DRAFT",)
    with pytest.raises(UserError, match="at most 50 tags"):
        await catalog.metadata.tag(one, add=[f"t{number}" for number in range(50)])
    assert await catalog.metadata.tags(one) == ["DRAFT"]


async def test_metadata_goes_with_its_document(catalog: SqliteCatalog) -> None:
    base = await catalog.open("Handbook", model="m")
    one = await added(catalog, base, "a.pdf")
    await catalog.metadata.tag(one, add=["draft"])
    await catalog.metadata.describe(one, {"author": ("Anna",)})
    await catalog.remove(one)
    assert await catalog.metadata.tags(one) == []
    assert await catalog.metadata.own(one) == {}
    await catalog.metadata.describe(one, {"author": ("Anna",)})
    await catalog.metadata.tag(one, add=["draft"])
    assert await catalog.metadata.own(one) == {}
    assert await catalog.metadata.properties([base.id]) == {}


async def test_documents_stored_by_the_last_version_can_be_filtered(tmp_path: Path) -> None:
    path = tmp_path / "footnote.sqlite"
    scripts = sorted((files("rag_engine.storage") / "sql").iterdir(), key=lambda script: script.name)
    with closing(sqlite3.connect(path)) as before:
        for script in scripts:
            if script.name in ("0001_initial.sql", "0002_unfinished.sql"):
                before.executescript(script.read_text(encoding="utf-8"))
        before.execute("PRAGMA user_version = 2")
        before.execute("INSERT INTO knowledge_bases VALUES ('kb', 'Handbook', 'handbook', 'm', 0, 0)")
        before.execute(
            "INSERT INTO documents VALUES ('d', 'kb', 'old.xlsx', 'file:///x/old.xlsx', '', 'h', 1, 'ready', '', 1, 1,"
            " 1700000000, 1700000000)"
        )
        before.commit()
    async with connect(path) as database:
        metadata = SqliteCatalog(database).metadata
        (base,) = await SqliteCatalog(database).knowledge_bases()
        found = (await metadata.properties([base.id]))[DocumentId("d")]
        assert found["type"] == ("xlsx", "sheet")
        assert found["added"] == ("2023-11-14",)
        await metadata.tag(DocumentId("d"), add=["old"])
        assert await metadata.tags(DocumentId("d")) == ["old"]
