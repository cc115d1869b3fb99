"""TOML, INI and other files of settings: as they are written, a table at a time, under the path of its keys."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rag_engine.parsers import text
from rag_engine.parsers._encoding import opened, text_lines
from rag_engine.parsers._lines import Line, group, lines_anchor
from rag_engine.parsers._sections import joined, one_line
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_TABLE: Final = re.compile(r"\s*\[\[?\s*(?P<name>[^\[\]=]{1,200}?)\s*\]\]?\s*(?:[#;].*)?$")
_KEY: Final = re.compile(r"\"[^\"]*\"|'[^']*'|[^.\"']+")
_MOST_LINES: Final = 2_000
"""Lines of a table held before some are handed out."""
_MULTILINE: Final = re.compile("\"\"\"|'''")


def parse(path: Path) -> Iterator[Section]:
    """Sections anchored by lines; the names of the table around are the headings."""
    yield from joined(_sections(text_lines(path, opened(path))))


def _sections(lines: Iterable[Line]) -> Iterator[Section]:
    for headings, part in _tables(lines):
        for lines_of_section in group(part, starts=text.after_blank):
            content = "\n".join(line.text for line in lines_of_section)
            yield Section(text=content, anchor=lines_anchor(lines_of_section), headings=headings, kind="code")


def _tables(lines: Iterable[Line]) -> Iterator[tuple[tuple[str, ...], list[Line]]]:
    """The lines of each table with its path; a comment right above a table's name belongs to it. A long one comes in parts."""
    headings: tuple[str, ...] = ()
    pending: list[Line] = []
    closing = ""
    for line in lines:
        name = None if closing else _TABLE.match(line.text)
        if name is not None:
            above = _comments_at_end(pending)
            yield headings, pending[: len(pending) - above]
            pending = pending[len(pending) - above :]
            headings = tuple(
                one_line(key.strip("\"' ")) for key in _KEY.findall(name["name"]) if key.strip("\"' ")
            )
        elif len(pending) >= _MOST_LINES:
            yield headings, pending
            pending = []
        closing = _closing(line.text, closing)
        pending.append(line)
    yield headings, pending


def _comments_at_end(lines: list[Line]) -> int:
    count = 0
    while count < len(lines) and lines[-1 - count].text.lstrip().startswith(("#", ";")):
        count += 1
    return count


def _closing(content: str, closing: str) -> str:
    """The quotation marks that end the text which the line leaves open; empty when it leaves none."""
    for mark in _MULTILINE.findall(content):
        if not closing:
            closing = mark
        elif mark == closing:
            closing = ""
    return closing
