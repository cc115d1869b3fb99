"""HTML: content against boilerplate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import UnsupportedFile
from rag_engine.parsers.texts import html
from tests.unit.parsers.parsed import parsed, places

if TYPE_CHECKING:
    from pathlib import Path

_WORDS = "The crane is inspected every eleven weeks, and defects are reported to the foreman. " * 8


def _text(tmp_path: Path, body: str) -> str:
    return "\n".join(section.text for section in parsed(tmp_path, html.parse, body))


def test_menus_banners_and_advertisements_are_skipped(tmp_path: Path) -> None:
    page = f"""<body><div class="navbar"><a href="/">HOME</a> <a href="/x">SHOP</a></div>
<ul id="main-menu"><li><a href="/">MENU</a></li></ul><div role="navigation">CRUMBS</div>
<div id="cookie-banner"><p>COOKIES</p><button>OK</button></div><div id="onetrust-consent-sdk">CONSENT</div>
<div class="ad-slot">BUY</div><template>TEMPLATE</template><noscript>NOSCRIPT</noscript>
<h2>Rules<a class="headerlink" href="#r">¶</a></h2><p>{_WORDS}</p><footer>Office: Kai 7</footer></body>"""
    text = _text(tmp_path, page)
    assert "eleven weeks" in text
    assert "Kai 7" in text
    assert not any(
        word in text for word in ("HOME", "SHOP", "MENU", "CRUMBS", "COOKIES", "CONSENT", "BUY", "¶")
    )
    assert not any(word in text for word in ("TEMPLATE", "NOSCRIPT"))


@pytest.mark.parametrize(
    "body",
    [
        f"<nav><p>{_WORDS}</p></nav><p>Top</p>",
        f'<div class="cookie-notice"><h1>How we use cookies</h1><p>{_WORDS * 9}</p></div>',
        f'<div style="display:none" id="app"><p>{_WORDS}</p></div>',
        f'<div class="menu"><h2>Lunch</h2><p>{_WORDS}</p></div>',
        f"<noscript><p>{_WORDS}</p></noscript>",
        f'<div class="loading" hidden><main>{_WORDS}</main></div>',
    ],
)
def test_unusual_page_keeps_its_words(tmp_path: Path, body: str) -> None:
    assert "eleven weeks" in _text(tmp_path, f"<html><body>{body}</body></html>")


@pytest.mark.parametrize(
    ("style", "stays"),
    [
        ("font-size:0", False),
        ("color: red; font-size: 0px !important; margin: 0", False),
        ("font-size:1px", False),
        ("font-size:.5pt", False),
        ("font-size:1em", True),
        ("font-size:10px", True),
        ("font-size:0.9rem", True),
        ("font-size:100%", True),
    ],
)
def test_letters_without_size_are_left_out_and_said(tmp_path: Path, style: str, stays: bool) -> None:
    page = f'<p>{_WORDS}</p><p>Seen <span style="{style}">secret</span> words.</p>'
    sections = parsed(tmp_path, html.parse, page)
    assert ("secret" in sections[0].text) is stays
    assert [section.text for section in sections if section.kind == "notice"] == (
        [] if stays else ["Text that nobody can see was left out: 6 characters."]
    )


def test_letters_without_size_in_cells_and_headings_are_left_out(tmp_path: Path) -> None:
    hidden = '<span style="font-size:0">secret</span>'
    rows = f"<tr><th>Office</th><th>Days{hidden}</th></tr><tr><td>Köln</td><td>30{hidden}</td></tr>"
    sections = parsed(tmp_path, html.parse, f"<h2>Leave{hidden}</h2><p>{_WORDS}</p><table>{rows}</table>")
    assert "secret" not in "".join(section.text for section in sections)
    assert sections[-1].text == "Text that nobody can see was left out: 18 characters."


def test_a_frame_without_size_around_letters_with_size_stays(tmp_path: Path) -> None:
    page = f'<table style="font-size:0"><tr><td style="font-size:13px">{_WORDS}</td></tr></table>'
    assert "eleven weeks" in _text(tmp_path, page)
    assert "eleven weeks" in _text(tmp_path, f'<div style="font-size:0"><p class="lead">{_WORDS}</p></div>')


def test_spans_and_header_rows(tmp_path: Path) -> None:
    table = """<table><thead><tr><th rowspan=2>Team</th><th colspan=2>Cost</th></tr><tr><th>2024</th><th>2025</th></tr></thead>
