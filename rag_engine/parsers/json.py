"""JSON, one value or one a line: every value under the path of keys that leads to it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from rag_engine.errors import UnsupportedFile
from rag_engine.parsers import text
from rag_engine.parsers._encoding import encoding_of, text_lines
from rag_engine.parsers._lines import PASSAGE
from rag_engine.parsers._sections import clean, is_blank, joined, one_line
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

Value: TypeAlias = "str | _Array | _Object"

_LARGEST: Final = 64 << 20
"""Bytes: a larger single value is read as plain text, which needs no memory for its tree."""
_DEEPEST: Final = 100
_LONGEST_KEY: Final = 60
_PLAIN_KEY_CHARACTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


@dataclass(frozen=True, slots=True)
class _Array:
    items: list[Value]


@dataclass(frozen=True, slots=True)
class _Object:
    pairs: list[tuple[str, Value]]
    """Not a dict: of keys that occur twice both are kept."""


def parse(path: Path) -> Iterator[Section]:
    """Values anchored by path, "$.items[3]", or "line 7" where every line is a value; what is no JSON is read as text."""
    encoding = encoding_of(path)
    if encoding is None:
        raise UnsupportedFile("The file is not text, so it cannot be read.")
    if _has_value_a_line(path, encoding):
        yield from joined(_lines(path, encoding))
        return
    value = _value(path.read_text(encoding, errors="replace")) if path.stat().st_size <= _LARGEST else None
    if value is None:
        yield from joined(text.sections(text_lines(path, encoding)))
        return
    yield from joined(_sections(value, "$", ()))


def _has_value_a_line(path: Path, encoding: str) -> bool:
    """True when the first line is a whole object or list and another line follows."""
    with path.open(encoding=encoding, errors="replace") as file:
        lines = (line for line in file if not is_blank(line))
        first, second = next(lines, ""), next(lines, "")
    return bool(second) and not isinstance(_value(first), str | None) and _value(second) is not None


def _lines(path: Path, encoding: str) -> Iterator[Section]:
    with path.open(encoding=encoding, errors="replace") as file:
        for number, line in enumerate(file, 1):
            value = _value(line)
            # A broken line among good ones is kept as it stands.
            yield Section(text=line if value is None else _rendered(value), anchor=f"line {number}")


def _value(content: str) -> Value | None:
    """The JSON value with every scalar as it is written (no number is too long), or None when it is none."""
    try:
        value = _checked(_DECODER.decode(content))
    except (ValueError, RecursionError):
        return None
    return None if _is_deep(value) else value


def _checked(value: object) -> Value:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case list():
            return _Array([_checked(item) for item in cast("list[object]", value)])
        case _Object():
            return value
        case _:
            return str(value)


def _is_deep(value: Value) -> bool:
    """Whether the value nests deeper than its sections could be told apart, or a function call each level would bear."""
    level: list[Value] = [value]
    for _ in range(_DEEPEST):
        level = [child for parent in level if not isinstance(parent, str) for _, child in _children(parent)]
        if not level:
            return False
    return True


def _object(pairs: list[tuple[str, object]]) -> _Object:
    return _Object([(key, _checked(value)) for key, value in pairs])


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=str, parse_float=str, parse_constant=str, strict=False
)


def _sections(value: Value, place: str, headings: tuple[str, ...]) -> Iterator[Section]:
    """A small value is one section; of a large one the scalars stay together and each inner value is taken alone."""
    if isinstance(value, str) or _size(value) <= PASSAGE:
        yield Section(text=_rendered(value), anchor=place, headings=headings)
        return
    own: list[str] = []
    inner: list[tuple[str, str, Value]] = []
    for key, child in _children(value):
        if isinstance(child, str) and len(child) <= PASSAGE:
            own.append(f"{key}: {child}" if isinstance(value, _Object) else child)
        else:
            inner.append((key, _step(key, value), child))
    yield Section(text="\n".join(own), anchor=place, headings=headings)
    for key, step, child in inner:
        path = (*headings, one_line(key)[:_LONGEST_KEY]) if isinstance(value, _Object) else headings
        yield from _sections(child, place + step, path)


def _children(value: _Array | _Object) -> Iterable[tuple[str, Value]]:
    if isinstance(value, _Object):
        return value.pairs
    return ((str(index), item) for index, item in enumerate(value.items))


def _step(key: str, parent: _Array | _Object) -> str:
    if isinstance(parent, _Array):
        return f"[{key}]"
    plain = key and set(key) <= _PLAIN_KEY_CHARACTERS
    return f".{key}" if plain else f"[{json.dumps(key, ensure_ascii=False)}]"


def _rendered(value: Value, depth: int = 0) -> str:
    """Keys and values one a line, inner ones indented; a list of scalars on one line."""
    indent = "  " * depth
    if isinstance(value, str):
        return indent + clean(value)
    if isinstance(value, _Array):
        if all(isinstance(item, str) for item in value.items):
            return indent + ", ".join(clean(item) for item in value.items if isinstance(item, str))
        return "\n".join(_rendered(item, depth) for item in value.items)
    lines: list[str] = []
    for key, child in value.pairs:
        scalars = isinstance(child, str) or (
            isinstance(child, _Array) and all(isinstance(item, str) for item in child.items)
        )
        shown = _rendered(child, 0 if scalars else depth + 1)
        lines.append(f"{indent}{key}: {shown}" if scalars else f"{indent}{key}:\n{shown}")
    return "\n".join(lines)


def _size(value: Value) -> int:
    """Characters of the value, roughly; counting stops once it is large."""
    if isinstance(value, str):
        return len(value)
    size = 0
    for key, child in _children(value):
        size += len(key) + _size(child)
        if size > PASSAGE:
            break
    return size
