from __future__ import annotations

import datetime
import posixpath
import re
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

from rag_engine.errors import UserError
from rag_engine.metadata.comparison import folded, span

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rag_engine.metadata.filter_types import Properties

MOST_TAGS: Final = 50
_LONGEST_TAG: Final = 64
_LONGEST_KEY: Final = 64
_LONGEST_VALUE: Final = 200
_MOST_KEYS: Final = 40
_MOST_VALUES: Final = 20
DERIVED: Final = ("name", "type", "folder", "place", "added", "tag")
"""They follow from the record."""
_KINDS: Final[Mapping[str, str]] = {
    "sheet": "xlsx xlsm xls xlsb ods csv tsv",
    "document": "doc docx docm odt rtf pdf epub pages",
    "slides": "ppt pptx pptm odp key",
    "mail": "eml msg mbox",
    "web": "html htm xhtml mhtml",
    "markdown": "md markdown",
    "text": "txt text log md markdown rst adoc asciidoc tex",
    "picture": "png jpg jpeg gif bmp tif tiff webp",
    "data": "json jsonl yaml yml toml xml csv tsv",
    "calendar": "ics",
    "contact": "vcf",
    "archive": "zip tar gz tgz bz2 xz",
}
_SUFFIXES: Final = {"htm": "html", "jpeg": "jpg", "tiff": "tif", "yml": "yaml", "markdown": "md"}
_PDF_DATE: Final = re.compile(r"D:(\d{4})(\d{2})?(\d{2})?")
_EPOCH: Final = datetime.date(1970, 1, 1).toordinal()
_LEADING_DATE: Final = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?(?![\d-])")
_KEYS: Final[Mapping[str, str]] = {
    "authors": "author",
    "creator": "author",
    "date": "created",
    "creationdate": "created",
    "published": "created",
    "moddate": "modified",
    "last modified": "modified",
    "updated": "modified",
    "keyword": "keywords",
}
_DATES: Final = frozenset({"created", "modified"})


def derived(
    *, title: str, uri: str, added: float, places: Iterable[str] = (), tags: Iterable[str] = ()
) -> Properties:
    found = {
        "name": [title],
        "type": _types(title),
        "folder": [_folder(uri)],
        "place": dict.fromkeys(places),
        "added": [_day(int(added) // 86_400) if added else ""],
        "tag": tags,
    }
    return {key: tuple(filter(None, values)) for key, values in found.items()}


def usable(raw: Mapping[str, Iterable[str]]) -> dict[str, tuple[str, ...]]:
    """With standard keys and dates."""
    found: dict[str, tuple[str, ...]] = {}
    for name, values in raw.items():
        key = " ".join(re.sub(r"[^\w .-]+", " ", name.replace("_", " ")).split()).casefold()
        key = _KEYS.get(key, key)
        if not key or len(key) > _LONGEST_KEY or key in DERIVED or key in ("in", "date"):
            continue
        lines = [" ".join("".join(c if c.isprintable() else " " for c in value).split()) for value in values]
        kept = [day_of(line) if key in _DATES else line[:_LONGEST_VALUE] for line in lines[:_MOST_VALUES]]
        distinct = tuple(dict.fromkeys((*found.get(key, ()), *filter(None, kept))))
        if distinct and (key in found or len(found) < _MOST_KEYS):
            found[key] = distinct[:_MOST_VALUES]
    return found


def day_of(text: str) -> str:
    """ISO; empty if it is none."""
    text = text.strip()
    if pdf := _PDF_DATE.match(text):
        text = "-".join(part for part in pdf.groups() if part)
    if leading := _LEADING_DATE.match(text):
        return leading[0] if span(leading[0]) else ""
    try:
        return parsedate_to_datetime(text).date().isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return ""


def tag_of(text: str) -> str:
    """Raises `UserError`."""
    tag = " ".join(text.strip().lstrip("#").split())
    if len(tag) > _LONGEST_TAG:
        raise UserError(f"A tag has at most {_LONGEST_TAG} characters; this one has {len(tag):,}.")
    if not tag or not tag.isprintable() or "," in tag or not folded(tag):
        raise UserError("A tag is a word or a few, without commas.")
    return tag


def _types(title: str) -> Sequence[str]:
    return _types_of(posixpath.splitext(title.casefold())[1].removeprefix("."))


@lru_cache(maxsize=256)
def _types_of(suffix: str) -> Sequence[str]:
    if not suffix:
        return ()
    suffix = _SUFFIXES.get(suffix, suffix)
    return (suffix, *(kind for kind, suffixes in _KINDS.items() if suffix in suffixes.split()))


@lru_cache(maxsize=4_096)
def _day(number: int) -> str:
    return datetime.date.fromordinal(_EPOCH + number).isoformat()


@lru_cache(maxsize=4_096)
def _folder(uri: str) -> str:
    if not uri.casefold().startswith("file:"):
        return ""
    try:
        return posixpath.dirname(unquote(urlsplit(uri).path))
    except ValueError:
        return ""
