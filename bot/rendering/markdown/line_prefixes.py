from __future__ import annotations

from typing import TYPE_CHECKING

from bot.rendering.markdown.blocks import Item, Quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.rendering.dialect import Dialect
    from bot.rendering.markdown.blocks import Container, SourceLine

_CONTINUED = "…"


def before(line: SourceLine, dialect: Dialect) -> str:
    normal = _normal(line.containers, line.index, dialect)
    if line.offset < 0:
        return normal
    written = line.written[: line.offset]
    if dialect.verbatim:
        return written
    indented = len(written) >= len(normal) or (line.kind == "prose" and not line.begins)
    same = "".join(written.split()) == "".join(normal.split())
    return written if same and indented else normal


def quoted(line: SourceLine, dialect: Dialect) -> str:
    return _normal([quote for quote in line.containers if isinstance(quote, Quote)], line.index, dialect)


def inside(line: SourceLine, dialect: Dialect) -> str:
    return _normal(line.containers, -1, dialect)


def reopened(line: SourceLine, dialect: Dialect) -> str:
    items = _items(line, dialect, upto=line.index - 1)
    return "".join(f"{mark}\n" for mark in items)


def resumed(line: SourceLine, dialect: Dialect) -> str:
    items = _items(line, dialect, upto=line.index)
    return "\n".join(items) + " " if items else quoted(line, dialect)


def _items(line: SourceLine, dialect: Dialect, *, upto: int) -> list[str]:
    containers = line.containers
    return [
        _normal(containers[: depth + 1], container.line, dialect) + _CONTINUED
        for depth, container in enumerate(containers)
        if isinstance(container, Item) and container.line <= upto
    ]


def _normal(containers: Sequence[Container], index: int, dialect: Dialect) -> str:
    marks: list[str] = []
    for container in containers:
        match container:
            case Quote():
                marks.append("> ")
            case Item(line=line):
                mark = _mark(container, dialect) + " "
                marks.append(mark if line == index else " " * len(mark))
    if dialect.flat and "> " in marks:
        marks = ["> ", *(mark for mark in marks if mark != "> ")]
    return "".join(marks)


def _mark(item: Item, dialect: Dialect) -> str:
    if item.number is None:
        return "-" if dialect.flat and item.mark == "+" else item.mark
    return f"{item.number}{'.' if dialect.flat else item.mark}"