<tbody><tr><th rowspan="2">Ops</th><td>1</td><td>2</td></tr><tr><td colspan="2">none</td></tr>
<tr><td>Dev</td><td>3<br>4</td><td><ul><li>a<li>b</ul></td></tr></table>"""
    (section,) = parsed(tmp_path, html.parse, table)
    assert section.kind == "table"
    assert section.text == "Team | Cost / 2024 | Cost / 2025\nOps | 1 | 2\nOps | none\nDev | 3 4 | a b"


def test_nested_tables_and_layout_tables(tmp_path: Path) -> None:
    inner = "<table><tr><td>x</td><td>1</td></tr><tr><td>y</td><td>2</td></tr></table>"
    nested = f"<table><caption>Berths</caption><tr><th>A</th><th>B</th></tr><tr><td>a</td><td>{inner}</td></tr></table>"
    layout = f"<table><tr><td>{nested}</td><td><p>{_WORDS * 3}</p></td></tr></table>"
    sections = parsed(tmp_path, html.parse, layout)
    assert [section.text for section in sections[:2]] == ["Berths", "A | B\na | x 1; y 2"]
    assert [section.kind for section in sections] == ["prose", "table", "prose"]


def test_absurd_spans_are_bounded(tmp_path: Path) -> None:
    table = '<table><tr><td colspan="999999" rowspan="99999">a</td><td rowspan=-1>b</td></tr></table>'
    assert _text(tmp_path, table).startswith("a")


def test_lists(tmp_path: Path) -> None:
    page = """<ol start=3><li>three<ol><li>inner</ol><li value=9><p>nine</p><p>more</p></ol>
<dl><dt>Berth</dt><dd>Where a ship lies.</dd></dl><ul><li><input type=checkbox checked> done<li><input type=checkbox> open</ul>
<ul class="lst-kix_abc-0"><li>G one</ul><ul class="lst-kix_abc-1"><li>G deep</ul>"""
    assert _text(tmp_path, page).splitlines() == [
        *("3. three", "  1. inner", "9. nine", "  more", "Berth", ": Where a ship lies."),
        *("- [x] done", "- [ ] open", "- G one", "  - G deep"),
    ]


def test_alternative_texts(tmp_path: Path) -> None:
    page = """<p><ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp>字<rt>じ</rt></ruby> in 5 m<sup>2</sup>, Mo&shy;le</p>
<figure><img src="x.png" alt="Chart of berths"><figcaption>Figure 1</figcaption></figure><img alt="a.png">
<p>So <math alttext="{\\displaystyle x^{2}}"><mi>x</mi></math> it is.</p><details><summary>More</summary>Inside</details>
<form><fieldset><legend>Ship</legend><label>Name <input value="v"></label></fieldset></form>"""
    assert _text(tmp_path, page).split("\n\n") == [
        *("漢字(かんじ) in 5 m², Mole", "Chart of berths", "Figure 1"),
        *("So {\\displaystyle x^{2}} it is.", "More", "Inside", "Ship", "Name"),
    ]


def test_page_title_without_a_heading(tmp_path: Path) -> None:
    page = (
        "<head><title>Rules | Harbour</title></head><body><p>Before.</p><h2>Cranes</h2><p>After.</p></body>"
    )
    assert places(parsed(tmp_path, html.parse, page)) == [
        ("§ Rules | Harbour", ("Rules | Harbour",), "Rules | Harbour\n\nBefore."),
        ("§ Cranes", ("Rules | Harbour", "Cranes"), "Cranes\n\nAfter."),
    ]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            '<?xml version="1.0" encoding="iso-8859-2"?><html><p>Příliš žluťoučký</p></html>'.encode(
                "iso-8859-2"
            ),
            "žluťoučký",
        ),
        (
            '<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS"><p>在庫①</p>'.encode(
                "cp932"
            ),
            "在庫①",
        ),
        ('<meta charset="iso-8859-1"><p>It’s “right” – 5 €</p>'.encode("cp1252"), "It’s “right” – 5 €"),
        ('<meta charset="iso-8859-1"><p>schön</p>'.encode(), "schön"),
        (b'<meta charset="utf-16"><p>plain ascii</p>', "plain ascii"),
        (b'<meta charset="windows-1251"><p>' + "Кран проверяют".encode("cp1251"), "Кран проверяют"),
    ],
)
def test_wrong_encoding_declarations(tmp_path: Path, content: bytes, words: str) -> None:
    assert words in parsed(tmp_path, html.parse, content)[0].text


def test_text_after_the_closing_tag_is_read(tmp_path: Path) -> None:
    page = "<html><body><p>One.</p></body></html>\n"
    assert _text(tmp_path, page * 2 + "Three.").split() == ["One.", "One.", "Three."]


def test_framesets_are_unsupported(tmp_path: Path) -> None:
    page = '<html><frameset cols="20%,80%"><frame src="a.html"><frame src="b.html"></frameset></html>'
    with pytest.raises(UnsupportedFile, match="frames"):
        parsed(tmp_path, html.parse, page)
