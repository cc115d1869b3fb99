from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import openpyxl
import pytest

from rag_engine.tables.collection import TableLimits
from rag_engine.tables.store import TableStore
from rag_engine.types import Document, DocumentId, KnowledgeBaseId, Section
from tests.tables.stored import BASE, stored_tables

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.tables.types import TypedTable

_DOCUMENT = Document(
    id=DocumentId("d"), knowledge_base=BASE, title="d.md", uri="d", media_type="", digest="x"
)


async def _of_csv(folder: Path, text: str) -> TypedTable:
    path = folder / "list.csv"
    path.write_text(text, encoding="utf-8")
    _, (stored,) = await stored_tables(folder / "tables", [path])
    return stored.table


async def test_a_sheet_is_typed_with_exact_values(budget: Path, tmp_path: Path) -> None:
    _, (stored,) = await stored_tables(tmp_path / "tables", [budget])
    table = stored.table
    assert (table.caption, table.place, table.row_count, table.totals) == (
        "Budget › Spending",
        "Budget!A4:E9",
        5,
        1,
    )
    assert [(column.sql_name, column.kind, column.unit) for column in table.columns] == [
        ("department", "text", ""),
        ("date", "date", ""),
        ("amount", "number", "€"),
        ("share", "number", "%"),
        ("paid", "boolean", ""),
    ]
    department, date, amount, share, _ = table.columns
    assert department.values == ("Field", "Office", "IT")
    assert department.has_all_values
    assert (date.least, date.greatest) == ("2025-01-03", "2025-05-03")
    # The sheet shows 1,234.57 and 10.0%.
    assert (amount.least, amount.greatest) == (-40, 1234.567)
    assert share.greatest == 123.4567


