"""Numbers and bullets that Word displays without storing them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rag_engine.parsers._shared.numerals import numeral
from rag_engine.parsers.documents import docx
from tests.unit.parsers.ooxml import paragraph, part, style, write_word

if TYPE_CHECKING:
    from pathlib import Path


def _level(depth: int, way: str, text: str, more: str = "") -> str:
    return f'<w:lvl w:ilvl="{depth}"><w:start w:val="1"/><w:numFmt w:val="{way}"/>{more}<w:lvlText w:val="{text}"/></w:lvl>'


def _numbering(*levels: str, more: str = "") -> str:
    inside = (
        f'<w:abstractNum w:abstractNumId="5">{"".join(levels)}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="5"/></w:num>'
    )
    return part("w:numbering", inside + more)


def _item(text: str, depth: int = 0, number: str = "1", named: str = "") -> str:
    numbered = f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/></w:numPr>'
    return paragraph(text, named, numbered)


def _lines(path: Path) -> list[str]:
    return [line for section in docx.parse(path) for line in section.text.splitlines() if line]


def test_numbers_letters_and_bullets_nested(tmp_path: Path) -> None:
    path = tmp_path / "file"
    numbering = _numbering(
        _level(0, "decimal", "%1."), _level(1, "lowerLetter", "%2)"), _level(2, "bullet", "•")
    )
    body = (
        _item("apply")
        + _item("by mail", 1)
        + _item("early", 2)
        + _item("in person", 1)
        + _item("wait")
        + _item("x", 1)
    )
    write_word(path, body, numbering=numbering)
    assert _lines(path) == [
        *("1. apply", "  a) by mail", "    - early", "  b) in person"),
        *("2. wait", "  a) x"),
    ]
    assert {section.kind for section in docx.parse(path)} == {"list"}


def test_headings_are_numbered_as_shown(tmp_path: Path) -> None:
    path = tmp_path / "file"
    styles = part(
        "w:styles",
        style("H1", "heading 1", '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>')
        + style("H2", "heading 2", '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>')
        + style("Own", "Our second heading", '<w:basedOn w:val="H2"/>'),
    )
    numbering = _numbering(
        _level(0, "upperRoman", "Part %1", '<w:pStyle w:val="H1"/>'),
        _level(1, "decimal", "%1.%2", '<w:pStyle w:val="H2"/><w:isLgl/>'),
    )
    body = (
        paragraph("Leave", "H1")
        + paragraph("Sick", "H2")
        + paragraph("Rules", "H1")
        + paragraph("Late", "H2")
    )
    write_word(path, body + paragraph("Call."), styles=styles, numbering=numbering)
    assert [(section.anchor, section.headings) for section in docx.parse(path)] == [
        ("§ Part I Leave", ("Part I Leave",)),
        ("§ 1.1 Sick", ("Part I Leave", "1.1 Sick")),
        ("§ Part II Rules", ("Part II Rules",)),
        ("§ 2.1 Late", ("Part II Rules", "2.1 Late")),
    ]


def test_a_list_that_restarts_and_one_that_continues(tmp_path: Path) -> None:
    path = tmp_path / "file"
    more = (
        '<w:num w:numId="2"><w:abstractNumId w:val="5"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/>'
        '</w:lvlOverride></w:num><w:num w:numId="3"><w:abstractNumId w:val="5"/></w:num>'
    )
    body = _item("a") + _item("b") + _item("c", number="2") + _item("d", number="2") + _item("e", number="3")
    write_word(path, body, numbering=_numbering(_level(0, "decimal", "%1."), more=more))
    assert _lines(path) == ["1. a", "2. b", "1. c", "2. d", "3. e"]


def test_deleted_items_are_not_counted(tmp_path: Path) -> None:
    path = tmp_path / "file"
    deleted = (
        '<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr><w:rPr><w:del/></w:rPr></w:pPr>'
        "<w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>"
    )
    write_word(path, _item("a") + deleted + _item("b"), numbering=_numbering(_level(0, "decimal", "%1.")))
    assert _lines(path) == ["1. a", "2. b"]


def test_bullets_with_a_meaning(tmp_path: Path) -> None:
    path = tmp_path / "file"
    font = '<w:rPr><w:rFonts w:ascii="Wingdings" w:hAnsi="Wingdings"/></w:rPr></w:lvl>'
    level = _level(0, "bullet", "\uf0fc").replace("</w:lvl>", font)
    write_word(path, _item("paid"), numbering=_numbering(level))
    assert _lines(path) == ["✓ paid"]


@pytest.mark.parametrize(
    "numbering", ["", "<w:num/>", '<w:num w:numId="1"><w:abstractNumId w:val="9"/></w:num>']
)
def test_broken_numbering_loses_no_text(tmp_path: Path, numbering: str) -> None:
    path = tmp_path / "file"
    body = _item("first", 77, "1") + _item("second", -3, "x") + _item("third", named="ListBullet")
    styles = part("w:styles", style("ListBullet", "List Bullet"))
    write_word(path, body, numbering=part("w:numbering", numbering), styles=styles)
    assert [line.lstrip("- ") for line in _lines(path)] == ["first", "second", "third"]


@pytest.mark.parametrize(
    ("number", "way", "shown"),
    [
        (4, "lowerRoman", "iv"),
        (1999, "upperRoman", "MCMXCIX"),
        (27, "lowerLetter", "aa"),
        (3, "decimalZero", "03"),
        (22, "ordinal", "22nd"),
        (112, "ordinal", "112th"),
        (21, "ordinalText", "Twenty-first"),
        (40, "ordinalText", "Fortieth"),
        (305, "cardinalText", "Three hundred five"),
        (12, "chineseCounting", "十二"),
        (105, "chineseCountingThousand", "一百零五"),
        (30, "japaneseCounting", "三十"),
        (2, "ideographTraditional", "乙"),
        (3, "russianLower", "в"),
        (5, "decimalEnclosedCircle", "⑤"),
        (7, "nobody knows", "7"),
        (0, "upperRoman", "0"),
        (10**9, "cardinalText", "1000000000"),
    ],
)
def test_numerals(number: int, way: str, shown: str) -> None:
    assert numeral(number, way) == shown
