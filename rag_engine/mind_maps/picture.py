"""For a phone: one node a line, a coloured branch for each subject."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rag_engine.text.fitted_text import safe, wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rag_engine.mind_maps.tree import MindMap, MindNode

WIDTH: Final = 900
_MARGIN: Final = 28
_INDENT: Final = 44
_LINE: Final = 34
_GAP: Final = 14
_FONT: Final = 26
_SMALL: Final = 20
_COLOURS: Final = ("#1f5fa8", "#b3541e", "#2b7a4b", "#7a3e9d", "#a8324a", "#0f7a80", "#7d6608", "#4d5560")
"""Contrast to white at least 4.5."""
_LONGEST_PLACE: Final = 16
_TRUNK: Final = "#b4bac2"


@dataclass(frozen=True, slots=True)
class _Placed:
    node: MindNode
    depth: int
    colour: str
    parent: int
    lines: tuple[str, ...]
    top: float


def png(mind_map: MindMap, *, place: Callable[[str], str] = str) -> bytes:
    """`place` translates. Takes tens of milliseconds: not for the event loop."""
    import pymupdf

    document: Any = pymupdf.open("svg", svg(mind_map, place=place).encode())
    with document:
        return bytes(document[0].get_pixmap(dpi=72, alpha=False).tobytes("png"))


def svg(mind_map: MindMap, *, place: Callable[[str], str] = str) -> str:
    placed = _placed(mind_map.root)
    height = placed[-1].top + len(placed[-1].lines) * _LINE + _MARGIN + _LINE
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:.0f}">',
        f'<rect width="{WIDTH}" height="{height:.0f}" fill="#ffffff"/>',
        *(_branch(each, placed) for each in placed[1:]),
        *(_text(each, place) for each in placed),
        "</svg>",
    ]
    return "\n".join(parts)


def _placed(root: MindNode) -> list[_Placed]:
    found: list[_Placed] = []
    parents: list[int] = []
    top = float(_MARGIN)
    subjects = 0
    for depth, node in root.walk():
        if depth == 1:
            subjects += 1
        parents = [*parents[:depth], len(found)]
        lines = wrapped(node.label, _room(depth))
        colour = "#202428" if depth == 0 else _COLOURS[(subjects - 1) % len(_COLOURS)]
        parent = parents[depth - 1] if depth else 0
        found.append(_Placed(node, depth, colour, parent, lines, top))
        top += len(lines) * _LINE + _GAP
    return found


def _room(depth: int) -> float:
    return (WIDTH - 2 * _MARGIN - depth * _INDENT - 110) / _FONT


def _branch(each: _Placed, placed: Sequence[_Placed]) -> str:
    parent = placed[each.parent]
    x = _MARGIN + parent.depth * _INDENT + 12
    start = parent.top + len(parent.lines) * _LINE + 4
    end_x, end_y = _MARGIN + each.depth * _INDENT - 6, each.top + _LINE / 2 + 2
    trunk = f"M{x} {start:.0f} L{x} {end_y - 10:.0f}"
    turn = f"M{x} {end_y - 10:.0f} Q{x} {end_y:.0f} {x + 10} {end_y:.0f} L{end_x} {end_y:.0f}"
    trunk_colour = parent.colour if parent.depth else _TRUNK
    return "\n".join(
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="3"/>'
        for path, colour in ((trunk, trunk_colour), (turn, each.colour))
    )


def _text(each: _Placed, place: Callable[[str], str]) -> str:
    x = _MARGIN + each.depth * _INDENT
    weight = ' font-weight="bold"' if each.depth < 2 else ""
    style = f'font-family="sans-serif" font-size="{_FONT}" fill="{each.colour}"{weight}'
    parts = [
        f'<text x="{x}" y="{each.top + number * _LINE + _FONT:.0f}" {style}>{safe(line)}</text>'
        for number, line in enumerate(each.lines)
    ]
    if each.node.place:
        where = f'x="{WIDTH - _MARGIN}" y="{each.top + _FONT:.0f}" text-anchor="end"'
        look = f'font-family="sans-serif" font-size="{_SMALL}" fill="#5b6470"'
        parts.append(f"<text {where} {look}>{safe(_short(place(each.node.place)))}</text>")
    return "\n".join(parts)


def _short(place: str) -> str:
    return place if len(place) <= _LONGEST_PLACE else f"{place[: _LONGEST_PLACE - 1]}…"
