"""Parser and splitter use constant memory for long files."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING

import pytest

from rag_engine.parsers.texts import text
from rag_engine.splitters.structure import Settings, build
from rag_engine.types import Section, SectionKind
from tests.unit.splitters.documents import DOCUMENT, sentences, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_TIMES = 8


def peak(made: Iterable[object]) -> int:
    """Peak bytes while the items are produced and dropped."""
    tracemalloc.start()
    for _ in made:
        pass
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def long_text(kilobytes: int) -> Iterator[str]:
    for number in range(kilobytes):
        yield ("The pump of the berth ran and stopped again in the night. " * 17)[
            :1_000
        ] + f" {number:08}\n\n"


def sections(count: int, kind: SectionKind) -> Iterator[Section]:
    for number in range(count):
        body = f"{sentences(12)} {number}"
        body = body.replace(". ", ".\n") if kind != "prose" else body
        yield Section(text=body, anchor=f"p. {number // 4}", headings=(f"Chapter {number // 40}",), kind=kind)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["prose", "table", "list", "code"])
def test_the_splitter_holds_no_more_of_a_long_document(kind: SectionKind) -> None:
    split = build(Settings(), count_tokens=words, max_tokens=128)
    next(split(DOCUMENT, sections(40, kind)))  # exclude one-time costs, such as compiled patterns
    short, long = (peak(split(DOCUMENT, sections(count, kind))) for count in (40, 40 * _TIMES))
    assert long < short * 1.3 + 50_000


@pytest.mark.slow
def test_the_parser_holds_no_more_of_a_long_text(tmp_path: Path) -> None:
    peaks: list[int] = []
    path = tmp_path / "long.txt"
    for kilobytes in (2_500, 10_000):
        with path.open("w", encoding="utf-8") as file:
            file.writelines(long_text(kilobytes))
        next(text.parse(path))
        peaks.append(peak(text.parse(path)))
    assert peaks[1] < peaks[0] * 1.2
