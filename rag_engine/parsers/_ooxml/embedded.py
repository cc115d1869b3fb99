"""Files that Word and PowerPoint show within a document: read where they stand, as their own formats."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._nested import Member, parsed, written
from rag_engine.parsers._sections import section_anchor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rag_engine.parsers._ooxml import Package
    from rag_engine.parsers._unpacking import Unpacking
    from rag_engine.types import Section

_CONTINUED: Final = frozenset(
    {".html", ".htm", ".xhtml", ".mht", ".mhtml", ".txt", ".rtf", ".docx", ".docm", ".dotx"}
)
"""What Word takes as a part of a text."""


def embedded_sections(
    package: Package, part: str, unpacking: Unpacking, anchor: str, headings: tuple[str, ...]
) -> Iterator[Section]:
    """What the file in `part` says. What cannot be read is left out: the document shows no more than a picture of it."""
    member = Member(
        name=PurePosixPath(part).name, chunks=lambda: package.chunks(part), packed=package.packed(part)
    )
    with suppress(Exception), written(member, unpacking) as path:
        for section in parsed(path, member.name, unpacking.deeper()):
            if section.kind != "notice":
                yield replace(section, anchor=anchor, headings=(*headings, *section.headings))


def continued_sections(
    package: Package, part: str, unpacking: Unpacking, headings: tuple[str, ...]
) -> Iterator[Section]:
    """The same for a file that is shown as a part of the text: its headings are the document's."""
    if PurePosixPath(part).suffix.lower() not in _CONTINUED:
        return
    for section in embedded_sections(package, part, unpacking, "", headings):
        yield replace(section, anchor=section_anchor(section.headings))
