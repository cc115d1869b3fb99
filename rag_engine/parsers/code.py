"""Source code: top-level definitions, told by indentation and blank lines, with the lines they stand on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rag_engine.errors import UnsupportedFile
from rag_engine.parsers._encoding import encoding_of, text_lines
from rag_engine.parsers._lines import Line, group, lines_anchor
from rag_engine.parsers._sections import joined
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_DEFINITION: Final = re.compile(
    r"(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\([^)]*\))?|unsafe|data"
    r"|sealed|override|virtual|inline|extern|const)\s+)*"
    r"(?P<name>(?:class|def|func|fun|fn|function|interface|struct|enum|trait|impl|module|namespace|object|type|record"
    r"|protocol|extension|create\s+(?:or\s+replace\s+)?(?:table|view|function|procedure))\s+[\w$.]+)",
    re.IGNORECASE,
)
_NAMED: Final = 4
_CLOSERS: Final = ("}", ")", "]", "end", "else", "elif", "except", "finally", "catch", "{")


def parse(path: Path) -> Iterator[Section]:
    """Whole definitions together up to the size of a passage; the heading names them."""
    encoding = encoding_of(path)
    if encoding is None:
        raise UnsupportedFile("The file is not text, so it cannot be read.")
    yield from joined(_sections(text_lines(path, encoding)))


def _sections(lines: Iterator[Line]) -> Iterator[Section]:
    for lines_of_section in group(lines, starts=_starts_definition):
        text = "\n".join(line.text for line in lines_of_section)
        yield Section(
            text=text,
            anchor=lines_anchor(lines_of_section),
            headings=_headings(lines_of_section),
            kind="code",
        )


def _starts_definition(before: Line, line: Line) -> bool:
    """An unindented line after a blank one, or the definition itself, unless it closes what came before."""
    if not line.text or line.text[0].isspace() or line.text.startswith(_CLOSERS):
        return False
    return not before.text.strip() or (
        _DEFINITION.match(line.text) is not None
        and not before.text.startswith(("@", "#", "/", "*", " *", "--"))
    )


def _headings(lines: Sequence[Line]) -> tuple[str, ...]:
    matches = (_DEFINITION.match(line.text) for line in lines)
    names = [" ".join(match["name"].split()) for match in matches if match]
    return (", ".join(names[:_NAMED]),) if names else ()
