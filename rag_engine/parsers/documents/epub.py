from __future__ import annotations

import re
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from lxml import etree

from rag_engine.errors import CorruptFile, UserError
from rag_engine.parsers._archives.zip_bombs import check_archive
from rag_engine.parsers._properties import book
from rag_engine.parsers._shared.sections import joined
from rag_engine.parsers._xml.parts import XmlPackage, translated
from rag_engine.parsers.documents._epub.chapter_tree import chapter_tree
from rag_engine.parsers.documents._epub.package import chapters
from rag_engine.parsers.texts._html.hidden_elements import Strictness
from rag_engine.parsers.texts._html.walk import walk
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_DAMAGED: Final = "The book is damaged and cannot be read; download it again."
_NO_TEXT: Final = "The book has no text in it, only pictures, so there is nothing to search."
_WORDS: Final = re.compile(r"[\W_]+")


properties: Final = book.properties


def parse(path: Path) -> Iterator[Section]:
    """Anchored "§ Heading", under their chapter."""
    check_archive(path)
    yield from joined(_sections(path), no_text=_NO_TEXT)


def _sections(path: Path) -> Iterator[Section]:
    with translated(_DAMAGED), path.open("rb") as file:
        package = XmlPackage(file)
        names = zipfile.ZipFile(file).namelist()
        pages = chapters(package, names)
        unread = 0
        inherited: tuple[str, ...] = ()
        for number, chapter in enumerate(pages, 1):
            try:
                root = chapter_tree(package, chapter.name)
            except (
                UserError,
                KeyError,
                etree.LxmlError,
                SyntaxError,
                OSError,
                ValueError,
                zipfile.BadZipFile,
            ):
                unread += 1
                continue
            if root is None:
                continue
            if chapter.titles is not None or next(root.iter("h1"), None) is not None:
                inherited = chapter.titles or ()
            yield from _under_titles(walk(root, strictness=Strictness.HIDDEN), inherited, number)
        if unread and unread == len(pages):
            raise CorruptFile(_DAMAGED)
        if unread:
            yield Section(
                text=f"{unread} of {len(pages)} chapters could not be read: they are damaged or missing.",
                kind="notice",
            )


def _under_titles(sections: Iterator[Section], titles: tuple[str, ...], number: int) -> Iterator[Section]:
    for section in sections:
        above = titles
        if above and section.headings and _is_same_title(above[-1], section.headings[0]):
            above = above[:-1]
        headings = (*above, *section.headings)
        anchor = section.anchor or (f"§ {headings[-1]}" if headings else f"part {number}")
        yield replace(section, headings=headings, anchor=anchor)


def _is_same_title(title: str, heading: str) -> bool:
    first, second = (_WORDS.sub("", text).casefold() for text in (title, heading))
    return bool(first and second) and (first in second or second in first)
