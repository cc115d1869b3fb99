"""What a chunk is found by: its title and headings above its text. The vectors and the lexical index read the same string."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.types import Chunk

_HEADING_SEPARATOR = " > "


def searchable_text(chunk: Chunk) -> str:
    """Title, heading path and text of a chunk, a line each; empty parts leave no line."""
    header = searchable_header(chunk.title, chunk.headings)
    return f"{header}\n{chunk.text}" if header else chunk.text


def searchable_header(title: str, headings: Sequence[str]) -> str:
    """The lines that stand above a chunk's text. A heading that repeats the title or the heading above it is left out."""
    path: list[str] = []
    above = title.strip()
    for heading in map(str.strip, headings):
        if heading and heading != above:
            path.append(heading)
            above = heading
    return "\n".join(line for line in (title.strip(), _HEADING_SEPARATOR.join(path)) if line)
