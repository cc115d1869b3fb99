"""RTF: code pages, Unicode, hidden text, tables, lists, notes and encapsulated HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import CorruptFile, EmptyDocument
from rag_engine.parsers.documents import rtf
from rag_engine.parsing.media_types import parser_name

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.types import Section

_HEAD = r"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0 Arial;}{\f1\fcharset134 SimSun;}{\f2\fcharset204 Arial;}{\f3\fcharset2 Symbol;}}"
_STYLES = r"{\stylesheet{\s0 Normal;}{\s1\sbasedon0 heading 1;}{\s2\outlinelevel1 \'dcberschrift 2;}{\s5\sbasedon1 Mine;}}"


def _read(folder: Path, body: str, head: str = _HEAD) -> list[Section]:
    path = folder / "file.rtf"
    path.write_bytes(f"{head}{body}}}".encode("latin-1"))
    assert parser_name(path, path.name) == "rtf"
    return list(rtf.parse(path))


def _said(folder: Path, body: str, head: str = _HEAD) -> str:
    return "\n".join(section.text for section in _read(folder, body, head))


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (r"caf\'e9 \'80", "café €"),
        (r"10{\super 6} m\super 2\nosupersub 3, 1{\super st}", "10⁶ m²3, 1st"),
        (r"\f1 \'b1\'a8\'b8\'e6\f0  \'e9", "报告 é"),
        (r"{\f2 \'ce\'f2\'f7\'b8\'f2}", "Отчёт"),
        (r"\u8364?\u-10179?\u-8704? \uc2\u20320\'c4\'e3\uc0\u22909!", "€😀 你好!"),
        (r"{\upr{ascii}{\*\ud unicode}}", "unicode"),
        (r"a\~b\_c\-d \{e\}\\ \emdash\tab f", "a\u00a0b-cd {e}\\ —\tf"),
        ("one\\\ntwo\r\nthree", "one\n\ntwothree"),
        (r"\f3\u-3913?\f0  x", "• x"),
        (r"{\f1 \'81\\}", b"\x81\\".decode("gb18030")),
    ],
)
def test_characters(tmp_path: Path, body: str, text: str) -> None:
    assert _said(tmp_path, body) == text


def test_hidden_text_is_skipped(tmp_path: Path) -> None:
    body = (
        r"{\info{\title secret}}{\*\unknown stuff}{\pict 89504e47}\v hidden\v0 seen {\deleted gone} on"
        r"{\field{\*\fldinst HYPERLINK http://x}{\fldrslt link}}{\xe index}"
        r"{\field{\*\fldinst TOC \\o}{\fldrslt Leave 3\par Sick 4}} end{\pict\bin5 }}}{{}"
    )
    assert _said(tmp_path, body) == "seen  onlink end"


def test_headings_by_style_and_outline(tmp_path: Path) -> None:
    body = (
        r"\pard\s1 Leave\par\pard Thirty.\par\pard\s2 Sick\par\pard Call.\par\pard\s5 Own\par\pard\plain Text\par"
        r"\pard\outlinelevel0 Last\par"
    )
    sections = _read(tmp_path, _STYLES + body)
    assert [section.headings for section in sections] == [("Leave",), ("Leave", "Sick"), ("Own",), ("Last",)]
    assert sections[1].anchor == "§ Sick"


def test_merged_cells_and_nested_tables(tmp_path: Path) -> None:
    body = (
        r"\trowd\cellx1\cellx2 \pard\intbl Region\cell Office\par two\cell\row"
        r"\trowd\clvmgf\cellx1\cellx2 \pard\intbl North\cell K\'f6ln\cell\row"
        r"\trowd\clvmrg\cellx1\cellx2 \pard\intbl\cell\pard\intbl\itap2 in\nestcell ner\nestcell"
        r"{\*\nesttableprops\trowd\cellx1\cellx2\nestrow}{\nonesttables\par}\pard\intbl Bonn\cell\row\pard After\par"
    )
    table, after = _read(tmp_path, body)
    assert table.kind == "table"
    assert table.text == "Region | Office two\nNorth | Köln\nNorth | in, ner Bonn"
    assert after.text == "After"


def test_lists_notes_and_margins(tmp_path: Path) -> None:
    body = (
        r"{\header ACME\par}{\headerf ACME\par}{\footer\chpgn\par}\pard\s1 Rules\par"
        r"\pard{\listtext 1.\tab}\ls1 one\par{\listtext\f3\'b7\tab}\ls1\ilvl1 inner\par\pard Text{\super\chftn"
        r"{\footnote\pard\chftn  See the law.}}{\footnote\ftnalt At the end.} on"
        r"{\*\atnid Z}{\*\atnauthor Zo\'eb}{\*\annotation\pard Really?}.\par"
    )
    sections = _read(tmp_path, _STYLES + body)
    assert [(section.anchor, section.text) for section in sections] == [
        ("§ Rules", "Rules"),
        ("§ Rules", "1. one\n  - inner"),
        ("§ Rules", "Text on."),
        ("footnote 1", "Footnote 1: See the law."),
        ("endnote 1", "Endnote 1: At the end."),
        ("comment 1", "Comment 1 by Zoë: Really?"),
        ("§ Header", "ACME"),
    ]


def test_encapsulated_html(tmp_path: Path) -> None:
    head = r"{\rtf1\ansi\ansicpg1252\fromhtml1 \deff0{\fonttbl{\f0 Arial;}}"
    body = (
        r"{\*\htmltag64 <h1>}Leave{\*\htmltag72 </h1>}\htmlrtf \par \htmlrtf0 {\*\htmltag64 <p>}Caf\'e9 "
        r"{\*\htmltag84 &lt;}3{\*\mhtmltag84 <img>}{\*\htmltag72 </p>}"
    )
    [section] = _read(tmp_path, body, head)
    assert section.headings == ("Leave",)
    assert section.text == "Leave\n\nCafé <3"


def test_raw_utf8_despite_a_declared_code_page(tmp_path: Path) -> None:
    path = tmp_path / "file.rtf"
    path.write_bytes(_HEAD.encode() + "季度报告".encode() + b"}")
    assert [section.text for section in rtf.parse(path)] == ["季度报告"]


def test_damaged_and_hostile_rtf_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "file.rtf"
    path.write_bytes(b"no RTF at all")
    with pytest.raises(CorruptFile):
        list(rtf.parse(path))
    with pytest.raises(EmptyDocument):
        _read(tmp_path, r"\pard\par")
    assert _said(tmp_path, "{" * 100_000 + "x" + "}" * 100_000 + "deep") == "deep"
    for braces in "{}":
        with pytest.raises(CorruptFile):
            _read(tmp_path, braces * 300_000)
    assert _said(tmp_path, r"cut \bin99999999999999 off") == "cut"
    assert _said(tmp_path, r"}}}} after \u99999999999? \uc99999999 \f-5 \'zz") != ""
