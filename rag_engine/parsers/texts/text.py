from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._shared.encoding import text_encoding, text_lines
from rag_engine.parsers._shared.lines import NumberedLine, group, lines_anchor
from rag_engine.parsers._shared.sections import HeadingPath, joined, titles
from rag_engine.parsers._shared.text_headings import headed
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

SUFFIXES: Final = "txt log asc nfo text out bib po pot"
CONTENT: Final = "text"


def parse(path: Path) -> Iterator[Section]:
    """Whole paragraphs of about a passage, anchored to their lines."""
    yield from joined(sections(text_lines(path, text_encoding(path))))


def after_blank(before: NumberedLine, line: NumberedLine) -> bool:
    return not before.text.strip() and bool(line.text.strip())


def sections(
    lines: Iterable[NumberedLine], *, starts: Callable[[NumberedLine, NumberedLine], bool] = after_blank
) -> Iterator[Section]:
    for path, part in groupby(headed(lines), key=_path):
        headings = titles(path)
        for lines_of_section in group((line for _, line in part), starts=starts):
            text = "\n".join(line.text for line in lines_of_section)
            yield Section(text=text, anchor=lines_anchor(lines_of_section), headings=headings)


def _path(headed_line: tuple[HeadingPath, NumberedLine]) -> HeadingPath:
    return headed_line[0]
