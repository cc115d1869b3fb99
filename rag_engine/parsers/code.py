"""Source code by function: definitions with the comments above them, under the classes they stand in, anchored by lines."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._code_grammars import definitions, language_of, with_comments
from rag_engine.parsers._code_patterns import DEFINITION, starts
from rag_engine.parsers._encoding import opened, text_lines
from rag_engine.parsers._lines import Line, group, lines_anchor
from rag_engine.parsers._sections import joined
from rag_engine.parsers._tree import Block, Tree, lines_place
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

_LARGEST: Final = 2 << 20
"""Bytes: a larger file is data or made by a program; it is cut where a block begins, in a stream."""
_LONGEST_LINE: Final = 5_000
"""Characters: code with longer lines was made small for machines, and has no lines that a person could turn to."""
_BEGINNING: Final = 4_000
_LAST: Final = 1 << 60


@dataclass(frozen=True, slots=True)
class _Place:
    """A definition: from its first line, with the comments above it, to its last."""

    first: int
    last: int
    label: str


def parse(path: Path) -> Iterator[Section]:
    """Whole definitions together up to the size of a passage; the headings name them and what they stand in."""
    encoding = opened(path)
    if path.stat().st_size > _LARGEST:
        yield from joined(_streamed(text_lines(path, encoding)))
        return
    lines = list(text_lines(path, encoding))
    if any(len(line.text) > _LONGEST_LINE for line in lines):
        yield from joined(_streamed(lines))
        return
    yield from joined(_by_definition([line.text for line in lines], path.suffix.lower().removeprefix(".")))


def _by_definition(lines: Sequence[str], suffix: str) -> Iterator[Section]:
    tree = Tree(lines_place, kind="code", names=True)
    inside: list[int] = []
    at = 1
    for place in chain(_places(lines, suffix), [_Place(len(lines) + 1, _LAST, "")]):
        while inside and inside[-1] < place.first:
            end = inside.pop()
            yield from _added(tree, lines, at, end)
            at = max(at, end + 1)
            yield from tree.leave()
        yield from _added(tree, lines, at, place.first - 1)
        at = max(at, place.first)
        if place.label:
            tree.enter(place.label)
            inside.append(min(place.last, inside[-1]) if inside else place.last)
    yield from tree.end()


def _added(tree: Tree, lines: Sequence[str], first: int, last: int) -> Iterator[Section]:
    """Lines that no other definition holds, a paragraph at a time."""
    for part in group(
        (Line(number=number, text=lines[number - 1]) for number in range(first, last + 1)),
        starts=_after_blank,
    ):
        written = [line.number for line in part if line.text.strip()]
        content = "\n".join(line.text for line in part).strip("\n")
        yield from tree.add(Block(content, first=written[0], last=written[-1]))


def _after_blank(before: Line, line: Line) -> bool:
    return not before.text.strip() and bool(line.text.strip())


def _places(lines: Sequence[str], suffix: str) -> Iterator[_Place]:
    """Definitions by the order in which they begin; by the language's grammar, else by how their first lines look."""
    language = language_of(suffix, "\n".join(lines)[:_BEGINNING])
    if language:
        found = [
            _Place(definition.first, definition.last, definition.label)
            for definition in definitions("\n".join(lines), language)
        ]
    else:
        found = list(_by_indentation(lines))
    before = 0
    for place in found:
        first = with_comments(lines, place.first, before)
        yield _Place(first, place.last, place.label)
        before = place.first


def _by_indentation(lines: Sequence[str]) -> Iterator[_Place]:
    """A definition ends before the next that is indented no further."""
    found = list(starts(lines))
    ends = [len(lines)] * len(found)
    open_ones: list[int] = []
    for number, start in enumerate(found):
        while open_ones and found[open_ones[-1]].indent >= start.indent:
            ends[open_ones.pop()] = with_comments(lines, start.line, 0) - 1
        open_ones.append(number)
    for start, end in zip(found, ends, strict=True):
        yield _Place(start.line, max(end, start.line), start.label)


def _streamed(lines: Iterable[Line]) -> Iterator[Section]:
    for lines_of_section in group(lines, starts=_starts_block):
        content = "\n".join(line.text for line in lines_of_section)
        yield Section(text=content, anchor=lines_anchor(lines_of_section), kind="code")


def _starts_block(before: Line, line: Line) -> bool:
    """An unindented line after a blank one, or one that looks like a definition."""
    if not line.text or line.text[0].isspace():
        return False
    return not before.text.strip() or (
        len(line.text) < _LONGEST_LINE and DEFINITION.match(line.text) is not None
    )
