"""Text, code, CSV, JSON, Markdown and HTML."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from rag_engine.parsers.data import json as json_parser
from rag_engine.parsers.sheets import sheet
from rag_engine.parsers.texts import code, html, markdown, text
from rag_engine.types import Section

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.ports import Parser


def _parsed(tmp_path: Path, parser: Parser, content: str | bytes) -> list[Section]:
    path = tmp_path / "file"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(parser(path))


def test_paragraphs_stay_whole_with_line_anchors(tmp_path: Path) -> None:
    paragraphs = [
        "\n".join(f"paragraph {number} line {line} " + "x" * 45 for line in range(5)) for number in range(9)
    ]
    sections = _parsed(tmp_path, text.parse, "\n\n".join(paragraphs))
    assert "\n\n".join(section.text for section in sections) == "\n\n".join(paragraphs)
    assert sections[0].anchor == "lines 1–11"
    assert all(
        section.text.startswith("paragraph") and " line 0 " in section.text[:25] for section in sections
    )


def test_single_line_anchor(tmp_path: Path) -> None:
    assert _parsed(tmp_path, text.parse, "\n\nOnly this.\n") == [Section(text="Only this.", anchor="line 3")]


def test_code_is_cut_at_definitions(tmp_path: Path) -> None:
    body = "\n".join(f"    step_{number} = {number}  # {'x' * 40}" for number in range(12))
    source = f"import os\n\n\n@cached\ndef first():\n{body}\n\n\nclass Second:\n{body}\n"
    sections = _parsed(tmp_path, code.parse, source)
    assert [(section.anchor, section.headings) for section in sections] == [
        ("lines 1–17", ("def first",)),
        ("lines 20–32", ("class Second",)),
    ]
    assert all(section.kind == "code" and section.text in source for section in sections)


def test_small_definitions_stay_together(tmp_path: Path) -> None:
    source = "function one() {\n  return 1;\n}\n\nfunction two() {\n  return 2;\n}\n"
    (section,) = _parsed(tmp_path, code.parse, source)
    assert (section.headings, section.anchor) == (("function one, function two",), "lines 1–7")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_csv_delimiters(tmp_path: Path, delimiter: str) -> None:
    rows = [["Office", "Days", "Note"], ["Köln", "30", "a, b; c"], ["Wien", "25", "two\nlines"]]
    content = "\r\n".join(delimiter.join(f'"{cell}"' for cell in row) for row in rows)
    assert _parsed(tmp_path, sheet.parse, content) == [
        Section(
            text="Office | Days | Note\nKöln | 30 | a, b; c\nWien | 25 | two lines",
            anchor="rows 2–3",
            kind="table",
        )
    ]


def test_titles_above_the_header_row(tmp_path: Path) -> None:
    sections = _parsed(tmp_path, sheet.parse, "Budgets 2026,,\n\nTeam,Cost,Share\nA,1,2\nB,3,4\n")
    assert [(section.text, section.anchor) for section in sections] == [
        ("Budgets 2026", "row 1"),
        ("Team | Cost | Share\nA | 1 | 2\nB | 3 | 4", "rows 4–5"),
    ]


def test_every_row_of_a_long_table_occurs_once_under_its_number(tmp_path: Path) -> None:
    content = "id,name\n" + "".join(f"{number},person {number}\n" for number in range(2, 3000))
    sections = _parsed(tmp_path, sheet.parse, content)
    rows: list[str] = []
    for section in sections:
        header, *part = section.text.splitlines()
        assert header == "id | name"
        assert section.anchor == f"rows {part[0].split()[0]}–{part[-1].split()[0]}"
        rows += part
    assert rows == [f"{number} | person {number}" for number in range(2, 3000)]


def test_unclosed_quotation_mark_loses_no_rows(tmp_path: Path) -> None:
    sections = _parsed(tmp_path, sheet.parse, 'a,b\n1,"' + "x\n" * 5_000)
    assert sum(section.text.count("x") for section in sections) == 5_000


def test_json_paths(tmp_path: Path) -> None:
    value = {
        "title": "Handbook",
        "chapters": [{"name": "Leave", "text": "rest " * 200}, {"name": "Pay", "text": "money " * 200}],
        "odd key": {"note": "y" * 900},
    }
    sections = _parsed(tmp_path, json_parser.parse, json.dumps(value))
    assert [(section.anchor, section.headings, section.text[:12]) for section in sections] == [
        ("$.title", (), "title: Handb"),
        ("$.chapters[0].name", ("chapters", "Leave"), "chapters:\n  "),
        ("$.chapters[0].text", ("chapters", "Leave", "text"), "rest rest re"),
        ("$.chapters[1].name", ("chapters", "Pay"), "name: Pay"),
        ("$.chapters[1].text", ("chapters", "Pay", "text"), "money money "),
        ('$["odd key"].note', ("odd key", "note"), "yyyyyyyyyyyy"),
    ]


def test_small_json_is_one_section_as_written(tmp_path: Path) -> None:
    content = (
        '{"k": 1, "k": 2.50, "big": '
        + "9" * 700
        + ', "nan": NaN, "on": true, "list": ["a", "b"], "in": {"x": null}}'
    )
    (section,) = _parsed(tmp_path, json_parser.parse, content)
    assert section.text == f"k: 1\nk: 2.50\nbig: {'9' * 700}\nnan: NaN\non: true\nlist: a, b\nin:\n  x: null"


def test_json_lines(tmp_path: Path) -> None:
    sections = _parsed(tmp_path, json_parser.parse, '{"a": "one"}\n\n{"a": "two"}\nbroken\n')
    assert [(section.text, section.anchor) for section in sections] == [
        ("a: one", "line 1"),
        ("a: two", "line 3"),
        ("broken", "line 4"),
    ]


@pytest.mark.parametrize("content", ['{"half": [1, 2, "words here"', "[" * 100_000, "just words here"])
def test_invalid_json_is_text(tmp_path: Path, content: str) -> None:
    sections = _parsed(tmp_path, json_parser.parse, content)
    assert "".join(section.text for section in sections) == content
    assert sections[0].anchor == "line 1"


_MARKDOWN = """---
owner: HR
---
Hello *all*.

