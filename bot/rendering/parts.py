"""Only the last part changes as the text grows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import regex

from bot.rendering.markdown.line import Border
from bot.rendering.markdown.widths import fitting, width
from rag_engine.text.lazy_pattern import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bot.rendering.markdown.line import RenderedLine

_WORD: Final = lazy(lambda: regex.compile(r"\s+|(?<=[。！？；，、])"))
_SENTENCE_END: Final = lazy(lambda: regex.compile(r"[.!?…。！？][\"')\]*_]{0,3}$"))
_EMPHASIS: Final = lazy(lambda: regex.compile(r"\*\*|~~|(?<![\w*])\*(?=[^\s*])|(?<=[^\s*])\*(?!\*)"))

_SENTENCE, _IN_SENTENCE, _IN_EMPHASIS, _ANYWHERE, _IN_WHOLE = 4, 5, 6, 8, 10
_LEAST_FILL: Final = 0.5
_MOST_REPEATED: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagePart:
    """`opened` and `closed` restore formatting; `gap` is white space that is not shown."""

    body: str
    opened: str = ""
    closed: str = ""
    gap: str = ""

    @property
    def text(self) -> str:
        return f"{self.opened}{self.body}{self.closed}"


def split(lines: Sequence[RenderedLine], room: int) -> list[MessagePart]:
    """Of at most `room` UTF-16 units; no lines, no parts."""
    return list(_Splitter(lines, room).parts())


@dataclass(frozen=True, slots=True, order=True)
class _Cut:
    line: int
    offset: int = 0


class _Splitter:
    def __init__(self, lines: Sequence[RenderedLine], room: int) -> None:
        self._lines = lines
        self._room = room
        self._widths = [width(line.text) for line in lines]

    def parts(self) -> Iterator[MessagePart]:
        start = _Cut(0)
        opened = ""
        while (full := self._first_too_much(start, opened)) is not None:
            cut = self._cut(start, full, opened)
            yield self._part(start, cut, opened)
            start = self._after_blanks(cut)
            opened = self._opened(start)
        if start.line < len(self._lines):
            yield self._part(start, _Cut(len(self._lines)), opened)

    def _first_too_much(self, start: _Cut, opened: str) -> int | None:
        used = width(opened) - 1
        for number in range(start.line, len(self._lines)):
            line = self._lines[number]
            whole = number > start.line or not start.offset
            used += 1 + (self._widths[number] if whole else width(line.text[start.offset :]))
            if used + width(line.closing) > self._room:
                return number
        return None

    def _cut(self, start: _Cut, full: int, opened: str) -> _Cut:
        best: tuple[bool, float, int] | None = None
        chosen = _Cut(full, 1)
        used = width(opened)
        for number in range(start.line, full + 1):
            line = self._lines[number]
            if number > start.line:
                if line.text or number == full:
                    fill = used / self._room
                    best, chosen = _better(best, chosen, _Cut(number), _border(line.border), fill)
                used += 1
            offset = start.offset if number == start.line else 0
            if number < full:
                used += width(line.text[offset:])
                continue
            left = self._room - used - width(line.closing)
            for position, rank in _places(line, offset, left):
                fill = (used + width(line.text[offset:position])) / self._room
                best, chosen = _better(best, chosen, _Cut(number, position), rank, fill)
        return chosen if chosen > start else _Cut(start.line, start.offset + 1)

    def _part(self, start: _Cut, end: _Cut, opened: str) -> MessagePart:
        body = self._text(start, end)
        after = self._after_blanks(end)
        gap = self._text(end, after)
        code = end.line < len(self._lines) and self._lines[end.line].code
        if not (code and end.offset):
            kept = body.rstrip() if not code else body.rstrip("\n")
            body, gap = kept, body[len(kept) :] + gap
        last = self._lines[end.line if end.offset else end.line - 1]
        closed = last.closing if body or opened else ""
        return MessagePart(body=body, opened=opened, closed=closed, gap=gap)

    def _text(self, start: _Cut, end: _Cut) -> str:
        pieces: list[str] = []
        for number in range(start.line, min(end.line + 1, len(self._lines))):
            text = self._lines[number].text
            begin = start.offset if number == start.line else 0
            if number < end.line:
                pieces.append(text[begin:])
                pieces.append("\n" if number + 1 < len(self._lines) else "")
            else:
                pieces.append(text[begin : end.offset])
        return "".join(pieces)

    def _after_blanks(self, cut: _Cut) -> _Cut:
        line, offset = cut.line, cut.offset
        while line < len(self._lines) and not self._lines[line].code:
            text = self._lines[line].text
            if text[offset:].strip():
                if offset:
                    offset += len(text[offset:]) - len(text[offset:].lstrip())
                break
            line, offset = line + 1, 0
        return _Cut(line, offset)

    def _opened(self, start: _Cut) -> str:
        if start.line >= len(self._lines):
            return ""
        line = self._lines[start.line]
        opened = line.resumed if start.offset else line.opened
        if width(opened) + width(line.closing) <= self._room * _MOST_REPEATED:
            return opened
        return ""


def _border(border: Border) -> int:
    return int(border)


def _better(
    best: tuple[bool, float, int] | None, chosen: _Cut, cut: _Cut, rank: int, fill: float
) -> tuple[tuple[bool, float, int] | None, _Cut]:
    score = (fill < _LEAST_FILL, float(rank), 0)
    if rank >= Border.NEVER:
        score = (True, float(rank) + 100, 0)
    if best is None or score <= best:
        return score, cut
    return best, chosen


def _places(line: RenderedLine, start: int, room: int) -> Iterator[tuple[int, int]]:
    if room <= 0:
        return
    end = fitting(line.text, room, start)
    if width(line.text[start:end]) > room or end >= len(line.text):
        end = min(end, len(line.text) - 1)
    if end <= start or width(line.text[start:end]) > room:
        return
    inside = _inside(line, start, end)
    emphasis = _Emphasis(line.text) if not line.code else None
    for found in _WORD.finditer(line.text, start, end) if not line.code else ():
        position = found.end()
        if position <= start or inside[position - start]:
            continue
        ends = _SENTENCE_END.search(line.text, max(start, found.start() - 4), found.start())
        rank = _SENTENCE if ends else _IN_SENTENCE
        yield position, _IN_EMPHASIS if emphasis and emphasis.open_at(position) else rank
    yield end, _IN_WHOLE if inside[end - start] else _ANYWHERE
    before = max((begin for begin, stop in line.whole if begin < end < stop), default=end)
    if start < before < end:
        yield before, _ANYWHERE


def _inside(line: RenderedLine, start: int, end: int) -> bytearray:
    inside = bytearray(end - start + 1)
    for begin, stop in line.whole:
        first, last = max(begin + 1, start), min(stop, end + 1)
        if first < last:
            inside[first - start : last - start] = b"\1" * (last - first)
    return inside


class _Emphasis:
    def __init__(self, text: str) -> None:
        self._marks = list(_EMPHASIS.finditer(text))
        self._next = 0
        self._open: set[str] = set()

    def open_at(self, position: int) -> bool:
        while self._next < len(self._marks) and self._marks[self._next].end() <= position:
            self._open ^= {self._marks[self._next].group()}
            self._next += 1
        return bool(self._open)
