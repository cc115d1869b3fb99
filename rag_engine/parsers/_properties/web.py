from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lxml import etree

from rag_engine.parsers._shared.encoding import markup_encoding
from rag_engine.parsers._shared.sections import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_LONGEST_HEAD: Final = 256 << 10
_SPELLINGS: Final = {
    "author": "author dc.creator dcterms.creator citation_author",
    "created": "date dc.date dc.date.created dcterms.created dcterms.date article:published_time "
    "datepublished citation_publication_date citation_date",
    "modified": "last-modified dc.date.modified dcterms.modified article:modified_time datemodified",
    "keywords": "keywords dc.subject dcterms.subject article:tag",
    "description": "description",
    "program": "generator",
}
_KEYS: Final[Mapping[str, str]] = {
    spelling: key for key, spellings in _SPELLINGS.items() for spelling in spellings.split()
}
_NAMES: Final = ("name", "property", "itemprop", "http-equiv")


def page(path: Path) -> dict[str, list[str]]:
    with path.open("rb") as file:
        head = file.read(_LONGEST_HEAD).decode(markup_encoding(path), errors="replace")
    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True)
    try:
        root = etree.fromstring(head.encode("utf-8", errors="replace"), parser)
    except etree.XMLSyntaxError:
        return {}
    if root is None:  # pyright: ignore[reportUnnecessaryComparison] - lxml does so for a page of blanks
        return {}
    found: dict[str, list[str]] = {}
    if title := one_line(root.findtext("head/title") or ""):
        found["title"] = [title]
    for meta in root.iterfind("head/meta"):
        named = next((name for each in _NAMES if (name := meta.get(each))), "")
        key, value = _KEYS.get(named.strip().casefold(), ""), (meta.get("content") or "").strip()
        if key and value:
            found.setdefault(key, []).extend(_values(key, value))
    return found


def _values(key: str, value: str) -> list[str]:
    if key == "keywords":
        return [part.strip() for part in value.split(",") if part.strip()]
    return [value.replace("/", "-") if key in ("created", "modified") and value[:4].isdigit() else value]
