"""Pure: a reply as the messages that a platform shows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import regex

from bot.port import Page
from bot.rendering.widths import fitting, width

if TYPE_CHECKING:
    from bot.port import Limits, Reply

_BORDERS: Final = tuple(
    regex.compile(border) for border in (r"\n{2,}", r"\n", r"(?<=[.!?。！？])\s+", r"\s+")
)


def pages(reply: Reply, limits: Limits, *, final: bool) -> list[Page]:
    """The messages that show the reply, one at least; a page that another follows never changes when the text grows."""
    texts = _split(reply.text, limits.characters) or [""]
    shown = [Page(text=text, reply=reply) for text in texts]
    footer = _footer(reply, limits.characters)
    if footer and width(texts[-1]) + width(footer) + 2 > limits.characters:
        shown.append(Page(reply=reply))
    status = "" if reply.text else reply.status[: fitting(reply.status, limits.characters)]
    shown[-1] = replace(
        shown[-1], footer=footer, status=status, buttons=reply.buttons, files=reply.files if final else ()
    )
    return shown


def _split(text: str, room: int) -> list[str]:
    parts: list[str] = []
    start = 0
    while start < len(text):
        end = fitting(text, room, start)
        if end < len(text):
            end = _border(text, start, end)
        parts.append(text[start:end])
        start = end
    return parts


def _border(text: str, start: int, end: int) -> int:
    for border in _BORDERS:
        ends = [found.end() for found in border.finditer(text, start + (end - start) // 2, end)]
        if ends:
            return ends[-1]
    return end


def _footer(reply: Reply, room: int) -> str:
    lines = [
        f"[{source.number}] {source.title}" + (f" — {source.places}" if source.places else "")
        for source in reply.sources
    ]
    lines += reply.notices
    footer = "\n".join(lines)
    return footer[: fitting(footer, room)]
