"""The text of one document as one compressed value: zlib over JSON lines, one section a line.

One value a document, not a row a section: the text is always read whole (shown, exported, split again), a thousand pages
take a third of the room, and replacing it is one write. Sections go through the coder one by one, so that other threads run
in between.
"""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING

from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.types import SectionKind

_LEVEL = 6


def pack(sections: Sequence[Section]) -> bytes:
    """The sections in order, compressed."""
    compressor = zlib.compressobj(_LEVEL)
    parts = [
        compressor.compress(json.dumps([s.text, s.anchor, s.headings, s.kind]).encode("ascii") + b"\n")
        for s in sections
    ]
    return b"".join((*parts, compressor.flush()))


def unpack(packed: bytes) -> list[Section]:
    """What was packed."""
    lines = zlib.decompress(packed).split(b"\n")[:-1]
    return [_section(*json.loads(line)) for line in lines]


def _section(text: str, anchor: str, headings: list[str], kind: SectionKind) -> Section:
    return Section(text=text, anchor=anchor, headings=tuple(headings), kind=kind)
