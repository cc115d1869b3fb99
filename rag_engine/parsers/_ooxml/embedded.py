from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._archives.nested_files import NestedFile, parsed, written
from rag_engine.parsers._shared.sections import section_anchor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rag_engine.parsers._archives.unpacking_limits import Unpacking
    from rag_engine.parsers._ooxml.package import OoxmlPackage
    from rag_engine.types import Section

_CONTINUED: Final = frozenset(
    {".html", ".htm", ".xhtml", ".mht", ".mhtml", ".txt", ".rtf", ".docx", ".docm", ".dotx"}
)


def embedded_sections(
    package: OoxmlPackage, part: str, unpacking: Unpacking, anchor: str, headings: tuple[str, ...]
) -> Iterator[Section]:
    """Empty if unreadable: the document shows a picture of it."""
    member = NestedFile(
        name=PurePosixPath(part).name, chunks=lambda: package.chunks(part), packed=package.packed(part)
    )
    with suppress(Exception), written(member, unpacking) as path:
        for section in parsed(path, member.name, unpacking.deeper()):
            if section.kind != "notice":
                yield replace(section, anchor=anchor, headings=(*headings, *section.headings))


def continued_sections(
    package: OoxmlPackage, part: str, unpacking: Unpacking, headings: tuple[str, ...]
) -> Iterator[Section]:
    if PurePosixPath(part).suffix.lower() not in _CONTINUED:
        return
    for section in embedded_sections(package, part, unpacking, "", headings):
        yield replace(section, anchor=section_anchor(section.headings))