# Leave & `rest`

You get **thirty** [days](https://example.org) a year,
![a beach](beach.png) included.

## Rules

- one
- two
  - inner
1. first

| Office | Days |
|--------|-----:|
| Köln   | 30   |

```python
x = "<b>"
```

<!-- hidden --><p>In <b>HTML</b></p>

Setext
======
End.
"""


def test_markdown(tmp_path: Path) -> None:
    leave, rules = ("Leave & rest",), ("Leave & rest", "Rules")
    assert _parsed(tmp_path, markdown.parse, _MARKDOWN) == [
        Section(text="owner: HR\n\nHello all."),
        Section(
            text="Leave & rest\n\nYou get thirty days a year,\na beach included.",
            anchor="§ Leave & rest",
            headings=leave,
        ),
        Section(text="Rules", anchor="§ Rules", headings=rules),
        Section(text="- one\n- two\n  - inner\n1. first", anchor="§ Rules", headings=rules, kind="list"),
        Section(text="Office | Days\nKöln | 30", anchor="§ Rules", headings=rules, kind="table"),
        Section(text='x = "<b>"', anchor="§ Rules", headings=rules, kind="code"),
        Section(text="In HTML", anchor="§ Rules", headings=rules),
        Section(text="Setext\n\nEnd.", anchor="§ Setext", headings=("Setext",)),
    ]


_HTML = """<!DOCTYPE html><html><head><title>T</title><style>p {}</style></head><body>
<nav><a href="/">Home</a></nav>
<h1>Leave <small>2026</small></h1>
<p>You get <b>thir</b>ty&nbsp;days.<br>Really.</p><script>alert(1)</script><!-- no -->
<div hidden>never</div><div style="display: none">nor this</div>
<h2>Rules</h2>
<ul><li>one<li>two <ul><li>inner</li></ul></li></ul>
<table><tr><th>Office</th><th>Days</th></tr><tr><td>Köln</td><td>30</td></tr></table>
<table><tr><td><p>Only for the layout.</p></td></tr></table>
<pre>x = 1
  y = 2</pre>
Tail &lt;tag&gt;.
</body></html>"""


def test_html(tmp_path: Path) -> None:
    rules = {"anchor": "§ Rules", "headings": ("Leave 2026", "Rules")}
    assert _parsed(tmp_path, html.parse, _HTML) == [
        Section(
            text="Leave 2026\n\nYou get thirty days.\nReally.",
            anchor="§ Leave 2026",
            headings=("Leave 2026",),
        ),
        Section(text="Rules", **rules),
        Section(text="- one\n- two\n  - inner", kind="list", **rules),
        Section(text="Office | Days\nKöln | 30", kind="table", **rules),
        Section(text="Only for the layout.", **rules),
        Section(text="x = 1\n  y = 2", kind="code", **rules),
        Section(text="Tail <tag>.", **rules),
    ]


@pytest.mark.parametrize(
    "content",
    [
        '<meta charset="gbk"><p>季度报告显示</p>'.encode("gbk"),
        '<meta charset="utf-8"><p>季度报告显示，华东区的退货率下降了百分之三点二。</p>'.encode("gbk"),
        "<p>季度报告显示</p>".encode("utf-16"),
        '<meta charset="unheard-of"><p>季度报告显示</p>'.encode(),
    ],
)
def test_html_encodings(tmp_path: Path, content: bytes) -> None:
    assert _parsed(tmp_path, html.parse, content)[0].text.startswith("季度报告显示")


def test_endlessly_nested_html_keeps_its_words(tmp_path: Path) -> None:
    (section,) = _parsed(tmp_path, html.parse, "<div>" * 30_000 + "words" + "</div>" * 30_000)
    assert section.text == "words"
    sections = _parsed(tmp_path, html.parse, "<table><tr><td>" * 9_000 + "words")
    assert "".join(section.text for section in sections) == "words"
