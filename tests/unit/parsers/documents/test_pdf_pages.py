"""PDF: margins, words broken across pages, rotated pages, fields, comments, attachments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pymupdf
import pytest

from rag_engine.parsers.documents import pdf
from rag_engine.parsers.documents._pdf.text_quality import fault

if TYPE_CHECKING:
    from pathlib import Path

_library = cast("Any", pymupdf)


def _document() -> Any:
    return _library.open()


def _text(document: Any, path: Path) -> str:
    document.save(path)
    return "\n".join(section.text for section in pdf.parse(path))


def test_headers_of_left_and_right_pages_appear_once(tmp_path: Path) -> None:
    document = _document()
    for number in range(1, 9):
        page = document.new_page()
        page.insert_text((72, 40), "Handbook 2024" if number % 2 else "Crane rules", fontsize=9)
        page.insert_text((72, 300), f"Rule {number} is kept.", fontsize=11)
        page.insert_text((72 if number % 2 else 500, 820), str(number + 40), fontsize=9)
    text = _text(document, tmp_path / "file")
    assert (text.count("Handbook 2024"), text.count("Crane rules")) == (1, 1)
    assert not any(str(number + 40) in text.split() for number in range(1, 8)), (
        "page numbers that are off by 40"
    )
    assert [f"Rule {number} is kept." in text for number in range(1, 9)] == [True] * 8


def test_numbered_titles_in_the_margin_are_no_page_numbers(tmp_path: Path) -> None:
    document = _document()
    for number in range(1, 5):
        page = document.new_page()
        page.insert_text((72, 40), f"Section {number}", fontsize=11)
        page.insert_text((72, 300), "The crane stands still.", fontsize=11)
    text = _text(document, tmp_path / "file")
    assert [f"Section {number}" in text for number in range(1, 5)] == [True] * 4


def test_a_running_header_is_no_heading(tmp_path: Path) -> None:
    document = _document()
    for number in range(1, 4):
        page = document.new_page()
        page.insert_text((72, 40), "Harbour handbook", fontsize=16)
        page.insert_textbox((72, 200, 500, 400), f"Words of page {number} on cranes. " * 8, fontsize=11)
    path = tmp_path / "file"
    document.save(path)
    assert {section.headings for section in pdf.parse(path)} == {()}


def test_a_word_broken_over_two_pages_is_whole_on_the_first(tmp_path: Path) -> None:
    document = _document()
    for text in ("It grows with the infra-", "structure of the harbour."):
        document.new_page().insert_text((72, 300), text, fontsize=11)
    path = tmp_path / "file"
    document.save(path)
    assert [(section.anchor, section.text) for section in pdf.parse(path)] == [
        ("p. 1", "It grows with the infrastructure"),
        ("p. 2", "of the harbour."),
    ]


@pytest.mark.parametrize("rotation", [90, 270])
def test_a_page_drawn_sideways_is_read_in_order(tmp_path: Path, rotation: int) -> None:
    document = _document()
    page = document.new_page()
    for row in range(6):
        place = (100 + 14 * row, 700) if rotation == 90 else (400 - 14 * row, 100)
        page.insert_text(place, f"Line {row} of a page that is drawn sideways", fontsize=11, rotate=rotation)
    text = _text(document, tmp_path / "file")
    assert [int(word) for word in text.split() if word.isdigit()] == list(range(6))


def test_fields_comments_and_attached_files(tmp_path: Path) -> None:
    document = _document()
    page = document.new_page()
    page.insert_text((72, 340), "The crane stands still in winter.")
    fields = (
        ("name", "Anna Weber", _library.PDF_WIDGET_TYPE_TEXT, "Full name"),
        ("half", True, _library.PDF_WIDGET_TYPE_CHECKBOX, "Half day"),
        ("paid", False, _library.PDF_WIDGET_TYPE_CHECKBOX, "Paid"),
        ("form[0].Office[0]", "Köln", _library.PDF_WIDGET_TYPE_COMBOBOX, ""),
    )
    for at, (name, value, kind, label) in enumerate(fields):
        field = _library.Widget()
        field.field_type, field.field_name, field.field_label = kind, name, label
        field.rect = _library.Rect(200, 100 + 30 * at, 400, 118 + 30 * at)
        field.choice_values = ["Köln", "Wien"]
        field.field_value = value
        page.add_widget(field)
    mark = page.add_highlight_annot(page.search_for("stands still"))
    mark.set_info(title="Cleo", content="Since when?")
    mark.update()
    page.add_text_annot((72, 400), "Check the dates")
    page.add_freetext_annot((72, 500, 300, 530), "Typed over the page")
    document.embfile_add("budget.xlsx", b"abc", filename="budget.xlsx")
    text = _text(document, tmp_path / "file")
    for line in (
        "Full name: Anna Weber",
        "Half day: ticked",
        "Office: Köln",
        "Comment by Cleo on “stands still”: Since when?",
        "Comment: Check the dates",
        "Files attached to this PDF: budget.xlsx",
    ):
        assert line in text.splitlines()
    assert "Paid" not in text
    assert text.count("Typed over the page") == 1


@pytest.mark.parametrize(
    ("text", "pictured", "expected"),
    [
        ("", 0.0, None),
        ("", 0.9, "missing"),
        ("\u200b \n", 0.3, "missing"),
        ("Page 3", 0.95, "sparse"),
        ("Page 3", 0.2, None),
        ("Words of a report. " * 20, 1.0, None),
        ("\x03\x1a\x07abc\x05\x11" * 30, 0.0, "garbled"),
        ("\ue001\ue002\ue003\ue004 " * 30, 0.0, "garbled"),
        ("\ufffd" * 300, 0.0, "garbled"),
        ("(cid:12)(cid:9)(cid:77)" * 30, 0.0, "garbled"),
        ("\uf0b7 one\n\uf0b7 two\n\uf0b7 three", 0.0, None),
        ("季度报告显示，华东区的退货率下降了" * 5, 0.0, None),
    ],
)
def test_which_pages_have_no_usable_text(text: str, pictured: float, expected: str | None) -> None:
    def share(*, with_shapes: bool) -> float:
        del with_shapes
        return pictured

    assert fault(text, pictured=share) == expected
