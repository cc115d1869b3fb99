"""WMF and EMF, which MuPDF cannot read, by the extra `metafiles`."""

from __future__ import annotations

import zlib
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, cast

import pymupdf

from rag_engine.parsers._figures.limits import MOST_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

_PACKED: Final = b"\x1f\x8b\x08"
_WMF: Final = (b"\xd7\xcd\xc6\x9a", b"\x01\x00\x09\x00\x00", b"\x02\x00\x09\x00\x00")
_RESOLUTION: Final = 150


def metafile(content: bytes) -> bytes:
    """Unpacked; empty if it is none."""
    if content.startswith(_PACKED):
        try:
            content = zlib.decompressobj(wbits=31).decompress(content, MOST_BYTES)
        except zlib.error:
            return b""
    is_emf = content.startswith(b"\x01\x00\x00\x00") and content[40:44] == b" EMF"
    return content if is_emf or content.startswith(_WMF) else b""


def png(content: bytes) -> bytes:
    """Empty if it is damaged, blank, too large or nothing here reads it."""
    render = _renderer()
    try:
        return render(content) if render is not None else b""
    except Exception:  # noqa: BLE001 - hostile files raise errors of any kind
        return b""


@cache
def _renderer() -> Callable[[bytes], bytes] | None:
    try:
        library = import_module("metafile_render")
    except ImportError:
        return None

    def render(content: bytes) -> bytes:
        drawn = cast("bytes", library.render_metafile(content, dpi=_RESOLUTION, backend="replay").data)
        return b"" if cast("Any", pymupdf.Pixmap(drawn)).is_unicolor else drawn

    return render
