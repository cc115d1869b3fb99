"""JSON, one value or one a line: every value under the path of keys that leads to it."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from rag_engine.parsers import text
from rag_engine.parsers._encoding import opened, text_blocks, text_lines
from rag_engine.parsers._json_values import NotJson, Stream, Value, add, children, decoded, rendered
from rag_engine.parsers._lines import Line
from rag_engine.parsers._sections import is_blank, joined
from rag_engine.parsers._tree import Tree, steps_place
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_AT_ONCE: Final = 4 << 20
"""Bytes: a larger value is read child by child, and known to be broken only where it breaks."""
_LONGEST_LINE: Final = 4 << 20
"""Characters: a longer value on a line of its own is taken as text, which needs no memory for its tree."""


def parse(path: Path) -> Iterator[Section]:
    """Values anchored by path, "$.items[3]", or "line 7" where every line is a value; what is no JSON is read as text."""
    encoding = opened(path)
    if _has_value_a_line(path, encoding):
        yield from joined(_lines(path, encoding))
    elif path.stat().st_size > _AT_ONCE:
        yield from joined(_streamed(path, encoding))
    else:
        yield from joined(_whole(path, encoding))


def _whole(path: Path, encoding: str) -> Iterator[Section]:
    value = decoded("".join(text_blocks(path, encoding)))
    if value is None:
        yield from text.sections(text_lines(path, encoding))
        return
    tree = Tree(steps_place)
    yield from _added(tree, value)
    yield from tree.end()


def _added(tree: Tree, value: Value) -> Iterator[Section]:
    # The outermost value is the tree itself, and no node in it.
    if isinstance(value, str):
        yield from add(tree, value, "", "")
        return
    for key, step, child in children(value):
        yield from add(tree, child, key, step)


def _streamed(path: Path, encoding: str) -> Iterator[Section]:
    tree = Tree(steps_place)
    stream = Stream(text_blocks(path, encoding), tree)
    try:
        yield from stream.sections()
    except NotJson:
        yield from tree.end()
        # The rest of a broken file is kept as it stands.
        for block in stream.rest():
            yield Section(text=block)
        return
    yield from tree.end()


def _has_value_a_line(path: Path, encoding: str) -> bool:
    """True when the first line is a whole object or list and another line follows."""
    lines = (line for line in text_lines(path, encoding) if not is_blank(line.text))
    first, second = next(lines, None), next(lines, None)
    if first is None or second is None or first.number == second.number:
        return False
    value = decoded(first.text)
    return value is not None and not isinstance(value, str) and decoded(second.text) is not None


def _lines(path: Path, encoding: str) -> Iterator[Section]:
    for line in _whole_lines(text_lines(path, encoding)):
        value = decoded(line.text) if len(line.text) <= _LONGEST_LINE else None
        # A broken line among good ones is kept as it stands.
        yield Section(text=line.text if value is None else rendered(value), anchor=f"line {line.number}")


def _whole_lines(lines: Iterable[Line]) -> Iterator[Line]:
    """Lines that came in parts, put together again as long as they are no flood."""
    parts: list[Line] = []
    size = 0
    for line in chain(lines, [Line(number=0, text="")]):
        if parts and (line.number != parts[0].number or size > _LONGEST_LINE):
            yield Line(number=parts[0].number, text="".join(part.text for part in parts))
            parts, size = [], 0
        parts.append(line)
        size += len(line.text)
