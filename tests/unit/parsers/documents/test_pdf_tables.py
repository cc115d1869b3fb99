"""PDF: tables with and without rules, and columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pymupdf

from rag_engine.parsers.documents import pdf
from rag_engine.parsers.documents._pdf.layout import arranged
from rag_engine.parsers.documents._pdf.lines import TextLine

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_library = cast("Any", pymupdf)


def _draw_table(page: Any, rows: Sequence[Sequence[str]], *, top: float = 100, ruled: bool = True) -> None:
    height, width = 40 if ruled else 24, 120
    for at, row in enumerate(rows):
        for column, text in enumerate(row):
            box = _library.Rect(
                72 + width * column, top + height * at, 72 + width * (column + 1), top + height * (at + 1)
            )
            if ruled:
                page.draw_rect(box)
            if text:
                page.insert_textbox(
                    _library.Rect(box.x0 + 4, box.y0 + 4, box.x1 - 4, box.y1), text, fontsize=9
                )


def _tables(document: Any, path: Path) -> list[tuple[str, str]]:
    document.save(path)
    return [(section.anchor, section.text) for section in pdf.parse(path) if section.kind == "table"]


def test_cells_of_several_lines_and_empty_cells_keep_their_columns(tmp_path: Path) -> None:
    document = _library.open()
    rows = [
        ("Machine", "What is inspected", "Person"),
        ("Crane 1", "Ropes, hooks and brakes are looked at every week", "Weber"),
        ("Crane 2", "The cabin and its windows, and the ladder up to it", ""),
        ("Boiler", "", "Huber"),
    ]
    _draw_table(document.new_page(), rows)
    assert _tables(document, tmp_path / "file") == [("p. 1", "\n".join(" | ".join(row) for row in rows))]


def _framed(page: Any, lines: Sequence[Sequence[str]], *, top: float) -> None:
    """Two columns in a frame, with a rule between them and none between the lines."""
    for column in range(2):
        page.draw_rect(_library.Rect(72 + 200 * column, top, 272 + 200 * column, top + 16 * len(lines) + 8))
        for at, line in enumerate(lines):
            page.insert_text((76 + 200 * column, top + 14 + 16 * at), line[column], fontsize=9)


def test_labels_and_values_in_a_frame_stay_paired(tmp_path: Path) -> None:
    document = _library.open()
    page = document.new_page()
    _draw_table(page, [("Customer", "Vehicle")])
    lines = [("Insured", "Gabriel Diaz"), ("Claim", "SF-1008"), ("Make", "Jeep"), ("Color", "White")]
    _framed(page, lines, top=140)
    ((_, text),) = _tables(document, tmp_path / "file")
    assert [" | ".join(line) for line in lines] == text.splitlines()[-4:]


def test_columns_of_sentences_in_a_frame_are_not_mixed(tmp_path: Path) -> None:
    document = _library.open()
    page = document.new_page()
    _framed(page, [("What", "Who")], top=100)
    left = (
        "Ropes and hooks of the crane",
        "are looked at by the foreman",
        "each week, and the brakes",
        "are tried",
    )
    right = (
        "Nobody stands below while",
        "this is done, and whoever",
        "passes is told to wait at",
        "the gate",
    )
    _framed(page, list(zip(left, right, strict=True)), top=124)
    ((_, text),) = _tables(document, tmp_path / "file")
    assert f"{' '.join(left)} | {' '.join(right)}" in text


def test_rows_of_an_invoice_in_a_frame_stay_rows(tmp_path: Path) -> None:
    document = _library.open()
    page = document.new_page()
    _draw_table(page, [("Totals", "Hours", "Cost")])
    lines = [("Parts", "", "2,100"), ("Body Labor", "2", "300"), ("Supplies", "", "")]
    lines += [("Paint", "", "60"), ("Filler", "1", "30"), ("Subtotal", "", "2,490")]
    for column in range(3):
        page.draw_rect(_library.Rect(72 + 120 * column, 140, 192 + 120 * column, 260))
        for at, line in enumerate(lines):
            if line[column]:
                page.insert_text((76 + 120 * column, 156 + 16 * at), line[column], fontsize=9)
    rows = [("Totals", "Hours", "Cost"), *lines]
    expected = [" | ".join(row) if row[2] else row[0] for row in rows]
    assert _tables(document, tmp_path / "file") == [("p. 1", "\n".join(expected))]


def test_a_table_over_two_pages_has_its_header_on_both(tmp_path: Path) -> None:
    document = _library.open()
    _draw_table(
        document.new_page(), [("Office", "Days", "Manager"), ("Köln", "30", "Weber"), ("Wien", "25", "Huber")]
    )
    _draw_table(document.new_page(), [("Bern", "27", "Frei"), ("Linz", "28", ""), ("Graz", "29", "Moser")])
    assert _tables(document, tmp_path / "file") == [
        ("p. 1", "Office | Days | Manager\nKöln | 30 | Weber\nWien | 25 | Huber"),
        ("p. 2", "Office | Days | Manager\nBern | 27 | Frei\nLinz | 28 | \nGraz | 29 | Moser"),
    ]


def test_empty_cells_of_a_table_without_rules_keep_their_columns(tmp_path: Path) -> None:
    document = _library.open()
    rows = [("Office", "Days", "Manager"), ("Köln", "30", "Weber"), ("", "25", "Huber"), ("Bern", "", "Frei")]
    _draw_table(document.new_page(), rows, ruled=False)
    assert _tables(document, tmp_path / "file") == [("p. 1", "\n".join(" | ".join(row) for row in rows))]


def _lines(*lines: tuple[str, float, float]) -> list[TextLine]:
    return [
        TextLine(
            text=text, top=top, left=left, size=10, right=left + 5 * len(text), bottom=top + 10, base=top + 8
        )
        for text, top, left in lines
    ]


def _column(name: str, left: float, top: float = 200, count: int = 8) -> list[TextLine]:
    return _lines(
        *((f"{name} column tells of the harbour, {at}", top + 12 * at, left) for at in range(count))
    )


def _names(blocks: Sequence[Sequence[TextLine]]) -> list[str]:
    return [line.text.split()[0] for block in arranged(blocks) for line in block.lines[:1]]


def test_columns_drawn_in_the_wrong_order_are_read_from_the_left() -> None:
    title = _lines(("Title that stands across the whole page and both of the columns, as titles do", 150, 60))
    foot = _lines(
        ("Foot that stands across the whole page and both of the columns, as some feet do", 320, 60)
    )
    right, left = _column("Right", 320), _column("Left", 60)
    assert _names([title, right, left, foot]) == ["Title", "Left", "Right", "Foot"]


def test_three_columns() -> None:
    columns = [_column("One", 40), _column("Three", 460), _column("Two", 250)]
    assert _names(columns) == ["One", "Two", "Three"]


def test_columns_in_the_right_order_are_unchanged() -> None:
    # A line overlaps the gutter.
    left = _column("Left", 60)
    left[4] = left[4]._replace(right=400)
    assert _names([left, _column("Right", 320)]) == ["Left", "Right"]


def test_a_sentence_continues_in_the_next_column_across_a_footnote() -> None:
    left = [*_column("Left", 60)[:-1], *_lines(("the crane is inspected by the respon-", 284, 60))]
    note = [line._replace(size=7) for line in _lines(("1 A footnote under the first column.", 330, 60))]
    right = [*_lines(("sible foreman before lifting resumes.", 200, 320)), *_column("Right", 320, 212)]
    texts = [[line.text for line in block.lines] for block in arranged([left, note, right])]
    at = texts[0].index("the crane is inspected by the respon-")
    assert texts[0][at + 1] == "sible foreman before lifting resumes."
    assert texts[1] == ["1 A footnote under the first column."]


def test_blocks_drawn_from_below_are_read_from_the_top() -> None:
    body = _lines(("The body of the page comes first in the file.", 300, 60))
    title = _lines(("Title of the page", 100, 60))
    assert _names([body, title]) == ["Title", "The"]
