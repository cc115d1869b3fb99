"""Plain text with headings, and JSON of any size."""

from __future__ import annotations

import json
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from rag_engine.parsers.data import json as json_parser
from rag_engine.parsers.data._trees import json_values
from rag_engine.parsers.texts import text
from tests.unit.parsers.parsed import parsed, places

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.ports import Parser


def test_plain_text_headings(tmp_path: Path) -> None:
    content = """Rules of the house
==================

Intro.

1. Scope

Of ships.

1.1 Cranes

Of cranes.

Leave
-----

Thirty days.

CHAPTER II. The Sea

OF WAVES

Wet.

第三章 海

湿。
"""
    assert [(section.anchor, section.headings) for section in parsed(tmp_path, text.parse, content)] == [
        ("lines 1–4", ("Rules of the house",)),
        ("lines 6–8", ("Rules of the house", "1. Scope")),
        ("lines 10–12", ("Rules of the house", "1. Scope", "1.1 Cranes")),
        ("lines 14–17", ("Rules of the house", "Leave")),
        ("line 19", ("CHAPTER II. The Sea",)),
        ("lines 21–23", ("CHAPTER II. The Sea", "OF WAVES")),
        ("lines 25–27", ("第三章 海",)),
    ]


@pytest.mark.parametrize(
    "content",
    [
        "2026-01-02 12:00 ERROR DISK FULL\n2026-01-02 12:01 OK\n",
        "\n3 apples\n\nand 4 pears.\n",
        "\nTHE END OF A SENTENCE.\n\nmore\n",
        "---------\n\nwords\n",
        "\n12 34\n\nwords\n",
    ],
)
def test_not_a_heading(tmp_path: Path, content: str) -> None:
    assert all(section.headings == () for section in parsed(tmp_path, text.parse, content))


def _records(count: int) -> list[dict[str, object]]:
    return [
        {"name": f"service {n}", "timeout": n, "note": "words " * 20, "in": {"x": [1, n]}}
        for n in range(count)
    ]


@pytest.fixture
def streaming(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values of some kilobytes are large."""
    monkeypatch.setattr(json_parser, "_AT_ONCE", 4_000)
    monkeypatch.setattr(json_values, "_SPAN", 4_000)


@pytest.mark.usefixtures("streaming")
@pytest.mark.parametrize("indent", [None, 2])
def test_large_json_is_streamed(tmp_path: Path, indent: int | None) -> None:
    value = {"version": 1, "services": _records(2_000), "last": {"deep": ["a", {"b": "the end"}]}}
    sections = parsed(tmp_path, json_parser.parse, json.dumps(value, indent=indent))
    whole = "\n".join(section.text for section in sections)
    assert [whole.count(f"name: service {n}\n") for n in (0, 1_000, 1_999)] == [1, 1, 1]
    (section,) = [section for section in sections if "name: service 1500\n" in section.text]
    assert section.headings == ("services",)
    first, _, last = section.anchor.removeprefix("$.services[").removesuffix("]").partition("–")
    assert int(first) <= 1_500 <= int(last or first) <= int(first) + 8
    assert "the end" in sections[-1].text


@pytest.mark.usefixtures("streaming")
def test_truncated_large_json_keeps_its_text(tmp_path: Path) -> None:
    content = json.dumps({"services": _records(2_000)})[:-30] + " oops <<< the end"
    sections = parsed(tmp_path, json_parser.parse, content)
    assert sections[0].anchor.startswith("$.services")
    assert "the end" in sections[-1].text


@pytest.mark.usefixtures("streaming")
def test_endlessly_nested_large_json_is_text(tmp_path: Path) -> None:
    sections = parsed(tmp_path, json_parser.parse, "[" * 50_000 + '"words"')
    assert "words" in sections[-1].text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("parser", "line"),
    [
        (text.parse, b"2026-01-02 INFO " + b"all is well " * 300 + b"\n"),
        (json_parser.parse, b'{"a": "' + b"all is well " * 300 + b'", "b": [1, 2]}\n'),
    ],
)
def test_memory_is_independent_of_file_size(tmp_path: Path, parser: Parser, line: bytes) -> None:
    path = tmp_path / "big"
    path.write_bytes(line * 6_000)
    tracemalloc.start()
    count = sum(1 for _ in parser(path))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count > 1_000
    assert most < 12 << 20


def test_record_names_are_headings(tmp_path: Path) -> None:
    value = {
        "chapters": [
            {"title": "Leave", "rules": ["r " * 300, "s " * 300]},
            {"title": "Pay", "sum": "x" * 900},
        ]
    }
    found = places(parsed(tmp_path, json_parser.parse, json.dumps(value)))
    assert ("$.chapters[1].sum", ("chapters", "Pay", "sum"), "x" * 900) in found
