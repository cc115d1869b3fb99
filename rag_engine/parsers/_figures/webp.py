"""WebP, which MuPDF cannot read, by Tesseract's library of pictures."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Final

_LIBRARIES: Final = ("libleptonica.so.6", "liblept.so.5")


def is_webp(content: bytes) -> bool:
    return content.startswith(b"RIFF") and content[8:12] == b"WEBP"


def png(content: bytes, *, most_pixels: int) -> bytes:
    """Empty if it is damaged, too large or nothing here reads it."""
    library = _library()
    if library is None or not 0 < _pixels(library, content) <= most_pixels:
        return b""
    picture = ctypes.c_void_p(library.pixReadMem(content, ctypes.c_size_t(len(content))))
    written, size = ctypes.c_void_p(), ctypes.c_size_t()
    if not picture:
        return b""
    try:
        failed = library.pixWriteMemPng(
            ctypes.byref(written), ctypes.byref(size), picture, ctypes.c_float(0.0)
        )
        return b"" if failed or not written.value else ctypes.string_at(written.value, size.value)
    finally:
        library.lept_free(written)
        library.pixDestroy(ctypes.byref(picture))


def _pixels(library: ctypes.CDLL, content: bytes) -> int:
    width, height = ctypes.c_int32(), ctypes.c_int32()
    failed = library.pixReadHeaderMem(
        content,
        ctypes.c_size_t(len(content)),
        None,
        ctypes.byref(width),
        ctypes.byref(height),
        None,
        None,
        None,
    )
    return 0 if failed else width.value * height.value


@cache
def _library() -> ctypes.CDLL | None:
    for name in _LIBRARIES:
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        library.pixReadMem.restype = ctypes.c_void_p
        return library
    return None
