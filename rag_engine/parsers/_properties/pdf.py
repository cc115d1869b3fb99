from __future__ import annotations

import re
from contextlib import closing
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._shared.mupdf import open_pdf

if TYPE_CHECKING:
    from pathlib import Path

_NAMES: Final = {
    "author": "author",
    "title": "title",
    "subject": "subject",
    "keywords": "keywords",
    "creator": "program",
    "producer": "producer",
    "creationDate": "created",
    "modDate": "modified",
}


def properties(path: Path) -> dict[str, list[str]]:
    with closing(open_pdf(path)) as document:
        raw = {} if document.needs_pass else document.metadata or {}
    found = {key: [raw.get(name) or ""] for name, key in _NAMES.items()}
    found["keywords"] = re.split(r"[;,]", found["keywords"][0])
    return {
        key: kept for key, values in found.items() if (kept := [value for value in values if value.strip()])
    }
