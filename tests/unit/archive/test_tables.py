"""Typed tables travel with an export; lines that could harm are refused."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from rag_engine import archive, plugins
from rag_engine.errors import CorruptFile
from rag_engine.parsing.formats import FAMILY
from rag_engine.parsing.media_types import parser_name
from rag_engine.tables.execution import TableQueries
from rag_engine.tables.store import TableStore
from tests.unit.archive.shelf import IDENTITY, Shelf
from tests.unit.archive.test_bad_archives import Export

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rag_engine.types import Document, KnowledgeBase

SPENDING = (
    'Team,Amount,Day,Paid\nSales,"1,200.50 €",2025-03-01,yes\nOps,80 €,2025-04-02,no\nTotal,"1,280.50 €",,\n'
)
OTHER = "Team,Amount\nLegal,7\nSales,8\n"


async def _keep(store: TableStore, document: Document, folder: Path, text: str) -> None:
    path = folder / f"{document.id}.csv"
    path.write_text(text, encoding="utf-8")
    with store.collection() as collection:
        collection.extend(plugins.load(FAMILY, parser_name(path, path.name)).parse(path))
        await store.keep(document, collection)
    await store.publish(document)


async def _export(here: Shelf, base: KnowledgeBase, file: Path, store: TableStore) -> None:
    contents, library = here.index, here.catalog
    await archive.export(base, file, library=library, contents=contents, identity=IDENTITY, tables=store)


async def _take(there: Shelf, file: Path, store: TableStore, name: str = "") -> KnowledgeBase:
    told = await archive.import_(
        file,
        catalog=there.catalog,
        documents=there.catalog,
        index=there.index,
        identity=IDENTITY,
        tables=store,
        name=name,
    )
    return next(base for base in await there.catalog.knowledge_bases() if base.name == told.name)


async def _computed(store: TableStore, base: KnowledgeBase) -> list[object]:
    stored = await store.tables({}, beside=[base.id], most=100)
    (table,) = [one.table for one in stored]
    sql = f"SELECT {table.columns[0].sql_name}, {table.columns[1].sql_name} FROM {table.sql_name}"  # noqa: S608 - our own names
    answer = await TableQueries().run(sql, stored)
    (source,) = answer.sources
    return [answer.rows, source.numbers, source.texts, answer.warnings]


@pytest.mark.process
async def test_tables_come_back_the_same_also_under_another_name(
    here: Shelf, there: Shelf, tmp_path: Path
) -> None:
    base = await here.fill(documents=2)
    ours, theirs = TableStore(tmp_path / "ours"), TableStore(tmp_path / "theirs")
    record, *_ = await here.catalog.records(base.id)
    await _keep(ours, record.document, tmp_path, SPENDING)
    await _export(here, base, tmp_path / "kb.zip", ours)
    expected = await _computed(ours, base)
    assert expected[0] == (("Sales", 1200.5), ("Ops", 80))
    assert await _computed(theirs, await _take(there, tmp_path / "kb.zip", theirs)) == expected
    assert (await theirs.stored(record.document))[0].table == (await ours.stored(record.document))[0].table
    copy = await _take(here, tmp_path / "kb.zip", ours, "Copy")
    assert await _computed(ours, copy) == expected
    assert {one.table.document for one in await ours.tables({}, beside=[copy.id], most=9)}.isdisjoint(
        {record.document.id}
    )


async def test_tables_of_a_replaced_document_go(here: Shelf, there: Shelf, tmp_path: Path) -> None:
    base = await here.fill(documents=1)
    ours, theirs = TableStore(tmp_path / "ours"), TableStore(tmp_path / "theirs")
    (record,) = await here.catalog.records(base.id)
    await _keep(ours, record.document, tmp_path, SPENDING)
    await _export(here, base, tmp_path / "kb.zip", ours)
    copy = await there.catalog.open("Handbook", model=IDENTITY.model)
    before = await there.add(copy, "doc-0", chunks=1)
    await _keep(theirs, before.document, tmp_path, OTHER)
    taken = await _take(there, tmp_path / "kb.zip", theirs)
    (stored,) = await theirs.tables({}, beside=[taken.id], most=9)
    assert [column.name for column in stored.table.columns] == ["Team", "Amount", "Day", "Paid"]


async def test_an_older_export_keeps_tables_of_the_same_bytes(
    here: Shelf, there: Shelf, tmp_path: Path
) -> None:
    base = await here.fill(documents=1)
    ours, theirs = TableStore(tmp_path / "ours"), TableStore(tmp_path / "theirs")
    (record,) = await here.catalog.records(base.id)
    await _export(here, base, tmp_path / "old.zip", ours)
    await _keep(theirs, record.document, tmp_path, SPENDING)
    await _take(there, tmp_path / "old.zip", theirs)
    assert len(await theirs.stored(record.document)) == 1


@pytest.fixture
async def sound(here: Shelf, tmp_path: Path) -> Export:
    base = await here.fill(documents=1, chunks=1)
    store = TableStore(tmp_path / "sound")
    (record,) = await here.catalog.records(base.id)
    await _keep(store, record.document, tmp_path, SPENDING)
    await _export(here, base, tmp_path / "sound.zip", store)
    with zipfile.ZipFile(tmp_path / "sound.zip") as opened:
        return Export(members={name: opened.read(name) for name in opened.namelist()})


def _renamed(table: dict[str, Any]) -> None:
    table["columns"][0]["sql_name"] = 'team" INTEGER); DROP TABLE x; --'


def _doubled(table: dict[str, Any]) -> None:
    table["columns"][1]["sql_name"] = table["columns"][0]["sql_name"]


def _reserved(table: dict[str, Any]) -> None:
    table["columns"][0]["sql_name"] = "_total"


def _laid_out(table: dict[str, Any]) -> None:
    table["layout"][0] = "team FROM sqlite_master"


def _identified(table: dict[str, Any]) -> None:
    table["id"] = "t1; --"


def _kept_short(table: dict[str, Any]) -> None:
    table["columns"] = table["columns"][:1]
    table["layout"] = [table["columns"][0]["sql_name"]]


def _called_like_ours(table: dict[str, Any]) -> None:
    table["id"] = "description"


def _called_like_sqlites(table: dict[str, Any]) -> None:
    table["id"] = "sqlite_master"


@pytest.mark.parametrize(
    "spoil",
    [_renamed, _doubled, _reserved, _laid_out, _identified, _kept_short, _called_like_ours, _called_like_sqlites],
    ids=lambda spoil: spoil.__name__,
)  # fmt: skip
async def test_a_line_that_could_harm_is_refused(
    spoil: Callable[[dict[str, Any]], None], sound: Export, there: Shelf, tmp_path: Path
) -> None:
    rows = sound.rows("documents.jsonl")
    (table,) = [row for row in rows if "columns" in row]
    spoil(table)
    file = sound.having("documents.jsonl", rows).write(tmp_path / "kb.zip")
    with pytest.raises(CorruptFile, match=r"kb\.zip is damaged"):
        await _take(there, file, TableStore(tmp_path / "theirs"))
    assert await there.catalog.knowledge_bases() == []
    assert json.loads(sound.members["manifest.json"])["version"] == 5


async def test_tables_of_one_id_and_figures_that_no_column_holds_are_refused(
    sound: Export, there: Shelf, tmp_path: Path
) -> None:
    def twice(rows: list[dict[str, Any]]) -> None:
        at = next(at for at, row in enumerate(rows) if "columns" in row)
        end = at + 1 + rows[at]["lines"]
        rows[end:end] = rows[at:end]
        next(row for row in rows if "tables" in row)["tables"] = 2

    def huge(rows: list[dict[str, Any]]) -> None:
        next(row for row in rows if "rows" in row)["rows"][0][0] = 1 << 64

    for number, spoil in enumerate((twice, huge)):
        rows = sound.rows("documents.jsonl")
        spoil(rows)
        file = sound.having("documents.jsonl", rows).write(tmp_path / f"kb{number}.zip")
        with pytest.raises(CorruptFile, match=rf"kb{number}\.zip is damaged"):
            await _take(there, file, TableStore(tmp_path / "theirs"))
        assert await there.catalog.knowledge_bases() == []
