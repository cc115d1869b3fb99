from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._ooxml.package import package
from rag_engine.parsers._opendocument.package import OFFICE, elements, open_part

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_KINDS: Final = ("core-properties", "custom-properties")
_NAMES: Final = {
    "initial-creator": "author",
    "creation-date": "created",
    "keyword": "keywords",
    "description": "comments",
    "lastModifiedBy": "last modified by",
}
_META: Final = "{urn:oasis:names:tc:opendocument:xmlns:meta:1.0}"
_CONTAINERS: Final = (f"{OFFICE}document-meta", f"{OFFICE}document", f"{OFFICE}meta")
_SKIPPED: Final = frozenset(
    ["generator", "editing-duration", "editing-cycles", "document-statistic", "template", "print-date"]
)


def ooxml(path: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    with package(path, "Office file") as opened:
        for kind in _KINDS:
            for part in opened.related("", kind):
                for element in opened.root(part):
                    name = element.get("name") or _local(element.tag)
                    text = element.text or next((inner.text for inner in element if inner.text), "")
                    _add(found, _NAMES.get(name, name), text or "")
    return found


def opendocument(path: Path) -> dict[str, list[str]]:
    """Its `creator` is who changed it last, its `date` when."""
    found: dict[str, list[str]] = {}
    with open_part(path, "meta.xml") as source:
        if source is None:
            return found
        for element, _ in elements(source, _CONTAINERS):
            name = element.get(f"{_META}name") or _local(element.tag)
            if name in _SKIPPED:
                continue
            key = {"creator": "last modified by", "date": "modified"}.get(name, _NAMES.get(name, name))
            _add(found, key, element.text or "")
    if "author" not in found and "last modified by" in found:
        found["author"] = found["last modified by"]
    return found


def _add(found: dict[str, list[str]], key: str, text: str) -> None:
    values: Iterable[str] = re.split(r"[;,]", text) if key == "keywords" else [text]
    if kept := [value.strip() for value in values if value.strip()]:
        found.setdefault(key, []).extend(kept)


def _local(tag: object) -> str:
    return str(tag).rpartition("}")[2]
