from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._shared.encoding import text_blocks, text_encoding, text_lines
from rag_engine.parsers._shared.lines import NumberedLine
from rag_engine.parsers._shared.sections import is_blank, joined
from rag_engine.parsers.data._trees.json_values import (
    JsonTextStream,
    NotJson,
    Value,
    add_value,
    children,
    decode,
    render,
)
from rag_engine.parsers.data._trees.tree import Tree, steps_place
from rag_engine.parsers.texts import text
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

SUFFIXES: Final = "jsonl ndjson geojson jsonld webmanifest har json5 jsonc"
BEGINNING: Final = r"""\s*[\[{]\s*[\"\[{]"""
CONTENT: Final = "text"

_AT_ONCE: Final = 4 << 20
_LONGEST_LINE: Final = 4 << 20


def parse(path: Path) -> Iterator[Section]:
    """Anchored "$.items[3]", or "line 7" in JSON Lines. Invalid JSON is text."""
    encoding = text_encoding(path)
    if _is_json_lines(path, encoding):
        yield from joined(_lines(path, encoding))
    elif path.stat().st_size > _AT_ONCE:
        yield from joined(_streamed(path, encoding))
    else:
        yield from joined(_whole(path, encoding))


def _whole(path: Path, encoding: str) -> Iterator[Section]:
    value = decode("".join(text_blocks(path, encoding)))
    if value is None:
        yield from text.sections(text_lines(path, encoding))
        return
    tree = Tree(steps_place)
    yield from _add_children(tree, value)
    yield from tree.end()


def _add_children(tree: Tree, value: Value) -> Iterator[Section]:
    if isinstance(value, str):
        yield from add_value(tree, value, "", "")
        return
    for key, step, child in children(value):
        yield from add_value(tree, child, key, step)


def _streamed(path: Path, encoding: str) -> Iterator[Section]:
    tree = Tree(steps_place)
    stream = JsonTextStream(text_blocks(path, encoding), tree)
    try:
        yield from stream.sections()
    except NotJson:
        yield from tree.end()
        for block in stream.rest():
            yield Section(text=block)
        return
    yield from tree.end()


def _is_json_lines(path: Path, encoding: str) -> bool:
    lines = (line for line in text_lines(path, encoding) if not is_blank(line.text))
    first, second = next(lines, None), next(lines, None)
    if first is None or second is None or first.number == second.number:
        return False
    value = decode(first.text)
    return value is not None and not isinstance(value, str) and decode(second.text) is not None


def _lines(path: Path, encoding: str) -> Iterator[Section]:
    for line in _joined_lines(text_lines(path, encoding)):
        value = decode(line.text) if len(line.text) <= _LONGEST_LINE else None
        yield Section(text=line.text if value is None else render(value), anchor=f"line {line.number}")


def _joined_lines(lines: Iterable[NumberedLine]) -> Iterator[NumberedLine]:
    parts: list[NumberedLine] = []
    size = 0
    for line in chain(lines, [NumberedLine(number=0, text="")]):
        if parts and (line.number != parts[0].number or size > _LONGEST_LINE):
            yield NumberedLine(number=parts[0].number, text="".join(part.text for part in parts))
            parts, size = [], 0
        parts.append(line)
        size += len(line.text)
