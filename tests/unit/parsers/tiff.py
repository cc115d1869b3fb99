"""TIFF files written by hand, since PyMuPDF only reads them."""

from __future__ import annotations

import struct
from typing import Any, Final

_SHORT: Final = 3
_LONG: Final = 4


def tiff(*pixmaps: Any) -> bytes:
    """Uncompressed grayscale pages."""
    content = bytearray(b"II*\x00\x00\x00\x00\x00")
    link = 4
    for pixmap in pixmaps:
        link = _page(
            content, link, pixmap.width, pixmap.height, pixmap.samples, pixmap.stride * pixmap.height
        )
    return bytes(content)


def claiming(width: int, height: int, *, pages: int = 1) -> bytes:
    """Pages that claim this size and share one byte."""
    content = bytearray(b"II*\x00\x00\x00\x00\x00")
    link = 4
    for _ in range(pages):
        link = _page(content, link, width, height, b"\x00", 1)
    return bytes(content)


def _page(content: bytearray, link: int, width: int, height: int, samples: bytes, size: int) -> int:
    """Write a page; returns the offset of its link to the next page."""
    strip = len(content)
    content += samples
    content += bytes(len(content) % 2)
    struct.pack_into("<I", content, link, len(content))
    entries = (
        (256, _LONG, width),
        (257, _LONG, height),
        (258, _SHORT, 8),
        (259, _SHORT, 1),
        (262, _SHORT, 1),
        (273, _LONG, strip),
        (277, _SHORT, 1),
        (278, _LONG, height),
        (279, _LONG, size),
    )
    content += struct.pack("<H", len(entries))
    for tag, kind, value in entries:
        content += struct.pack("<HHII", tag, kind, 1, value)
    content += bytes(4)
    return len(content) - 4