@pytest.mark.parametrize("blank_rows", [0, 1])
async def test_tables_that_lie_side_by_side_keep_their_captions(blank_rows: int, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = cast("Any", book.active)
    sheet.title = "Plan"
    sheet["A1"], sheet["E1"] = "Income", "Expenses"
    for column, rows in (
        (1, [("Source", "Amount"), ("Fees", 120), ("Grants", 300), ("Sales", 50)]),
        (5, [("Item", "Amount"), ("Rent", 80), ("Power", 30), ("Phones", 20)]),
    ):
        for number, (name, amount) in enumerate(rows, 2 + blank_rows):
            sheet.cell(number, column, name)
            sheet.cell(number, column + 1, amount)
    book.save(tmp_path / "plan.xlsx")
    _, stored = await stored_tables(tmp_path / "tables", [tmp_path / "plan.xlsx"])
    assert [(one.table.caption, one.table.row_count) for one in stored] == [
        ("Plan › Income", 3),
        ("Plan › Expenses", 3),
    ]


async def test_the_decimal_sign_is_that_of_the_column(tmp_path: Path) -> None:
    table = await _of_csv(tmp_path, "Ort;Betrag;Tag\nA;1.234;03.04.2025\nB;12,50;04.04.2025\n")
    assert [(column.kind, column.greatest) for column in table.columns[1:]] == [
        ("number", 1234),
        ("date", "2025-04-04"),
    ]


async def test_numbers_in_different_units_are_not_summed(tmp_path: Path) -> None:
    table = await _of_csv(tmp_path, "Item,Price\nA,5 €\nB,7 $\n")
    assert table.columns[1].kind == "text"


@pytest.mark.parametrize(
    ("name", "text", "column", "rows"),
    [
        ("guests.csv", "Guest\nMia Holt\nJon Reyes\nAda Frost\n", "Guest", 3),
        ("list.csv", "Code\nA-17\nB-22\n", "Code", 2),
        ("list.csv", "Mia Holt\nJon Reyes\nAda Frost\n", "column_1", 3),
    ],
)
async def test_a_sheet_of_one_column_is_a_table(
    name: str, text: str, column: str, rows: int, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    _, (stored,) = await stored_tables(tmp_path / "tables", [path])
    assert ([one.name for one in stored.table.columns], stored.table.row_count) == ([column], rows)


async def test_prose_in_one_column_is_no_table(tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    path.write_text("Note\n" + "\n".join(f"{number} " + "long words " * 12 for number in range(5)))
    _, stored = await stored_tables(tmp_path / "tables", [path])
    assert stored == []


async def test_cells_that_are_no_numbers_are_counted(tmp_path: Path) -> None:
    rows = "\n".join(f"item {number},{number}" for number in range(9))
    table = await _of_csv(tmp_path, f"Item,Price\n{rows}\nitem 9,unknown\nitem 10,-\n")
    assert (table.columns[1].kind, table.columns[1].unread) == ("number", 1)


async def test_a_last_row_without_a_label_that_is_the_sum_is_a_total(tmp_path: Path) -> None:
    table = await _of_csv(tmp_path, "Item,Price,Fee\nA,5,1\nB,7,1\nC,8,2\n,20,4\n")
    assert (table.row_count, table.totals) == (3, 1)


async def test_a_name_that_begins_with_total_is_no_total(tmp_path: Path) -> None:
    table = await _of_csv(tmp_path, "Company,City,Sales\nShell,Berlin,5\nTotal Energies,Paris,9\n")
    assert (table.row_count, table.totals) == (2, 0)


async def test_a_label_of_a_total_counts_as_no_cell_of_its_column(tmp_path: Path) -> None:
    table = await _of_csv(tmp_path, "Item,Price\nA,5\nB,-\nC,8\nTotal,13\n")
    assert (table.totals, [column.filled for column in table.columns]) == (1, [3, 2])


async def test_subtotals_are_known_by_the_end_of_a_chinese_label(tmp_path: Path) -> None:
    table = await _of_csv(tmp_path, "大区,门店,销售额\n华东,徐汇店,5\n华东,南京店,7\n华东小计,,12\n")
    assert (table.row_count, table.totals) == (2, 1)


async def test_tables_of_text_are_joined_and_typed(tmp_path: Path) -> None:
    path = tmp_path / "offers.md"
    path.write_text("# Offers\n\n| Firm | Price |\n|--|--|\n| ACME | 1,200.50 € |\n| Bolt | 900.00 € |\n")
    _, (stored,) = await stored_tables(tmp_path / "tables", [path])
    assert stored.table.place == "§ Offers"
    assert [(column.kind, column.unit) for column in stored.table.columns] == [("text", ""), ("number", "€")]


async def test_a_table_over_a_limit_has_no_rows_at_all(tmp_path: Path) -> None:
    store = TableStore(tmp_path, limits=TableLimits(rows=3))
    text = "Item | Price\n" + "\n".join(f"item {number} | {number}" for number in range(5))
    with store.collection() as collection:
        collection.extend([Section(text=text, kind="table"), Section(text="A | B\n1 | 2", kind="table")])
        await store.keep(_DOCUMENT, collection)
    assert await store.tables({_DOCUMENT.id: BASE}) == []
    await store.publish(_DOCUMENT)
    large, small = await store.tables({_DOCUMENT.id: BASE})
    assert (large.table.too_large, large.table.row_count) == (True, 5)
    assert (small.table.too_large, small.table.row_count) == (False, 1)


async def test_a_document_without_tables_loses_those_of_before(budget: Path, tmp_path: Path) -> None:
    store, (stored,) = await stored_tables(tmp_path / "tables", [budget])
    document = replace(_DOCUMENT, id=stored.table.document)
    with store.collection() as collection:
        collection.extend([Section(text="Only words.")])
        await store.keep(document, collection)
    await store.publish(document)
    assert await store.tables({document.id: BASE}) == []


@pytest.mark.parametrize("identity", ["../../x", "a/b", "", "ä" * 80])
async def test_no_id_leads_out_of_the_folder(identity: str, tmp_path: Path) -> None:
    store = TableStore(tmp_path / "tables")
    document = replace(
        _DOCUMENT, id=DocumentId(identity), knowledge_base=KnowledgeBaseId(identity), title="x"
    )
    with store.collection() as collection:
        collection.extend([Section(text="A | B\n1 | 2", kind="table")])
        await store.keep(document, collection)
    await store.publish(document)
    (path,) = _files(tmp_path)
    assert path.is_relative_to(tmp_path / "tables")
    assert len(await store.tables({document.id: document.knowledge_base})) == 1


async def test_what_a_killed_process_left_goes_with_the_next_writing_and_with_the_document(
    tmp_path: Path,
) -> None:
    store = TableStore(tmp_path / "tables")
    folder = tmp_path / "tables" / BASE
    folder.mkdir(parents=True)
    left = [folder / f"{_DOCUMENT.id}{suffix}.abc.new" for suffix in (".pending", ".sqlite")]
    other = folder / "another.pending.abc.new"
    for path in (*left, other):
        path.write_bytes(b"rows")
    with store.collection() as collection:
        collection.extend([Section(text="A | B\n1 | 2", kind="table")])
        await store.keep(_DOCUMENT, collection)
    assert not left[0].exists()
    left[0].write_bytes(b"rows")
    await store.drop(BASE, _DOCUMENT.id)
    assert _files(folder) == [other]


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]
