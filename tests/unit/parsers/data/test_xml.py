"""XML: documents, data, feeds and attacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rag_engine.parsers.data import xml
from tests.unit.parsers.parsed import parsed, places

if TYPE_CHECKING:
    from pathlib import Path


def test_data_sections_by_element(tmp_path: Path) -> None:
    content = """<?xml version="1.0" encoding="windows-1252"?>
<ships xmlns:x="urn:x">
  <!-- not shown -->
  <ship id="7" x:flag="SE"><name>Malmö</name><note>A <b>fast</b> ship.</note></ship>
  <ship id="8"/>
</ships>""".encode("cp1252")
    assert places(parsed(tmp_path, xml.parse, content)) == [
        (
            "lines 2–5",
            (),
            "ships:\n  ship id=7 flag=SE:\n    name: Malmö\n    note: A fast ship.\n  ship id=8",
        )
    ]


def test_large_data_by_record_with_lines(tmp_path: Path) -> None:
    records = "".join(
        f"<book><title>Title {n}</title><text>{'word ' * 80}</text></book>\n" for n in range(50)
    )
    sections = parsed(tmp_path, xml.parse, f"<catalog>\n{records}</catalog>")
    assert all(len(section.text) < 2_000 for section in sections)
    (of_thirty,) = [section for section in sections if "Title 30\n" in section.text]
    assert of_thirty.anchor == "line 32"


def test_html_pages_in_feeds(tmp_path: Path) -> None:
    content = "<rss><channel><item><title>News</title><description>&lt;p&gt;Hello &lt;b&gt;all&lt;/b&gt;&lt;/p&gt;&lt;p&gt;Bye&lt;/p&gt;</description></item></channel></rss>"
    (section,) = parsed(tmp_path, xml.parse, content)
    assert "title: News" in section.text
    assert "description: Hello all" in section.text
    assert "<" not in section.text


@pytest.mark.parametrize(
    "content",
    [
        "<!DOCTYPE d ["
        + "<!ENTITY a 'ha'>"
        + "".join(f"<!ENTITY {chr(98 + n)} '{f'&{chr(97 + n)};' * 10}'>" for n in range(12))
        + "]><d>&m;</d>",
        f"<!DOCTYPE d [<!ENTITY x '{'h' * 50_000}'>]><d>{'&x;' * 5_000}</d>",
        "<!DOCTYPE d [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><d>&x; words</d>",
    ],
)
def test_entities_neither_expand_nor_read_files(tmp_path: Path, content: str) -> None:
    text = "".join(section.text for section in parsed(tmp_path, xml.parse, content))
    assert len(text) <= len(content) * 2
    assert "root:" not in text


def test_short_entities_are_expanded(tmp_path: Path) -> None:
    content = "<!DOCTYPE d [<!ENTITY firm 'Acme Co'>]><d>At &firm;, caf&eacute;</d>"
    assert parsed(tmp_path, xml.parse, content)[0].text == "d: At Acme Co, café"


def test_truncated_xml_keeps_its_text(tmp_path: Path) -> None:
    sections = parsed(tmp_path, xml.parse, "<a>\n<b>one</b>\n<c>two</a>\nlast & words\n")
    text = "\n".join(section.text for section in sections)
    assert "b: one" in text
    assert "last & words" in text


def test_docbook(tmp_path: Path) -> None:
    content = """<?xml version="1.0"?><!DOCTYPE book PUBLIC "-//OASIS//DTD DocBook XML V4.5//EN" "http://x/y.dtd">
<book><bookinfo><title>Guide</title></bookinfo><chapter><title>Install</title>
<para>Run <command>make</command>&nbsp;now.</para>
<itemizedlist><listitem><para>one</para></listitem><listitem><para>two</para></listitem></itemizedlist>
<note><para>Take care.</para></note>
<programlisting>x = 1
  y = 2</programlisting>
<table><tgroup cols="2"><thead><row><entry>A</entry><entry>B</entry></row></thead>
<tbody><row><entry>1</entry><entry>2</entry></row></tbody></tgroup></table>
<section><title>Deep</title><para>End.</para></section></chapter></book>"""
    sections = parsed(tmp_path, xml.parse, content)
    install = ("Guide", "Install")
    assert [(section.headings, section.kind, section.text) for section in sections] == [
        (("Guide",), "prose", "Guide"),
        (install, "prose", "Install\n\nRun make now."),
        (install, "list", "- one\n- two"),
        (install, "prose", "Note: Take care."),
        (install, "code", "x = 1\n  y = 2"),
        (install, "table", "A | B\n1 | 2"),
        ((*install, "Deep"), "prose", "Deep\n\nEnd."),
    ]
    assert sections[1].anchor == "§ Install"


def test_svg_text_only(tmp_path: Path) -> None:
    content = '<svg xmlns="http://www.w3.org/2000/svg"><title>Plan</title><path d="M0 0L9 9"/><text x="1">Berth 7</text></svg>'
    assert parsed(tmp_path, xml.parse, content)[0].text == "svg:\n  title: Plan\n  text: Berth 7"


def test_long_mixed_content_stays_in_order(tmp_path: Path) -> None:
    sections = parsed(tmp_path, xml.parse, "<a>" + "long words <b>in</b> here " * 3_000 + "end</a>")
    # The last part is short enough to be beside its name.
    text = " ".join(" ".join(section.text for section in sections).replace("a: ", "").split())
    assert text == "long words in here " * 3_000 + "end"


@pytest.mark.parametrize("content", ["<a>" + "x<b>y</b>" * 60_000 + "</a>", "<a>" * 50_000 + "x"])
@pytest.mark.timeout(20)
def test_linear_time_on_hostile_xml(tmp_path: Path, content: str) -> None:
    assert parsed(tmp_path, xml.parse, content)
