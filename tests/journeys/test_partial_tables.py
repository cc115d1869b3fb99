"""An answer that lists rows of a long table says that there are more, in the person's language, with and without a model."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

import docx
import openpyxl
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.journeys.conftest import Footnote

HEADER = ("Item", "Supplier", "Weight", "Care")
ITEMS = ("pump seal", "hand winch", "mooring line", "fender", "flare kit", "life vest", "bilge hose")
CARE = ("must be kept dry", "keep away from heat", "no special care")
ROWS = [
    (
        f"{ITEMS[at % 7]} {'ABCDE'[at % 5]}{at}",
        ("Halden", "Brodin")[at % 2],
        f"{40 + 3 * at} kg",
        CARE[at % 3],
    )
    for at in range(84)
]
"""Of flare kits: E4, B11, D18, A25, …"""
SHORT = ROWS[:6]

QUESTION = "How should flare kits be stored?"
GERMAN = "Was ist bei den flare kits wichtig?"
LISTED = "\n".join(
    (
        "They are stored so:",
        *(f"- {name} by {by}: {care} [1]." for name, by, _, care in ROWS if "flare" in name),
    )
)
"""Some of them are in whatever passages a small window holds."""
UNJUDGED = {"FOOTNOTE_STEPS__EVIDENCE__ENABLED": "false"}
MODEL = {
    **UNJUDGED,
    "FOOTNOTE_MODEL__KIND": "scripted",
    "FOOTNOTE_MODEL__REPLIES": json.dumps([{"text": LISTED, "task": "answer"}]),
}
SMALL = {**MODEL, "FOOTNOTE_MODEL__CONTEXT_TOKENS": "1200"}
CUT, CUT_GERMAN = "Not all rows that fit are quoted here.", "Hier sind nicht alle passenden Zeilen zitiert."
PARTIAL = "Only part of the table in {} was read: rows may be missing here."
PARTIAL_GERMAN = "Die Tabelle in {} wurde nur zum Teil gelesen: Hier können Zeilen fehlen."


def _markdown(path: Path, rows: list[tuple[str, ...]]) -> None:
    lines = [HEADER, ("---",) * 4, *rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    path.write_text(f"# Store\n\nWhat the store keeps.\n\n## Stock\n\n{table}\n", encoding="utf-8")


def _csv(path: Path, rows: list[tuple[str, ...]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([HEADER, *rows])


def _workbook(path: Path, rows: list[tuple[str, ...]]) -> None:
    book = openpyxl.Workbook()
    for row in (HEADER, *rows):
        book["Sheet"].append(row)
    book.save(path)


def _word(path: Path, rows: list[tuple[str, ...]]) -> None:
    document = docx.Document()
    document.add_heading("Stock", 1)
    table = document.add_table(rows=0, cols=len(HEADER))
    for row in (HEADER, *rows):
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text
    document.save(str(path))


FILES: dict[str, Callable[[Path, list[tuple[str, ...]]], None]] = {
    "stock.md": _markdown,
    "stock.csv": _csv,
    "stock.xlsx": _workbook,
    "stock.docx": _word,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
async def test_rows_of_a_table_that_goes_on(footnote: Footnote, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    FILES[name](path, ROWS)
    assert (await footnote("add", str(path))).code == 0
    quoted = await footnote("ask", QUESTION, **UNJUDGED)
    assert quoted.out.count("flare kit") == 4
    assert CUT in quoted.out
    assert PARTIAL.format(name) not in quoted.out, "one sentence is enough"
    assert CUT_GERMAN in (await footnote("ask", GERMAN, **UNJUDGED)).out
    written = await footnote("ask", QUESTION, **SMALL)
    assert written.out.count("- flare kit") > 1
    assert PARTIAL.format(name) in written.out
    assert PARTIAL_GERMAN.format(name) in (await footnote("ask", GERMAN, **SMALL)).out
    whole = await footnote("ask", QUESTION, **MODEL)
    assert "flare kit B11" in whole.out
    assert "rows may be missing" not in whole.out, "the model has read all of it"


@pytest.mark.slow
async def test_a_whole_table_and_one_row_are_not_said_to_be_incomplete(
    footnote: Footnote, tmp_path: Path
) -> None:
    path = tmp_path / "stock.md"
    _markdown(path, SHORT)
    assert (await footnote("add", str(path))).code == 0
    written = await footnote("ask", QUESTION, **SMALL)
    assert "rows may be missing" not in written.out
    quoted = await footnote("ask", "How should the mooring line C2 be stored?", **UNJUDGED)
    assert "mooring line C2" in quoted.out
    assert CUT not in quoted.out
