from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import regex

from bot.messages import say
from bot.rendering.markdown.widths import fitting, width
from bot.rendering.replies import printable
from bot.rendering.safety import pings
from bot.rendering.safety.links import addresses
from rag_engine.text.lazy_pattern import lazy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bot.port import Reply, Source

_WEB: Final = lazy(lambda: regex.compile(r"(?i)https?://[^\s/?#]+\S*"))
_NO_SPACES: Final = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}][\p{P}--\p{ASCII}]"
_CODE: Final = lazy(
    lambda: regex.compile(
        rf"(?<![^\s(\"'{_NO_SPACES}])`(?! )[^`]{{1,80}}(?<! )`(?![^\s).,;:!?\"'{_NO_SPACES}])",
        regex.VERSION1,
    )
)
_LONGEST_TITLE: Final = 200
_LONGEST_PLACES: Final = 300


def footer(
    reply: Reply,
    room: int,
    *,
    file: Callable[[Sequence[Source]], str],
    notice: Callable[[str], str],
    line: str = "",
) -> str:
    """In `room` UTF-16 units; omitted sources are counted."""
    notices = [line + notice(text) for text in reply.notices if text.strip()]
    for count in range(len(reply.sources), -1, -1):
        left = len(reply.sources) - count
        more = [line + notice(_more(left, count, reply.language))] if left else []
        lines = [*(line + file(group) for group in by_file(reply.sources[:count])), *more, *notices]
        if _long(lines) <= room:
            return "\n".join(lines)
    return _first(notices, room)


def by_file(sources: Sequence[Source]) -> list[list[Source]]:
    grouped: dict[tuple[str, str], list[Source]] = {}
    for source in sources:
        grouped.setdefault((source.title, source.uri), []).append(source)
    return list(grouped.values())


def file_line(sources: Sequence[Source], name: str, written: Callable[[str], str] = str) -> str:
    """ "[1] a.pdf — p. 3 · [2] p. 5"."""
    first, *others = sources
    parts = [f"{name} — {written(places(first))}" if first.places else name]
    for source in others:
        parts.append(f"[{source.number}] {written(places(source))}".rstrip())
    return " · ".join(parts)


def web_address(source: Source) -> str:
    """Safe in brackets; empty if no browser opens it."""
    if not _WEB.fullmatch(source.uri):
        return ""
    return quote(source.uri, safe="!#$%&'*+,-./:;=?@_~")


def title(source: Source) -> str:
    return _short(_line(source.title) or "untitled", _LONGEST_TITLE)


def places(source: Source) -> str:
    return _short(_line(source.places), _LONGEST_PLACES)


def unlinked(text: str) -> str:
    pieces, position = list[str](), 0
    for start, end in addresses(text):
        broken = regex.sub(r"(?<=[.:@])", pings.BREAK, text[start:end])
        pieces += (text[position:start], broken)
        position = end
    return pings.without_pings("".join((*pieces, text[position:])))


def outside_code(text: str, change: Callable[[str], str]) -> str:
    pieces, position = list[str](), 0
    for found in _CODE.finditer(text):
        pieces += (change(text[position : found.start()]), found.group())
        position = found.end()
    return "".join((*pieces, change(text[position:])))


def _line(text: str) -> str:
    return printable(" ".join(text.split()))


def _short(text: str, room: int) -> str:
    return text if width(text) <= room else text[: fitting(text, room - 1)].rstrip() + "…"


def _more(left: int, shown: int, language: str) -> str:
    return say("sources_further" if shown else "sources_hidden", language, count=left)


def _long(lines: Sequence[str]) -> int:
    return sum(width(line) + 1 for line in lines) - 1


def _first(lines: Sequence[str], room: int) -> str:
    text = "\n".join(lines)
    return (
        text
        if width(text) <= room
        else text[: fitting(text, max(room - 1, 1))].rstrip() + "…"
        if room > 1
        else ""
    )
