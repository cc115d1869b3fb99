from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from lxml import etree

from rag_engine.parsers._xml.parts import attribute

if TYPE_CHECKING:
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

    from rag_engine.parsers._xml.parts import XmlPackage

_LARGEST: Final = 16 << 20
_DECLARED: Final = re.compile(rb"<\?xml[^>]{0,80}?encoding\s*=\s*[\"']([\w-]{2,30})[\"']")
_HEAD: Final = 20_000
_DOCTYPE: Final = re.compile(r"<!DOCTYPE[^>\[]{0,500}\[[^\]]*\]\s*>")
_ENTITY: Final = re.compile(r"<!ENTITY\s+([\w.-]{1,100})")
_MARKS: Final = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_SILENT: Final = frozenset({"pagebreak", "doc-pagebreak", "noteref", "doc-noteref", "doc-backlink"})
"""They would stick to the word before."""


def chapter_tree(package: XmlPackage, name: str) -> _Element | None:
    with package.open(name) as file:
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
