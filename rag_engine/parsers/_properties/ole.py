from __future__ import annotations

import codecs
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, cast

import olefile

if TYPE_CHECKING:
    from pathlib import Path

_KEYS: Final = {
    "title": "title",
    "subject": "subject",
    "author": "author",
    "keywords": "keywords",
    "comments": "comments",
    "last_saved_by": "last modified by",
    "create_time": "created",
    "last_saved_time": "modified",
    "company": "company",
    "category": "category",
}
_FIRST_YEAR: Final = 1980
"""An unset time is a day of 1601."""


def summary(path: Path) -> dict[str, list[str]]:
    container = cast("Any", olefile).OleFileIO(str(path))
    try:
        metadata = container.get_metadata()
    finally:
        container.close()
    encoding = _encoding(metadata.codepage)
    read = {key: _text(getattr(metadata, name), encoding) for name, key in _KEYS.items()}
    return {key: text.split(";") if key == "keywords" else [text] for key, text in read.items() if text}


def _text(value: object, encoding: str) -> str:
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC).isoformat() if value.year >= _FIRST_YEAR else ""
    text = value.decode(encoding, "replace") if isinstance(value, bytes) else value
    return text.strip("\0 ") if isinstance(text, str) else ""


def _encoding(page: object) -> str:
    number = page & 0xFFFF if isinstance(page, int) else 1252
    name = {65001: "utf-8", 1200: "utf-16-le", 10000: "mac-roman", 936: "gb18030"}.get(number, f"cp{number}")
    try:
        return codecs.lookup(name).name
    except LookupError:
        return "cp1252"
