"""Plain text in any encoding: paragraphs under the headings that people write without markup, with the lines they stand on."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from rag_engine.parsers._encoding import opened, text_lines
from rag_engine.parsers._lines import Line, group, lines_anchor
from rag_engine.parsers._sections import HeadingPath, joined, titles
from rag_engine.parsers._text_headings import headed
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path


def parse(path: Path) -> Iterator[Section]:
    """Whole paragraphs together up to the size of a passage, anchored to their lines."""
    yield from joined(sections(text_lines(path, opened(path))))


def after_blank(before: Line, line: Line) -> bool:
    """Whether a paragraph begins."""
    return not before.text.strip() and bool(line.text.strip())


def sections(
    lines: Iterable[Line], *, starts: Callable[[Line, Line], bool] = after_blank
) -> Iterator[Section]:
    """The sections of lines of prose; a block begins where `starts` says so of a line and the one before it."""
    for path, part in groupby(headed(lines), key=_path):
        headings = titles(path)
        for lines_of_section in group((line for _, line in part), starts=starts):
            text = "\n".join(line.text for line in lines_of_section)
            yield Section(text=text, anchor=lines_anchor(lines_of_section), headings=headings)


def _path(headed_line: tuple[HeadingPath, Line]) -> HeadingPath:
    return headed_line[0]
