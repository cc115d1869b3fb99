"""PDF: headings, paragraphs and tables in reading order, page by page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pymupdf
import pytest

from rag_engine.errors import EmptyDocument, EncryptedFile
from rag_engine.parsers import pdf
from rag_engine.parsers._pdf.layout import arranged
from rag_engine.parsers._pdf.lines import TextLine
from rag_engine.parsers._pdf.paragraphs import paragraph
from rag_engine.types import Section
from tests.unit.parsers.files import CHINESE, GERMAN, write_pdf

if TYPE_CHECKING:
    from pathlib import Path


def _document() -> Any:
    return cast("Any", pymupdf.open())


def _lines(*lines: tuple[str, float, float]) -> list[TextLine]:
    return [
        TextLine(
            text=text,
            top=top,
            left=left,
            size=10,
            right=left + 5 * len(text),
            bottom=top + 10,
            base=top + 8,
        )
        for text, top, left in lines
    ]


def test_pages_with_headings(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_pdf(path)
    assert list(pdf.parse(path)) == [
        Section(
            text=f"Holidays\n\n{GERMAN}\n\nThe rules are the same for every office.",
            anchor="p. 1",
            headings=("Holidays",),
        ),
        Section(text=f"Reports\n\n{CHINESE}", anchor="p. 2", headings=("Reports",)),
    ]


def test_the_outline_names_the_headings(tmp_path: Path) -> None:
    document = _document()
    for number in range(1, 4):
        page = document.new_page()
        page.insert_text((72, 200), f"{number}.1 Part {number}", fontsize=11)
        page.insert_text((72, 300), f"Words of part {number}.", fontsize=11)
    document.set_toc(
        [[1, "Book", 1], [2, "Part 1", 1], [2, "Part 2", 2], [1, "Appendix", 3], [2, "Part 3", 3]]
    )
    path = tmp_path / "file"
    document.save(path)
    words = [section for section in pdf.parse(path) if "Words" in section.text]
    assert [(section.anchor, section.headings) for section in words] == [
        ("p. 1", ("Book", "Part 1")),
        ("p. 2", ("Book", "Part 2")),
        ("p. 3", ("Appendix", "Part 3")),
    ]


def test_running_headers_and_page_numbers_come_once(tmp_path: Path) -> None:
    document = _document()
    for number in range(1, 6):
        page = document.new_page()
        page.insert_text((72, 40), "Staff handbook", fontsize=9)
        page.insert_text((72, 300), f"Rule {number} is kept.", fontsize=11)
        page.insert_text((72, 820), f"Page {number} of 5", fontsize=9)
        page.insert_text((500, 60), f"{number + 2}", fontsize=9)
    path = tmp_path / "file"
    document.save(path)
    text = "\n".join(section.text for section in pdf.parse(path))
    assert text.count("Staff handbook") == 1
    assert text.count("Page ") == 1
    assert text.split().count("4") == 1, "the rule of that number, and no page number"
    assert [f"Rule {number} is kept." in text for number in range(1, 6)] == [True] * 5


def test_numbers_at_the_edge_that_are_no_page_numbers_stay(tmp_path: Path) -> None:
    document = _document()
    for invoice in (1041, 2077, 3120):
        page = document.new_page()
        page.insert_text((72, 40), f"Invoice {invoice}", fontsize=9)
        page.insert_text((72, 300), "Thank you for your order.", fontsize=11)
    path = tmp_path / "file"
    document.save(path)
    text = "\n".join(section.text for section in pdf.parse(path))
    assert all(f"Invoice {invoice}" in text for invoice in (1041, 2077, 3120))


def test_a_table_comes_row_by_row(tmp_path: Path) -> None:
    document = _document()
    page = document.new_page()
    rows = [
        ("Office", "Days", "Manager"),
        ("Köln", "30", "Weber"),
        ("Wien", "25", "Huber"),
        ("Bern", "27", "Frei"),
    ]
    # Drawn column by column, as some programs do.
    for column in range(3):
        for number, row in enumerate(rows):
            page.insert_text((72 + 120 * column, 100 + 20 * number), row[column], fontsize=11)
    path = tmp_path / "file"
    document.save(path)
    tables = [section.text for section in pdf.parse(path) if section.kind == "table"]
    assert tables == ["\n".join(" | ".join(row) for row in rows)]


def test_pictures_only_need_text_recognition(tmp_path: Path) -> None:
    document = _document()
    page = document.new_page()
    page.draw_rect((100, 100, 200, 200), fill=(1, 0, 0))
    path = tmp_path / "file"
    document.save(path)
    with pytest.raises(EmptyDocument, match="has no text in it"):
        list(pdf.parse(path))


def test_a_password_is_asked_for(tmp_path: Path) -> None:
    document = _document()
    document.new_page().insert_text((72, 72), "secret")
    path = tmp_path / "file"
    document.save(path, encryption=cast("Any", pymupdf).PDF_ENCRYPT_AES_256, user_pw="abc", owner_pw="def")
    with pytest.raises(EncryptedFile):
        list(pdf.parse(path))


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["The infra-", "structure of the harbour"], "The infrastructure of the harbour"),
        (["die Vorausset-", "zung"], "die Voraussetzung"),
        (["state-of-the-", "art cranes"], "state-of-the-art cranes"),
        (["a well-", "known rule"], "a well-known rule"),
        (["Ost-", "West"], "Ost-West"),
        (["pre-", "and post-war"], "pre- and post-war"),
        (["Ein-", "und Ausgang"], "Ein- und Ausgang"),
        (["soft\u00ad", "ware"], "software"),
        (["季度报告显示，华东区", "的退货率下降了"], "季度报告显示，华东区的退货率下降了"),
        (["Short", "A much longer second line of text"], "Short\nA much longer second line of text"),
    ],
)
def test_paragraphs_are_mended(lines: list[str], text: str) -> None:
    drawn = _lines(*((line, 100.0 + 12 * number, 72.0) for number, line in enumerate(lines)))
    assert paragraph(drawn, "elsewhere a well-known fact") == text


def test_columns_drawn_line_by_line_are_read_one_after_the_other() -> None:
    block = [
        line
        for number in range(4)
        for line in _lines(
            (f"The left column tells of the harbour {number}.", 100 + 12 * number, 60),
            (f"The right column tells of the boilers {number}.", 100 + 12 * number, 320),
        )
    ]
    left, right = arranged([block])
    assert [line.text[:9] for line in left.lines] == ["The left "] * 4
    assert [line.text[:9] for line in right.lines] == ["The right"] * 4


def test_a_page_that_is_damaged_is_named(tmp_path: Path) -> None:
    document = _document()
    for number in range(3):
        document.new_page().insert_text((72, 72), f"Rule {number} of the harbour is kept by everybody.")
    document.update_object(document.page_xref(1), "<< /Type /Pages /Kids [] /Count 1 >>")
    document.save(tmp_path / "file")
    sections = list(pdf.parse(tmp_path / "file"))
    assert [section.text for section in sections if section.kind == "notice"] == [
        "1 of 3 pages could not be read (p. 3): it is damaged."
    ]
    assert sum("of the harbour" in section.text for section in sections) == 2
