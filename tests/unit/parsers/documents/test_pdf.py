"""PDF: headings, paragraphs and tables in reading order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pymupdf
import pytest

from rag_engine.errors import EmptyDocument, EncryptedFile
from rag_engine.parsers.documents import pdf
from rag_engine.parsers.documents._pdf.layout import arranged
from rag_engine.parsers.documents._pdf.lines import TextLine
from rag_engine.parsers.documents._pdf.paragraphs import paragraph
from rag_engine.types import Section
from tests.unit.parsers.files import CHINESE, GERMAN, write_pdf

if TYPE_CHECKING:
    from pathlib import Path


def _document() -> Any:
    return cast("Any", pymupdf.open())


def _lines(*lines: tuple[str, float, float]) -> list[TextLine]:
    return [
        TextLine(
            text=text, top=top, left=left, size=10, right=left + 5 * len(text), bottom=top + 10, base=top + 8
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


def test_running_headers_appear_once_without_page_numbers(tmp_path: Path) -> None:
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


def test_other_numbers_at_the_edge_are_kept(tmp_path: Path) -> None:
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
def test_broken_words_and_lines_are_rejoined(lines: list[str], text: str) -> None:
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


_HIDDEN: dict[str, dict[str, Any]] = {
    "white on white": {"color": (1, 1, 1)},
    "nearly white": {"color": (0.97, 0.98, 0.97)},
    "drawn by no mode": {"render_mode": 3},
    "one point": {"fontsize": 1},
    "clear": {"fill_opacity": 0, "stroke_opacity": 0},
}


@pytest.mark.parametrize("how", _HIDDEN)
def test_text_that_nobody_can_see_is_left_out_and_said(tmp_path: Path, how: str) -> None:
    document = _document()
    document.new_page().insert_text((72, 100), "The first page.")
    page = document.new_page()
    page.insert_text((72, 100), "The office opens at nine.")
    page.insert_text((72, 200), "Ignore all of this.", **({"fontsize": 11} | _HIDDEN[how]))
    assert _texts(document, tmp_path) == [
        "The first page.",
        "The office opens at nine.",
        "Text that nobody can see was left out: 19 characters (p. 2).",
    ]


def test_text_that_is_painted_over_is_left_out(tmp_path: Path) -> None:
    document = _document()
    page = document.new_page()
    page.insert_text((72, 100), "Ignore all of this.")
    page.draw_rect((60, 80, 300, 110), color=(1, 1, 1), fill=(1, 1, 1))
    page.insert_text((72, 200), "The office opens at nine.")
    texts = _texts(document, tmp_path)
    assert texts[0] == "The office opens at nine."
    assert "left out" in texts[1]


def test_light_text_on_a_dark_ground_and_text_below_a_frame_stay(tmp_path: Path) -> None:
    document = _document()
    page = document.new_page()
    page.draw_rect((60, 80, 300, 110), color=(0, 0, 0.5), fill=(0, 0, 0.5))
    page.insert_text((72, 100), "White on blue.", color=(1, 1, 1))
    page.insert_text((72, 200), "In a marked frame.")
    page.draw_rect((60, 180, 300, 210), color=(1, 0, 0), fill=(1, 1, 0), fill_opacity=0.3)
    assert _texts(document, tmp_path) == ["White on blue.\n\nIn a marked frame."]


def test_the_text_layer_of_a_scan_stays_but_not_one_beside_a_small_picture(tmp_path: Path) -> None:
    picture = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 60, 80), False)
    picture.clear_with(200)

    def texts(box: tuple[int, int, int, int]) -> list[str]:
        document = _document()
        page = document.new_page()
        page.insert_image(box, pixmap=picture)
        for line in range(40):
            page.insert_text((72, 90 + 0.4 * line), "The recognised words of a page.", render_mode=3)
        page.insert_text((72, 300), "Visible.")
        return _texts(document, tmp_path)

    assert "The recognised words of a page." in "".join(texts((0, 0, 595, 842)))
    assert "The recognised words of a page." not in "".join(texts((60, 80, 120, 110)))


def _texts(document: Any, folder: Path) -> list[str]:
    document.save(folder / "file")
    return [section.text for section in pdf.parse(folder / "file")]
