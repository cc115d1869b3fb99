"""Constructs no tag, follows no alias."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

import yaml

from rag_engine.parsers._shared.encoding import text_blocks, text_encoding, text_lines
from rag_engine.parsers._shared.sections import joined
from rag_engine.parsers.data._trees.json_values import LONGEST_NAME, NAMING
from rag_engine.parsers.data._trees.tree import Tree, TreeBlock, lines_place
from rag_engine.parsers.texts import text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rag_engine.parsers._shared.lines import NumberedLine
    from rag_engine.types import Section

SUFFIXES: Final = "yml eyaml"
CONTENT: Final = "text"

_DEEPEST: Final = 60
_MOST_NESTED: Final = 500
_LARGEST: Final = 64 << 20
"""Bytes; the events of a larger file take too long."""
_OTHER_LINE_ENDS: Final = {ord(character): " " for character in "\x85\u2028\u2029"}


class _Mark(Protocol):
    line: int


class _Event(Protocol):
    start_mark: _Mark
    value: str


@dataclass(frozen=True, slots=True)
class _Start:
    line: int
    depth: int
    heading: str = ""


@dataclass(slots=True)
class _Collection:
    is_mapping: bool
    expects_key: bool = True
    key: str = ""


def parse(path: Path) -> Iterator[Section]:
    """Anchored by lines; invalid YAML is text."""
    yield from joined(_sections(path, text_encoding(path)))


def _sections(path: Path, encoding: str) -> Iterator[Section]:
    if path.stat().st_size > _LARGEST:
        yield from text.sections(text_lines(path, encoding), starts=_is_outermost)
        return
    tree = Tree(lines_place, kind="code")
    depths: list[int] = []
    lines = _LineReader(text_lines(path, encoding))
    start = _Start(line=1, depth=_DEEPEST)
    try:
        for following in _starts(path, encoding):
            yield from _enter(tree, depths, start, lines.before(following.line))
            start = following
    except (yaml.YAMLError, UnicodeError, RecursionError):
        yield from tree.end()
        yield from text.sections(lines.rest(), starts=_is_outermost)
        return
    yield from _enter(tree, depths, start, list(lines.rest()))
    yield from tree.end()


def _enter(tree: Tree, depths: list[int], start: _Start, lines: list[NumberedLine]) -> Iterator[Section]:
    if not lines:
        return
    while depths and depths[-1] >= start.depth:
        depths.pop()
        yield from tree.leave()
    content = "\n".join(line.text for line in lines).strip("\n")
    written = [line.number for line in lines if line.text.strip()] or [lines[0].number]
    tree.enter(start.heading, head=TreeBlock(content, first=written[0], last=written[-1]))
    depths.append(start.depth)


class _LineReader:
    def __init__(self, lines: Iterator[NumberedLine]) -> None:
        self._lines = lines
        self._waiting: list[NumberedLine] = []
        self._next = next(lines, None)

    def before(self, number: int) -> list[NumberedLine]:
        taken = self._waiting
        while self._next is not None and self._next.number < number:
            taken.append(self._next)
            self._next = next(self._lines, None)
        end = len(taken)
        while end and (not (written := taken[end - 1].text.strip()) or written.startswith(("#", "---"))):
            end -= 1
        self._waiting = taken[end:]
        return taken[:end]

    def rest(self) -> Iterator[NumberedLine]:
        yield from self._waiting
        if self._next is not None:
            yield self._next
        yield from self._lines


def _is_outermost(before: NumberedLine, line: NumberedLine) -> bool:
    return bool(line.text) and not line.text[0].isspace() and before.text[:1].isspace()


def _starts(path: Path, encoding: str) -> Iterator[_Start]:
    latest: _Start | None = None
    for start, name in _all_starts(path, encoding):
        if latest is not None and start.line == latest.line:
            if name and not latest.heading:
                latest = replace(latest, heading=name)
            continue
        if latest is not None:
            yield latest
        latest = start
    if latest is not None:
        yield latest


def _all_starts(path: Path, encoding: str) -> Iterator[tuple[_Start, str]]:
    inside: list[_Collection] = []
    for raw in _events(_InputStream(text_blocks(path, encoding))):
        event = cast("_Event", raw)
        if len(inside) > _MOST_NESTED:
            raise yaml.YAMLError
        if isinstance(raw, yaml.CollectionEndEvent):
            inside.pop()
            _end_node(inside)
        elif isinstance(raw, yaml.NodeEvent):
            scalar = event.value if isinstance(raw, yaml.ScalarEvent) else ""
            is_collection = isinstance(raw, yaml.CollectionStartEvent)
            if inside or not is_collection:
                yield from _start(inside, event.start_mark.line + 1, scalar)
            if is_collection:
                inside.append(_Collection(is_mapping=isinstance(raw, yaml.MappingStartEvent)))
            else:
                _end_node(inside, scalar)


def _events(stream: _InputStream) -> Iterator[object]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return cast("Iterator[object]", cast("Any", yaml).parse(stream, Loader=loader))


def _start(inside: list[_Collection], line: int, scalar: str) -> Iterator[tuple[_Start, str]]:
    if len(inside) > _DEEPEST:
        return
    parent = inside[-1] if inside else None
    if parent is None or not parent.is_mapping:
        yield _Start(line=line, depth=len(inside)), ""
    elif parent.expects_key:
        yield _Start(line=line, depth=len(inside), heading=scalar), ""
    elif parent.key.lower() in NAMING and 0 < len(scalar) <= LONGEST_NAME:
        yield _Start(line=line, depth=_DEEPEST), scalar


def _end_node(inside: list[_Collection], scalar: str = "") -> None:
    if inside and inside[-1].is_mapping:
        parent = inside[-1]
        parent.key = scalar if parent.expects_key else ""
        parent.expects_key = not parent.expects_key


class _InputStream:
    """Only line feeds end lines, as in our line numbers."""

    def __init__(self, blocks: Iterator[str]) -> None:
        self._blocks = blocks
        self._rest = ""

    def read(self, size: int) -> str:
        while not self._rest:
            block = next(self._blocks, None)
            if block is None:
                return ""
            self._rest = block.translate(_OTHER_LINE_ENDS)
        taken, self._rest = self._rest[:size], self._rest[size:]
        return taken
