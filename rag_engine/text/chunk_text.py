from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.types import Chunk

_HEADING_SEPARATOR = " > "


def searchable_text(chunk: Chunk) -> str:
    """One per line: title, heading path and text."""
    header = searchable_header(chunk.title, chunk.headings)
    return f"{header}\n{chunk.text}" if header else chunk.text


def searchable_header(title: str, headings: Sequence[str]) -> str:
    path: list[str] = []
    above = title.strip()
    for heading in map(str.strip, headings):
        if heading and heading != above:
            path.append(heading)
            above = heading
    return "\n".join(line for line in (title.strip(), _HEADING_SEPARATOR.join(path)) if line)
