from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from rag_engine.parsers._shared.lines import PASSAGE
from rag_engine.parsers._shared.sections import clean
from rag_engine.parsers.data._trees.tree import Tree, TreeBlock

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rag_engine.types import Section

Value: TypeAlias = "str | Array | Object"

_DEEPEST: Final = 100
_SPAN: Final = 1 << 20
"""Characters; a longer value is decoded child by child."""
_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
NAMING: Final = ("name", "title", "id", "key", "label")
"""Keys whose value names the object."""
LONGEST_NAME: Final = 60
_BLANKS: Final = " \t\r\n"


class NotJson(Exception): ...


@dataclass(frozen=True, slots=True)
class Array:
    items: list[Value]


@dataclass(frozen=True, slots=True)
class Object:
    pairs: list[tuple[str, Value]]
    """A dict would lose duplicate keys."""


def decode(content: str) -> Value | None:
    """Every scalar as written; None if invalid."""
    try:
        value = _to_value(_DECODER.decode(content))
    except (ValueError, RecursionError):
        return None
    return None if _is_deep(value) else value


def render(value: Value, depth: int = 0) -> str:
    indent = "  " * depth
    if isinstance(value, str):
        return indent + clean(value)
    if isinstance(value, Array):
        if _is_flat(value):
            return indent + _flat(value)
        return "\n".join(
            f"{indent}- {render(item, depth + 1).removeprefix(indent + '  ')}" for item in value.items
        )
    return "\n".join(_pair(key, child, indent, depth) for key, child in value.pairs)


def _pair(key: str, child: Value, indent: str, depth: int) -> str:
    if isinstance(child, str):
        return f"{indent}{key}: {clean(child)}"
    if _is_flat(child):
        return f"{indent}{key}: {_flat(child)}"
    return f"{indent}{key}:\n{render(child, depth + 1)}"


def _is_flat(value: Array | Object) -> bool:
    return isinstance(value, Array) and all(isinstance(item, str) for item in value.items)


def _flat(value: Array | Object) -> str:
    items = value.items if isinstance(value, Array) else []
    return ", ".join(clean(item) for item in items if isinstance(item, str))


def add_value(tree: Tree, value: Value, key: str, step: str) -> Iterator[Section]:
    indent = "  " * tree.depth
    if isinstance(value, str) and len(value) > PASSAGE:
        yield from tree.add_alone(TreeBlock(clean(value), step), key)
    elif isinstance(value, str) or _size(value) <= PASSAGE:
        text = _pair(key, value, indent, tree.depth) if key else _item(value, tree.depth)
        yield from tree.add(TreeBlock(text, step))
    else:
        enter_value(tree, key or object_name(value), step)
        for inner_key, inner_step, child in children(value):
            yield from add_value(tree, child, inner_key, inner_step)
        yield from tree.leave()


def _item(value: Value, depth: int) -> str:
    if isinstance(value, str) or not depth:
        return render(value, depth)
    indent = "  " * depth
    return f"{indent}- {render(value, depth + 1).removeprefix(indent + '  ')}"


def enter_value(tree: Tree, heading: str, step: str) -> None:
    head = TreeBlock(f"{'  ' * tree.depth}{heading}:", step) if heading and not step.startswith("[") else None
    tree.enter(heading, step=step, head=head)


def object_name(value: Value) -> str:
    if not isinstance(value, Object):
        return ""
    named = {key.lower(): child for key, child in value.pairs if isinstance(child, str)}
    return next((named[key] for key in NAMING if 0 < len(named.get(key, "")) <= LONGEST_NAME), "")


def children(value: Array | Object) -> Iterable[tuple[str, str, Value]]:
    if isinstance(value, Object):
        return ((key, path_step(key), child) for key, child in value.pairs)
    return (("", f"[{index}]", item) for index, item in enumerate(value.items))


def path_step(key: str) -> str:
    """ ".timeout" or '["odd key"]'."""
    return f".{key}" if key and set(key) <= _PLAIN else f"[{json.dumps(key, ensure_ascii=False)}]"


def _size(value: Value) -> int:
    if isinstance(value, str):
        return len(value)
    size = 0
    for key, _, child in children(value):
        size += len(key) + _size(child) + 2
        if size > PASSAGE:
            break
    return size


def _to_value(value: object) -> Value:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case list():
            return Array([_to_value(item) for item in cast("list[object]", value)])
        case Object():
            return value
        case _:
            return str(value)


def _is_deep(value: Value) -> bool:
    level: list[Array | Object] = [] if isinstance(value, str) else [value]
    for _ in range(_DEEPEST):
        level = [
            child
            for parent in level
            for child in (parent.items if isinstance(parent, Array) else [pair[1] for pair in parent.pairs])
            if not isinstance(child, str)
        ]
        if not level:
            return False
    return True


def _object(pairs: list[tuple[str, object]]) -> Object:
    return Object([(key, _to_value(value)) for key, value in pairs])


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=str, parse_float=str, parse_constant=str, strict=False
)


class JsonTextStream:
    def __init__(self, blocks: Iterator[str], tree: Tree) -> None:
        self._blocks = blocks
        self._tree = tree
        self._buffer = ""
        self._at = 0
        self._ended = False

    def sections(self) -> Iterator[Section]:
        """Raises `NotJson` at the first invalid character."""
        yield from self._value("", "")
        if self._next():
            raise NotJson

    def rest(self) -> Iterator[str]:
        yield self._buffer[self._at :]
        yield from self._blocks

    def _value(self, key: str, step: str) -> Iterator[Section]:
        first = self._next()
        found, value = self._decoded()
        if found:
            yield from add_value(self._tree, value, key, step)
        elif first not in {"[", "{"} or self._tree.depth >= _DEEPEST:
            raise NotJson
        else:
            if self._tree.depth or step:
                enter_value(self._tree, key, step)
            yield from self._children(first)
            if self._tree.depth:
                yield from self._tree.leave()

    def _children(self, opening: str) -> Iterator[Section]:
        closing = "]" if opening == "[" else "}"
        self._at += 1
        if self._next() == closing:
            self._at += 1
            return
        index = 0
        while True:
            key = self._key() if opening == "{" else ""
            yield from self._value(key, path_step(key) if opening == "{" else f"[{index}]")
            index += 1
            end = self._next()
            if end not in {",", closing}:
                raise NotJson
            self._at += 1
            if end == closing:
                return

    def _key(self) -> str:
        self._next()
        found, key = self._decoded()
        if not found or not isinstance(key, str) or self._next() != ":":
            raise NotJson
        self._at += 1
        return key

    def _decoded(self) -> tuple[bool, Value]:
        while True:
            try:
                value, end = _DECODER.raw_decode(self._buffer, self._at)
            except (ValueError, RecursionError):
                if len(self._buffer) - self._at >= _SPAN or not self._fill():
                    return False, ""
                continue
            if end == len(self._buffer) and self._fill():
                continue
            self._at = end
            checked = _to_value(cast("object", value))
            if _is_deep(checked):
                raise NotJson
            return True, checked

    def _next(self) -> str:
        while True:
            while self._at < len(self._buffer):
                if self._buffer[self._at] not in _BLANKS:
                    return self._buffer[self._at]
                self._at += 1
            if not self._fill():
                return ""

    def _fill(self) -> bool:
        block = "" if self._ended else next(self._blocks, None)
        if block is None:
            self._ended = True
        if not block:
            return bool(block == "" and not self._ended)
        self._buffer = self._buffer[self._at :] + block
        self._at = 0
        return True
