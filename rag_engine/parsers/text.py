"""Plain text in any encoding: paragraphs, with the lines they stand on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_engine.errors import UnsupportedFile
from rag_engine.parsers._encoding import encoding_of, text_lines
from rag_engine.parsers._lines import Line, group, lines_anchor
from rag_engine.parsers._sections import joined
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def parse(path: Path) -> Iterator[Section]:
    """Whole paragraphs together up to the size of a passage, anchored to their lines."""
    encoding = encoding_of(path)
    if encoding is None:
        raise UnsupportedFile("The file is not text, so it cannot be read.")
    yield from joined(sections(text_lines(path, encoding)))


def sections(lines: Iterator[Line]) -> Iterator[Section]:
    """The sections of lines of prose."""
    for lines_of_section in group(lines, starts=_after_blank):
        text = "\n".join(line.text for line in lines_of_section)
        yield Section(text=text, anchor=lines_anchor(lines_of_section))


def _after_blank(before: Line, line: Line) -> bool:
    return not before.text.strip() and bool(line.text.strip())
