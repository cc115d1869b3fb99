"""Texts without end, graphemes and marks: linear time, and nothing is cut inside."""

from __future__ import annotations

import time
import unicodedata

import pytest
import regex

from rag_engine.text.chunk_text import searchable_text
from rag_engine.types import Section, SectionKind
from tests.unit.splitters.documents import octets, split, words


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x" * 800_000, id="one word"),
        pytest.param("中文没有空格" * 40_000, id="Chinese without spaces"),
        pytest.param("word " * 80_000, id="one sentence of 2 MB"),
        pytest.param(" " * 500_000 + "end", id="blanks"),
        pytest.param("a" + "\u0301" * 200_000, id="marks without end"),
        pytest.param("👩‍👩‍👧‍👦" * 10_000, id="emoji families"),
        pytest.param("🇩🇪" * 40_000, id="flags"),
        pytest.param("line\n" * 40_000, id="short lines"),
        pytest.param("." * 100_000, id="full stops"),
        pytest.param("(" * 100_000, id="brackets"),
    ],
)
@pytest.mark.parametrize("kind", ["prose", "list", "table", "code"])
@pytest.mark.parametrize("share", [4, pytest.param(1, marks=pytest.mark.soak)])
def test_hostile_texts_take_linear_time(text: str, kind: SectionKind, share: int) -> None:
    text = text[: len(text) // share]

    def seconds(part: str) -> float:
        started = time.process_time()
        chunks = split(Section(text=part, kind=kind), limit=256)
        elapsed = time.process_time() - started
        assert all(words(searchable_text(chunk)) <= 256 for chunk in chunks)
        return elapsed

    small = seconds(text[: len(text) // 8])
    assert seconds(text) < 8 * 3 * small + 0.5


@pytest.mark.slow
def test_a_line_of_5_megabytes_without_a_space() -> None:
    chunks = split(Section(text="x" * 5_000_000), limit=256)
    assert sum(len(chunk.text) for chunk in chunks) == 5_000_000


@pytest.mark.parametrize("cluster", ["👩‍👩‍👧‍👦", "🇩🇪", "👍🏽", "e\u0301\u0323", "한", "नि"])
def test_no_grapheme_is_cut(cluster: str) -> None:
    chunks = split(Section(text=cluster * 2_000), count=octets, limit=128)
    assert len(chunks) > 1
    pieces = [grapheme for chunk in chunks for grapheme in regex.findall(r"\X", chunk.text)]
    assert set(pieces) == {cluster}


def test_no_chunk_begins_with_a_mark() -> None:
    chunks = split(Section(text="a\u0301o\u0308u\u0308" * 3_000), count=octets, limit=64)
    assert not any(unicodedata.combining(chunk.text[0]) for chunk in chunks)
