"""Word text that nobody can see is left out and said; text that can be seen stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rag_engine.parsers.documents import docx as docx_parser
from tests.unit.parsers.ooxml import paragraph, part, style, write_word

if TYPE_CHECKING:
    from pathlib import Path

_WHITE = '<w:color w:val="FFFFFF"/>'
_DARK = '<w:shd w:val="clear" w:color="auto" w:fill="1F3864"/>'
_SEEN = paragraph("Thirty days of leave.")
_NOTICE = "Text that nobody can see was left out: 6 characters."


def _run(properties: str, text: str = "secret") -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>"


def _line(properties: str, above: str = "") -> str:
    return f"<w:p><w:pPr>{above}</w:pPr>{_run(properties)}</w:p>"


def _cell(inside: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{inside}</w:tc>"


def _table(*rows: str, properties: str = "") -> str:
    return f"<w:tbl><w:tblPr>{properties}</w:tblPr>{''.join(f'<w:tr>{row}</w:tr>' for row in rows)}</w:tbl>"


def _texts(tmp_path: Path, body: str, **parts: str) -> list[str]:
    path = tmp_path / "file"
    write_word(path, body, **parts)
    return [section.text for section in docx_parser.parse(path)]


def _box(fill: str) -> str:
    return (
        '<w:p><w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wps:wsp>'
        f"<wps:spPr>{fill}</wps:spPr><wps:txbx><w:txbxContent>{_line(_WHITE)}</w:txbxContent></wps:txbx>"
        "</wps:wsp></w:drawing></mc:Choice></mc:AlternateContent></w:r></w:p>"
    )


@pytest.mark.parametrize(
    "hidden",
    [
        _line("<w:vanish/>"),
        _line(_WHITE),
        _line('<w:color w:val="FEFEFE"/>'),
        _line('<w:sz w:val="2"/>'),
        _line(f'{_WHITE}<w:shd w:val="clear" w:fill="FFFFFF"/>'),
        _line('<w:color w:val="000000"/><w:highlight w:val="black"/>'),
        _line('<w:rStyle w:val="Pale"/>'),
        _line("", '<w:pStyle w:val="Ghost"/>'),
        _line("", '<w:pStyle w:val="Tiny"/>'),
        _line("", '<w:pStyle w:val="Hidden"/>'),
        _table(_cell(paragraph("Office")), _cell(_line(_WHITE))),
        _table(_cell(paragraph("Office")), _cell(_line(_WHITE)), properties='<w:tblStyle w:val="Plain"/>'),
        _box('<a:solidFill><a:srgbClr val="FFFFFF"/></a:solidFill>'),
    ],
)
def test_hidden_text_is_left_out_and_said(tmp_path: Path, hidden: str) -> None:
    styles = part(
        "w:styles",
        style("Pale", "Pale", f"<w:rPr>{_WHITE}</w:rPr>", kind="character")
        + style("Ghost", "Ghost", f"<w:rPr>{_WHITE}</w:rPr>")
        + style("Tiny", "Tiny", '<w:rPr><w:sz w:val="2"/></w:rPr>')
        + style("Hidden", "Hidden", "<w:rPr><w:vanish/></w:rPr>")
        + style("Plain", "Plain", kind="table"),
    )
    texts = _texts(tmp_path, _SEEN + hidden, styles=styles)
    assert "secret" not in "\n".join(texts)
    assert texts[0].startswith("Thirty days of leave.")
    assert texts[-1] == _NOTICE


@pytest.mark.parametrize(
    "seen",
    [
        _line(f"{_WHITE}{_DARK}"),
        _line(f'{_WHITE}<w:highlight w:val="darkBlue"/>'),
        _line(_WHITE, _DARK),
        _line(_WHITE, '<w:pStyle w:val="Banner"/>'),
        _line(f'{_WHITE}<w:shd w:val="solid" w:color="000000" w:fill="FFFFFF"/>'),
        _line(f"{_WHITE}<w:outline/>"),
        _line('<w:color w:val="D9D9D9"/>'),
        _line('<w:color w:val="auto"/><w:highlight w:val="black"/>'),
        _line('<w:sz w:val="12"/>'),
        _line(f'{_WHITE}<w:rPrChange w:id="1"><w:rPr/></w:rPrChange>', _DARK),
        _table(_cell(_line(_WHITE), _DARK), _cell(paragraph("30"))),
        _table(_cell(paragraph("Office")), _cell(_line(_WHITE)), properties=_DARK),
        _table(_cell(paragraph("Office")), _cell(_line(_WHITE)), properties='<w:tblStyle w:val="Derived"/>'),
        _table(_cell(_table(_cell(_line(_WHITE))), _DARK)),
        _table(_cell(paragraph("Office")), f"<w:tblPrEx>{_DARK}</w:tblPrEx>{_cell(_line(_WHITE))}"),
        _box('<a:solidFill><a:srgbClr val="203040"/></a:solidFill>'),
        _box("<a:noFill/>"),
    ],
)
def test_text_that_can_be_seen_stays(tmp_path: Path, seen: str) -> None:
    styles = part(
        "w:styles",
        style("Banner", "Banner", f"<w:pPr>{_DARK}</w:pPr>")
        + style(
            "Dark",
            "Dark",
            f'<w:tblStylePr w:type="firstRow"><w:tcPr>{_DARK}</w:tcPr></w:tblStylePr>',
            kind="table",
        )
        + style("Derived", "Derived", '<w:basedOn w:val="Dark"/>', kind="table"),
    )
    texts = _texts(tmp_path, _SEEN + seen, styles=styles)
    assert "secret" in "\n".join(texts)
    assert not any("nobody can see" in text for text in texts)


@pytest.mark.parametrize("defaults", [_WHITE, "<w:vanish/>", '<w:sz w:val="2"/>'])
def test_the_document_s_defaults_count(tmp_path: Path, defaults: str) -> None:
    seen = '<w:color w:val="000000"/><w:sz w:val="22"/><w:vanish w:val="0"/>'
    styles = part(
        "w:styles",
        f"<w:docDefaults><w:rPrDefault><w:rPr>{defaults}</w:rPr></w:rPrDefault></w:docDefaults>"
        + style("Normal", "Normal", f"<w:rPr>{seen}</w:rPr>").replace(
            "<w:style ", '<w:style w:default="1" ', 1
        )
        + style("Ghost", "Ghost"),
    )
    body = _SEEN + _line("", '<w:pStyle w:val="Ghost"/>')
    assert _texts(tmp_path, body, styles=styles) == ["Thirty days of leave.", _NOTICE]
    without = part(
        "w:styles",
        f"<w:docDefaults><w:rPrDefault><w:rPr>{defaults}</w:rPr></w:rPrDefault></w:docDefaults>"
        + style("Seen", "Seen", f"<w:rPr>{seen}</w:rPr>"),
    )
    body = paragraph("Thirty days of leave.", "Seen") + _line("")
    assert _texts(tmp_path, body, styles=without) == ["Thirty days of leave.", _NOTICE]


_BEHIND = (
    '<w:p><w:r><w:drawing><wp:anchor simplePos="0" behindDoc="1" locked="0"><wp:extent cx="{0}" cy="{0}"/>'
    "</wp:anchor></w:drawing></w:r></w:p>"
)


def test_white_text_over_a_large_picture_or_a_dark_page_stays(tmp_path: Path) -> None:
    assert "secret" in "\n".join(_texts(tmp_path, _SEEN + _line(_WHITE) + _BEHIND.format(7_000_000)))
    header = part(
        "w:hdr", _BEHIND.format(7_000_000).replace('behindDoc="1"', 'behindDoc="0"') + _line(_WHITE)
    )
    assert "secret" in "\n".join(_texts(tmp_path, _SEEN + _line(_WHITE), header=header))
    dark = f'<w:background w:color="101010"/><w:body>{_SEEN}{_line(_WHITE)}</w:body>'
    assert "secret" in "\n".join(_texts(tmp_path, f"</w:body>{dark}<w:body>"))
    assert "secret" not in "\n".join(_texts(tmp_path, _SEEN + _line(_WHITE) + _BEHIND.format(90_000)))
