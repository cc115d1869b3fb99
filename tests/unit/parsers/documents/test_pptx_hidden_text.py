"""PowerPoint text that nobody can see is left out and said; text that can be seen stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rag_engine.parsers.documents import pptx as pptx_parser
from tests.unit.parsers.ooxml import box, part, relations, slide, write_slides

if TYPE_CHECKING:
    from pathlib import Path

_WHITE = '<a:solidFill><a:srgbClr val="FFFFFF"/></a:solidFill>'
_DARK = '<a:solidFill><a:srgbClr val="1F3864"/></a:solidFill>'
_THEMED = '<a:solidFill><a:schemeClr val="{}"/></a:solidFill>'
_SIZE = '<p:sldSz cx="9144000" cy="6858000"/>'
_PLACE = (1_000_000, 3_000_000, 4_000_000, 500_000)


def _frame(place: tuple[int, int, int, int], more: str = "") -> str:
    left, top, width, height = place
    return f'<a:xfrm {more}><a:off x="{left}" y="{top}"/><a:ext cx="{width}" cy="{height}"/></a:xfrm>'


def _shape(
    letters: str = "",
    *,
    fill: str = "",
    place: tuple[int, int, int, int] = _PLACE,
    text: str = "secret",
    more: str = "",
    body: str = "",
    turned: str = "",
) -> str:
    words = letters if letters.startswith("<a:rPr") else f"<a:rPr>{letters}</a:rPr>"
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="1" name="x"/><p:nvPr/></p:nvSpPr><p:spPr>{_frame(place, turned)}{fill}</p:spPr>{more}'
        f"<p:txBody>{body}<a:p><a:r>{words}<a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"
    )


def _picture(place: tuple[int, int, int, int]) -> str:
    return (
        '<p:pic><p:nvPicPr><p:cNvPr id="2" name="x"/><p:nvPr/></p:nvPicPr>'
        f"<p:spPr>{_frame(place)}</p:spPr></p:pic>"
    )


def _cell(fill: str) -> str:
    words = f"<a:p><a:r><a:rPr>{_WHITE}</a:rPr><a:t>secret</a:t></a:r></a:p>"
    return (
        f"<p:graphicFrame><p:xfrm/><a:graphic><a:graphicData><a:tbl><a:tr><a:tc><a:txBody>{words}</a:txBody>"
        f"<a:tcPr>{fill}</a:tcPr></a:tc></a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>"
    )


def _background(fill: str) -> str:
    return f"<p:bg><p:bgPr>{fill}</p:bgPr></p:bg>"


def _read(tmp_path: Path, *shapes: str, background: str = "", more: str = "", below: str = "") -> list[str]:
    path = tmp_path / "file"
    seen = box("Thirty days of leave.", (0, 0, 3_000_000, 500_000))
    tree = f"<p:cSld>{background}<p:spTree>{seen}{''.join(shapes)}</p:spTree></p:cSld>{more}"
    colors = "".join(
        f'<a:{name}><a:srgbClr val="{value}"/></a:{name}>'
        for name, value in (("dk1", "000000"), ("lt1", "FFFFFF"))
    )
    parts = {
        "ppt/slides/_rels/slide0.xml.rels": relations({"r1": ("slideLayout", "../layout.xml")}),
        "ppt/layout.xml": part("p:sldLayout", "<p:cSld><p:spTree/></p:cSld>"),
        "ppt/_rels/layout.xml.rels": relations({"r1": ("slideMaster", "master.xml")}),
        "ppt/master.xml": part(
            "p:sldMaster",
            f'<p:cSld>{below}</p:cSld><p:clrMap bg1="lt1" tx1="dk1" bg2="lt1" tx2="dk1"/>',
        ),
        "ppt/_rels/master.xml.rels": relations({"r1": ("theme", "theme.xml")}),
        "ppt/theme.xml": part(
            "a:theme", f"<a:themeElements><a:clrScheme>{colors}</a:clrScheme></a:themeElements>"
        ),
    }
    write_slides(path, [part("p:sld", tree)], parts, _SIZE)
    return [section.text for section in pptx_parser.parse(path)]


@pytest.mark.parametrize(
    "hidden",
    [
        _shape(_WHITE),
        _shape(_THEMED.format("bg1")),
        _shape(_WHITE, fill=_WHITE),
        _shape(f"<a:ln><a:noFill/></a:ln>{_WHITE}<a:effectLst/>"),
        _shape(_WHITE, fill="<a:noFill/>"),
        _shape('<a:rPr sz="100"/>'),
        _shape("<a:noFill/>"),
        _shape('<a:solidFill><a:srgbClr val="000000"><a:alpha val="0"/></a:srgbClr></a:solidFill>'),
        _shape(body=f"<a:lstStyle><a:lvl1pPr><a:defRPr>{_WHITE}</a:defRPr></a:lvl1pPr></a:lstStyle>"),
        _shape(place=(20_000_000, 0, 1_000_000, 500_000)),
        _shape(place=(-3_000_000, 0, 1_000_000, 500_000)),
        f"<p:grpSp><p:grpSpPr>{_frame((0, 9_000_000, 100, 100))}</p:grpSpPr>{_shape()}</p:grpSp>",
        _shape(_WHITE) + _picture((6_000_000, 0, 1_000_000, 500_000)),
        _cell(_WHITE),
    ],
)
def test_hidden_text_is_left_out_and_said(tmp_path: Path, hidden: str) -> None:
    texts = _read(tmp_path, hidden)
    assert "secret" not in "\n".join(texts)
    assert texts[0].startswith("Thirty days of leave.")
    assert texts[-1] == "Text that nobody can see was left out: 6 characters (slide 1)."


@pytest.mark.parametrize(
    "seen",
    [
        _shape(_WHITE, fill=_DARK),
        _shape(_WHITE, fill="<a:gradFill/>"),
        _shape(_WHITE, more='<p:style><a:fillRef idx="1"><a:schemeClr val="accent1"/></a:fillRef></p:style>'),
        _shape(f"<a:ln>{_DARK}</a:ln>{_WHITE}"),
        _shape(_THEMED.format("tx1")),
        _shape(_THEMED.format("accent1")),
        _shape('<a:solidFill><a:schemeClr val="bg1"><a:lumMod val="50000"/></a:schemeClr></a:solidFill>'),
        _shape('<a:rPr sz="600"/>'),
        _shape(_WHITE) + _picture((0, 2_900_000, 8_000_000, 900_000)),
        _shape(_WHITE) + _shape(fill=_DARK, text=" ", place=(0, 2_900_000, 8_000_000, 900_000)),
        _shape(place=(-500_000, 0, 1_000_000, 500_000)),
        _shape(place=(-1_100_000, 3_000_000, 1_000_000, 4_000_000), turned='rot="2700000"'),
        _cell(_DARK),
        _cell(""),
    ],
)
def test_text_that_can_be_seen_stays(tmp_path: Path, seen: str) -> None:
    texts = _read(tmp_path, seen)
    assert "secret" in "\n".join(texts)
    assert not any("nobody can see" in text for text in texts)


def test_the_background_counts_wherever_it_comes_from(tmp_path: Path) -> None:
    dark = _background(_DARK)
    assert "secret" in "\n".join(_read(tmp_path, _shape(_WHITE), background=dark))
    assert "secret" in "\n".join(_read(tmp_path, _shape(_WHITE), below=f"{dark}<p:spTree/>"))
    banner = f"<p:spTree>{_shape(fill=_DARK, text=' ', place=(0, 2_900_000, 8_000_000, 900_000))}</p:spTree>"
    assert "secret" in "\n".join(_read(tmp_path, _shape(_WHITE), below=banner))
    assert "secret" not in "\n".join(
        _read(tmp_path, _shape(_WHITE), background=_background(_WHITE), below=dark)
    )


def test_only_the_first_background_of_a_theme_is_known(tmp_path: Path) -> None:
    themed = '<p:bg><p:bgRef idx="{}"><a:schemeClr val="bg1"/></p:bgRef></p:bg>'
    assert "secret" not in "\n".join(_read(tmp_path, _shape(_WHITE), background=themed.format(1001)))
    assert "secret" in "\n".join(_read(tmp_path, _shape(_WHITE), background=themed.format(1003)))


def test_white_text_that_changes_its_colour_stays(tmp_path: Path) -> None:
    timing = "<p:timing><p:animClr/></p:timing>"
    assert "secret" in "\n".join(_read(tmp_path, _shape(_WHITE), more=timing))


def test_hidden_text_of_the_master_is_left_out(tmp_path: Path) -> None:
    prompt = box("prompt", _PLACE, 'type="body"').replace("<a:r>", '<a:r><a:rPr sz="100"/>')
    texts = _read(tmp_path, below=f"<p:spTree>{_shape(_WHITE)}{_shape(text='Lumen Ltd')}{prompt}</p:spTree>")
    assert texts == [
        "Thirty days of leave.\n\nLumen Ltd",
        "Text that nobody can see was left out: 6 characters (slide 1).",
    ]


def test_a_shape_that_moves_onto_the_slide_stays(tmp_path: Path) -> None:
    outside = _shape(place=(20_000_000, 0, 1_000_000, 500_000))
    assert "secret" in "\n".join(_read(tmp_path, outside, more="<p:timing><p:animMotion/></p:timing>"))


@pytest.mark.parametrize("hidden", [_shape(_WHITE), _shape('<a:rPr sz="100"/>')])
def test_hidden_text_of_notes_is_left_out(tmp_path: Path, hidden: str) -> None:
    path = tmp_path / "file"
    notes = part("p:notes", f"<p:cSld><p:spTree>{box('Say hello.')}{hidden}</p:spTree></p:cSld>")
    parts = {
        "ppt/slides/_rels/slide0.xml.rels": relations({"r1": ("notesSlide", "../notes.xml")}),
        "ppt/notes.xml": notes,
    }
    write_slides(path, [slide(box("words"))], parts, _SIZE)
    assert [section.text for section in pptx_parser.parse(path)] == [
        "words",
        "Say hello.",
        "Text that nobody can see was left out: 6 characters (slide 1).",
    ]


def test_the_slides_are_named(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_slides(path, [slide(box("words"), _shape('<a:rPr sz="100"/>'))] * 12, more=_SIZE)
    notice = [section for section in pptx_parser.parse(path) if section.kind == "notice"]
    assert [one.anchor for one in notice] == ["slide 1"]
    assert notice[0].text.endswith("slide 9, slide 10 and 2 more).")
