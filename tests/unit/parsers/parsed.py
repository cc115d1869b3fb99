from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.ports import Parser
    from rag_engine.types import Section


def parsed(tmp_path: Path, parser: Parser, content: str | bytes, name: str = "file") -> list[Section]:
    """The sections of a file with this content."""
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(parser(path))


def places(sections: list[Section]) -> list[tuple[str, tuple[str, ...], str]]:
    """Anchor, headings and text of each section."""
    return [(section.anchor, section.headings, section.text) for section in sections]
