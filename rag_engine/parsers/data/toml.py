from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._shared.encoding import text_encoding, text_lines
from rag_engine.parsers._shared.lines import NumberedLine, group, lines_anchor
from rag_engine.parsers._shared.sections import joined, one_line
from rag_engine.parsers.texts import text
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

SUFFIXES: Final = "ini cfg conf properties env editorconfig service desktop"
CONTENT: Final = "text"

_TABLE: Final = re.compile(r"\s*+\[\[?(?P<name>[^\[\]=]{1,200})\]\]?\s*+(?:[#;].*)?$")
_KEY: Final = re.compile(r"\"[^\"]*\"|'[^']*'|[^.\"']+")
_MOST_LINES: Final = 2_000
_MULTILINE: Final = re.compile("\"\"\"|'''")


def parse(path: Path) -> Iterator[Section]:
    """Anchored by lines, headed by the names of their table."""
    yield from joined(_sections(text_lines(path, text_encoding(path))))


def _sections(lines: Iterable[NumberedLine]) -> Iterator[Section]:
    for headings, part in _tables(lines):
        for lines_of_section in group(part, starts=text.after_blank):
            content = "\n".join(line.text for line in lines_of_section)
            yield Section(text=content, anchor=lines_anchor(lines_of_section), headings=headings, kind="code")


def _tables(lines: Iterable[NumberedLine]) -> Iterator[tuple[tuple[str, ...], list[NumberedLine]]]:
    headings: tuple[str, ...] = ()
    pending: list[NumberedLine] = []
    closing = ""
    for line in lines:
        name = None if closing else _TABLE.match(line.text)
        if name is not None:
            above = _trailing_comments(pending)
            yield headings, pending[: len(pending) - above]
            pending = pending[len(pending) - above :]
            headings = tuple(
                one_line(key.strip("\"' ")) for key in _KEY.findall(name["name"].strip()) if key.strip("\"' ")
            )
        elif len(pending) >= _MOST_LINES:
            yield headings, pending
            pending = []
        closing = _open_quotes(line.text, closing)
        pending.append(line)
    yield headings, pending


def _trailing_comments(lines: list[NumberedLine]) -> int:
    count = 0
    while count < len(lines) and lines[-1 - count].text.lstrip().startswith(("#", ";")):
        count += 1
    return count


def _open_quotes(content: str, closing: str) -> str:
    for mark in _MULTILINE.findall(content):
        if not closing:
            closing = mark
        elif mark == closing:
            closing = ""
    return closing
