from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tinytag import TinyTag, TinyTagException

from rag_engine.parsers._shared.sections import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rag_engine.types import Section

SUFFIXES: Final = "mp3 mpga m4a wav ogg oga opus flac webm"
MAGIC: Final = (
    (b"ID3", "mp3"),
    (b"\xff\xfb", "mp3"),
    (b"\xff\xf3", "mp3"),
    (b"\xff\xf2", "mp3"),
    (b"fLaC", "flac"),
    (b"OggS", "ogg"),
)
CONTENT: Final = "binary"
_NAMES: Final = {"title": "title", "artist": "author", "year": "created"}


def parse(path: Path) -> Iterator[Section]:
    del path
    return iter(())


def properties(path: Path) -> dict[str, list[str]]:
    """`duration` in seconds."""
    try:
        tag = TinyTag.get(path)
    except (TinyTagException, OSError):
        return {}
    found = {
        ours: [one_line(str(value))] for name, ours in _NAMES.items() if (value := getattr(tag, name, None))
    }
    return {**found, **({"duration": [f"{tag.duration:.1f}"]} if tag.duration else {})}
