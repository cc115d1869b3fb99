"""Subtitles (SubRip, WebVTT, Sub Station Alpha, YouTube's SBV, lyrics): what is said, by whom, anchored to when."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Final

from rag_engine.parsers import text
from rag_engine.parsers._encoding import opened, text_lines
from rag_engine.parsers._lines import PASSAGE
from rag_engine.parsers._sections import joined
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from rag_engine.parsers._lines import Line

_TIME: Final = r"(?:(\d{1,3}):)?(\d{1,2}):(\d{1,2})(?:[.,]\d{1,3})?"
_CUE: Final = re.compile(rf"\s*{_TIME}\s*(?:-->|,)\s*{_TIME}(?:\s.*)?$")
_ASS: Final = re.compile(r"(?:Dialogue|Comment):\s*(.*)$")
_LYRIC: Final = re.compile(r"((?:\[\d{1,3}:\d{2}(?:[.:]\d{1,3})?\]\s*)+)(.*)$")
_LYRIC_TIME: Final = re.compile(r"\[(\d{1,3}):(\d{2})")
_VOICE: Final = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]{1,80})>")
_TAG: Final = re.compile(r"</?[a-zA-Z0-9:.][^<>]{0,200}>|\{\\[^{}]*\}|\{[Yy]:[^{}]*\}")
_SENTENCE_END: Final = re.compile(r"[.!?…。！？؟।]['\"”’»)\]♪]*$")
_ASS_FIELDS: Final = (
    "layer",
    "start",
    "end",
    "style",
    "name",
    "marginl",
    "marginr",
    "marginv",
    "effect",
    "text",
)
_ENOUGH: Final = PASSAGE // 2
"""Characters after which a part ends with the next sentence, so that its times stay near what was said."""
_PAUSE: Final = 20
"""Seconds of silence between two parts."""


@dataclass(frozen=True, slots=True)
class _Cue:
    start: int
    end: int
    lines: tuple[str, ...]
    speaker: str = ""


@dataclass(slots=True)
class _Open:
    """A cue whose lines are still coming."""

    start: int = 0
    end: int = 0
    lines: list[str] = field(default_factory=list[str])


def parse(path: Path) -> Iterator[Section]:
    """Sentences anchored "00:01:02–00:01:30"; what has no times is read as text."""
    encoding = opened(path)
    sections = _sections(_fresh(_cues(text_lines(path, encoding))))
    first = next(sections, None)
    if first is None:
        yield from joined(text.sections(text_lines(path, encoding)))
    else:
        yield from joined(chain([first], sections))


def _cues(lines: Iterable[Line]) -> Iterator[_Cue]:
    opened_cue: _Open | None = None
    fields: tuple[str, ...] = _ASS_FIELDS
    for line in lines:
        content = line.text.strip("\ufeff \t")
        if (times := _CUE.match(content)) is not None:
            if opened_cue is not None:
                yield _closed(opened_cue, before_times=True)
            opened_cue = _Open(_seconds(times.groups()[:3]), _seconds(times.groups()[3:]))
        elif opened_cue is not None and content:
            opened_cue.lines.append(content)
        elif opened_cue is not None:
            yield _closed(opened_cue)
            opened_cue = None
        elif content.startswith("Format:"):
            fields = tuple(name.strip().lower() for name in content[7:].split(","))
        else:
            yield from _single_line(content, fields)
    if opened_cue is not None:
        yield _closed(opened_cue)


def _closed(cue: _Open, *, before_times: bool = False) -> _Cue:
    """A cue without markup; the number of the next one is no word of it."""
    lines = cue.lines[:-1] if before_times and cue.lines and cue.lines[-1].isdigit() else cue.lines
    voice = _VOICE.search(" ".join(lines))
    return _Cue(cue.start, cue.end, tuple(_plain(lines)), voice[1].strip() if voice else "")


def _single_line(content: str, fields: tuple[str, ...]) -> Iterator[_Cue]:
    """A cue that stands on one line."""
    if (dialogue := _ASS.match(content)) is not None and content.startswith("Dialogue"):
        values = dict(zip(fields, dialogue[1].split(",", len(fields) - 1), strict=False))
        start, end = _clock(values.get("start", "")), _clock(values.get("end", ""))
        words = values.get("text", "").replace("\\N", "\n").replace("\\n", "\n").replace("\\h", " ")
        if "\\p1" not in words:
            yield _Cue(start, end, tuple(_plain(words.split("\n"))), values.get("name", "").strip())
    elif (lyric := _LYRIC.match(content)) is not None:
        for minutes, seconds in _LYRIC_TIME.findall(lyric[1]):
            start = int(minutes) * 60 + int(seconds)
            yield _Cue(start, start, tuple(_plain([lyric[2]])))


def _plain(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        words = " ".join(html.unescape(_TAG.sub("", line)).split())
        if words:
            yield words


def _seconds(parts: tuple[str | None, ...]) -> int:
    hours, minutes, seconds = (int(part or 0) for part in parts)
    return hours * 3600 + minutes * 60 + seconds


def _clock(value: str) -> int:
    times = re.match(_TIME, value.strip())
    return _seconds(times.groups()) if times is not None else 0


def _fresh(cues: Iterable[_Cue]) -> Iterator[_Cue]:
    """Cues without the lines that captions which roll up show once more."""
    shown: tuple[str, ...] = ()
    end = -1
    for cue in cues:
        lines = cue.lines
        if cue.start <= end + 1:
            kept = next(
                (size for size in range(min(len(shown), len(lines)), 0, -1) if shown[-size:] == lines[:size]),
                0,
            )
            # The same word said twice is no caption that rolls up.
            if len(lines) > kept or cue.start <= end:
                lines = lines[kept:]
        shown, end = cue.lines or shown, max(end, cue.end)
        if lines:
            yield replace(cue, lines=lines)


def _sections(cues: Iterable[_Cue]) -> Iterator[Section]:
    """Cues put together until a sentence ends."""
    words: list[str] = []
    speaker = ""
    start = end = size = 0
    for cue in cues:
        is_full = size >= PASSAGE or (size >= _ENOUGH and _SENTENCE_END.search(words[-1]) is not None)
        if words and (is_full or cue.start > end + _PAUSE):
            yield _section(words, start, end)
            words, size, speaker = [], 0, ""
        if not words:
            start, end = cue.start, cue.end
        spoken = " ".join(cue.lines)
        changes = bool(cue.speaker) and cue.speaker != speaker
        if changes:
            spoken = f"{cue.speaker}: {spoken}"
        is_new = changes or spoken.startswith(("-", "–", "—", ">>", "[", "♪"))
        words.append(f"\n{spoken}" if words and is_new else spoken)
        speaker, end = cue.speaker or speaker, max(end, cue.end)
        size += len(spoken) + 1
    if words:
        yield _section(words, start, end)


def _section(words: list[str], start: int, end: int) -> Section:
    text_of_cues = " ".join(words).replace(" \n", "\n")
    anchor = _shown(start) if start >= end else f"{_shown(start)}–{_shown(end)}"
    return Section(text=text_of_cues, anchor=anchor)


def _shown(seconds: int) -> str:
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
