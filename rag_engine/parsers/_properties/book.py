from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rag_engine.parsers._xml.parts import XmlPackage, attribute, local
from rag_engine.parsers.documents._epub.package import opf_name

if TYPE_CHECKING:
    from pathlib import Path

_KEYS: Final = {
    "title": "title",
    "creator": "author",
    "date": "created",
    "subject": "keywords",
    "publisher": "publisher",
    "language": "language",
}
_MODIFIED: Final = "dcterms:modified"


def properties(path: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    with path.open("rb") as file:
        package = XmlPackage(file)
        name = opf_name(package, ())
        root = package.tree(name) if name else None
        for element in () if root is None else root.iter("{*}metadata"):
            for child in element:
                is_modified = attribute(child, "property") == _MODIFIED
                key = "modified" if is_modified else _KEYS.get(local(child), "")
                if key and (text := (child.text or "").strip()):
                    found.setdefault(key, []).append(text)
    return found
