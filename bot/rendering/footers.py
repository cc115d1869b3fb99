"""Pure: the small print under an answer: its sources, and what else must be said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import regex

from bot.rendering import pings
from bot.rendering.links import addresses
from bot.rendering.replies import printable
from bot.rendering.widths import fitting, width

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bot.port import Reply, Source

_WEB: Final = regex.compile(r"(?i)https?://[^\s/?#]+\S*")
_CODE: Final = regex.compile(r"(?<![^\s(\"'])`(?! )[^`]{1,80}(?<! )`(?![^\s).,;:!?\"'])")
"""What our own sentences show as code: a span that stands by itself, unlike backticks in the middle of a name."""
_LONGEST_TITLE: Final = 200
_LONGEST_PLACES: Final = 300


def footer(
    reply: Reply, room: int, *, source: Callable[[Source], str], notice: Callable[[str], str], line: str = ""
) -> str:
    """One line a source and a notice, each begun by `line`, in `room` UTF-16 units; what does not fit is counted."""
    notices = [line + notice(text) for text in reply.notices if text.strip()]
    listed = [line + source(each) for each in reply.sources]
    for count in range(len(listed), -1, -1):
        left = len(listed) - count
        more = [line + notice(_more(left, count))] if left else []
        lines = [*listed[:count], *more, *notices]
        if _long(lines) <= room:
            return "\n".join(lines)
    return _first(notices, room)


def web_address(source: Source) -> str:
    """The address to link to, safe within any brackets; empty when it leads to nothing a browser opens."""
    if not _WEB.fullmatch(source.uri):
        return ""
    return quote(source.uri, safe="!#$%&'*+,-./:;=?@_~")


def title(source: Source) -> str:
    """The title in one line."""
    return _short(_line(source.title) or "untitled", _LONGEST_TITLE)


def places(source: Source) -> str:
    return _short(_line(source.places), _LONGEST_PLACES)


def unlinked(text: str) -> str:
    """Text in which no program finds an address, or a name to ping."""
    pieces, position = list[str](), 0
    for start, end in addresses(text):
        broken = regex.sub(r"(?<=[.:@])", pings.BREAK, text[start:end])
        pieces += (text[position:start], broken)
        position = end
    return pings.without_pings("".join((*pieces, text[position:])))


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Text in which all but its spans of code is changed."""
    pieces, position = list[str](), 0
    for found in _CODE.finditer(text):
        pieces += (change(text[position : found.start()]), found.group())
        position = found.end()
    return "".join((*pieces, change(text[position:])))


def _line(text: str) -> str:
    return printable(" ".join(text.split()))


def _short(text: str, room: int) -> str:
    return text if width(text) <= room else text[: fitting(text, room - 1)].rstrip() + "…"


def _more(left: int, shown: int) -> str:
    if not shown:
        return (
            f"{left} sources: press Sources to see them."
            if left > 1
            else "1 source: press Sources to see it."
        )
    return f"and {left} more: press Sources."


def _long(lines: Sequence[str]) -> int:
    return sum(width(line) + 1 for line in lines) - 1


def _first(lines: Sequence[str], room: int) -> str:
    """As many of the lines as fit; of the first that does not, its beginning."""
    text = "\n".join(lines)
    return (
        text
        if width(text) <= room
        else text[: fitting(text, max(room - 1, 1))].rstrip() + "…"
        if room > 1
        else ""
    )
