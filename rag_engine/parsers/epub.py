from __future__ import annotations

import re
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from lxml import etree

from rag_engine.errors import CorruptFile, UserError
from rag_engine.parsers._archives.zip_bombs import check_archive
from rag_engine.parsers._epub.package import Chapter, chapters
from rag_engine.parsers._html.hidden_elements import Strictness
from rag_engine.parsers._html.walk import walk
from rag_engine.parsers._properties import book
from rag_engine.parsers._shared.sections import joined
from rag_engine.parsers._xml.parts import XmlPackage, attribute, translated
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

_DAMAGED: Final = "The book is damaged and cannot be read; download it again."
_NO_TEXT: Final = "The book has no text in it, only pictures, so there is nothing to search."
_LARGEST: Final = 16 << 20
_DECLARED: Final = re.compile(rb"<\?xml[^>]{0,80}?encoding\s*=\s*[\"']([\w-]{2,30})[\"']")
_HEAD: Final = 20_000
_DOCTYPE: Final = re.compile(r"<!DOCTYPE[^>\[]{0,500}\[[^\]]*\]\s*>")
_ENTITY: Final = re.compile(r"<!ENTITY\s+([\w.-]{1,100})")
_MARKS: Final = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_SILENT: Final = frozenset({"pagebreak", "doc-pagebreak", "noteref", "doc-noteref", "doc-backlink"})
"""They would stick to the word before."""
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
                root = _chapter_tree(package, chapter)
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


def _chapter_tree(package: XmlPackage, chapter: Chapter) -> _Element | None:
    with package.open(chapter.name) as file:
        content = file.read(_LARGEST)
    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True)
    root = etree.fromstring(_without_doctype(_text(content)).encode("utf-8", errors="replace"), parser)
    if root is None:  # pyright: ignore[reportUnnecessaryComparison] - lxml does so for a page of blanks
        return None
    for element in list(root.iter()):
        kinds = (
            f"{element.get('epub:type') or attribute(element, 'type')} {element.get('role') or ''}".split()
        )
        if element.tag == "nav" or not _SILENT.isdisjoint(kinds):
            element.text = None
            for child in list(element):
                element.remove(child)
    return root


def _text(content: bytes) -> str:
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return content.decode(encoding, errors="replace")
    declared = _DECLARED.match(content)
    for encoding in ("utf-8", declared[1].decode("ascii") if declared else "cp1252"):
        try:
            return content.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    return content.decode("utf-8", errors="replace")


def _without_doctype(page: str) -> str:
    """Declared entities may expand without bound."""
    declared = _DOCTYPE.search(page[:_HEAD])
    if declared is None:
        return page
    names = "|".join(map(re.escape, _ENTITY.findall(declared[0])))
    page = page[: declared.start()] + page[declared.end() :]
    return re.sub(f"&(?:{names});", "", page) if names else page


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
