from __future__ import annotations

import html
import re
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._shared.encoding import text_encoding, text_lines
from rag_engine.parsers._shared.lines import PASSAGE
from rag_engine.parsers._shared.sections import joined
from rag_engine.parsers.texts import text
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from rag_engine.parsers._shared.lines import NumberedLine

SUFFIXES: Final = "srt vtt ass ssa sbv lrc"
BEGINNING: Final = r"WEBVTT|1\s+\d\d:\d\d:\d\d,\d{3} -->"
CONTENT: Final = "text"

_TIME: Final = r"(?:(\d{1,3}):)?(\d{1,2}):(\d{1,2})(?:[.,]\d{1,3})?"
_CUE: Final = re.compile(rf"\s*{_TIME}\s*(?:-->|,)\s*{_TIME}(?:\s.*)?$")
_ASS: Final = re.compile(r"(?:Dialogue|Comment):\s*(.*)$")
_LYRIC: Final = re.compile(r"((?:\[\d{1,3}:\d{2}(?:[.:]\d{1,3})?\]\s*)+)(.*)$")
_LYRIC_TIME: Final = re.compile(r"\[(\d{1,3}):(\d{2})")
_VOICE: Final = re.compile(r"<v(?:\.[^\s<>]{0,80})?\s++([^>]{1,80})>")
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
"""Characters; the next sentence ends the section: its times stay precise."""
_PAUSE: Final = 20


@dataclass(frozen=True, slots=True)
class Cue:
    start: int
    end: int
    lines: tuple[str, ...]
    speaker: str = ""


@dataclass(slots=True)
class _OpenCue:
    start: int = 0
    end: int = 0
    lines: list[str] = field(default_factory=list[str])


def parse(path: Path) -> Iterator[Section]:
    """Anchored "00:01:02–00:01:30". A file without times is text."""
    encoding = text_encoding(path)
    sections = timed_sections(_without_repeated_lines(_cues(text_lines(path, encoding))))
    first = next(sections, None)
    if first is None:
        yield from joined(text.sections(text_lines(path, encoding)))
    else:
        yield from joined(chain([first], sections))


def _cues(lines: Iterable[NumberedLine]) -> Iterator[Cue]:
    open_cue: _OpenCue | None = None
    fields: tuple[str, ...] = _ASS_FIELDS
    for line in lines:
        content = line.text.strip("\ufeff \t")
        if (times := _CUE.match(content)) is not None:
            if open_cue is not None:
                yield _finished_cue(open_cue, before_times=True)
            open_cue = _OpenCue(_seconds(times.groups()[:3]), _seconds(times.groups()[3:]))
        elif open_cue is not None and content:
            open_cue.lines.append(content)
        elif open_cue is not None:
            yield _finished_cue(open_cue)
            open_cue = None
        elif content.startswith("Format:"):
            fields = tuple(name.strip().lower() for name in content[7:].split(","))
        else:
            yield from _single_line(content, fields)
    if open_cue is not None:
        yield _finished_cue(open_cue)


def _finished_cue(cue: _OpenCue, *, before_times: bool = False) -> Cue:
    lines = cue.lines[:-1] if before_times and cue.lines and cue.lines[-1].isdigit() else cue.lines
    voice = _VOICE.search(" ".join(lines))
    return Cue(cue.start, cue.end, tuple(_plain(lines)), voice[1].strip() if voice else "")


def _single_line(content: str, fields: tuple[str, ...]) -> Iterator[Cue]:
    if (dialogue := _ASS.match(content)) is not None and content.startswith("Dialogue"):
        values = dict(zip(fields, dialogue[1].split(",", len(fields) - 1), strict=False))
        start, end = _parsed_time(values.get("start", "")), _parsed_time(values.get("end", ""))
        words = values.get("text", "").replace("\\N", "\n").replace("\\n", "\n").replace("\\h", " ")
        if "\\p1" not in words:
            yield Cue(start, end, tuple(_plain(words.split("\n"))), values.get("name", "").strip())
    elif (lyric := _LYRIC.match(content)) is not None:
        for minutes, seconds in _LYRIC_TIME.findall(lyric[1]):
            start = int(minutes) * 60 + int(seconds)
            yield Cue(start, start, tuple(_plain([lyric[2]])))


def _plain(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        words = " ".join(html.unescape(_TAG.sub("", line)).split())
        if words:
            yield words


def _seconds(parts: tuple[str | None, ...]) -> int:
    hours, minutes, seconds = (int(part or 0) for part in parts)
    return hours * 3600 + minutes * 60 + seconds


def _parsed_time(value: str) -> int:
    times = re.match(_TIME, value.strip())
    return _seconds(times.groups()) if times is not None else 0


def _without_repeated_lines(cues: Iterable[Cue]) -> Iterator[Cue]:
    shown: tuple[str, ...] = ()
    end = -1
    for cue in cues:
        lines = cue.lines
        if cue.start <= end + 1:
            repeats = next(
                (size for size in range(min(len(shown), len(lines)), 0, -1) if shown[-size:] == lines[:size]),
                0,
            )
            if len(lines) > repeats or cue.start <= end:
                lines = lines[repeats:]
        shown, end = cue.lines or shown, max(end, cue.end)
        if lines:
            yield replace(cue, lines=lines)


def timed_sections(cues: Iterable[Cue]) -> Iterator[Section]:
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
    anchor = _timestamp(start) if start >= end else f"{_timestamp(start)}–{_timestamp(end)}"
    return Section(text=text_of_cues, anchor=anchor)


def _timestamp(seconds: int) -> str:
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
