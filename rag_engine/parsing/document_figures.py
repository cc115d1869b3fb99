"""Only in a parsing worker, because files are hostile."""

from __future__ import annotations

from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING, Final, Protocol, cast

import pymupdf

from rag_engine.errors import CorruptFile
from rag_engine.parsers._figures import metafiles, office, opendocument, pages, webp
from rag_engine.parsers._figures.flow import chosen
from rag_engine.parsers._shared.mupdf import translate_errors
from rag_engine.parsing.media_types import parser_name
from rag_engine.parsing.page_images import HEIGHT, WIDTH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from rag_engine.parsers._figures.flow import FlowItem, FlowPicture

_READERS: Final[Mapping[str, Callable[[Path, str], AbstractContextManager[Iterator[FlowItem]]]]] = {
    "docx": office.document,
    "pptx": office.slide,
    "html": pages.page,
    "eml": pages.web_archive,
    "epub": pages.book,
    "odt": opendocument.text_document,
    "odp": opendocument.slide,
}
_FORMATS: Final = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8", b"BM", b"II*\x00", b"MM\x00*")
_HEAD: Final = 2_000
_LEAST_SIDE: Final = 48
_LEAST_PIXELS: Final = 6_400
_MOST_PIXELS: Final = 16_000_000
_MOST_TRIED: Final = 20


class _Pixmap(Protocol):
    def tobytes(self, output: str) -> bytes: ...


class _Box(Protocol):
    x0: float
    y0: float
    width: float
    height: float


class _Sheet(Protocol):
    rect: _Box

    def get_image_info(self) -> list[dict[str, int]]: ...
    def get_pixmap(self, *, matrix: object, alpha: bool, clip: object) -> _Pixmap: ...


class _Image(Protocol):
    def load_page(self, number: int) -> _Sheet: ...
    def close(self) -> None: ...


def draw(path: Path, name: str, anchor: str, quotes: Sequence[str]) -> bytes | None:
    """A new PNG of the pixels of the picture beside the quotes; None if there is none."""
    reader = _READERS.get(parser_name(path, name))
    if reader is None:
        return None
    with reader(path, anchor) as items:
        tried = islice(chosen(items, quotes), _MOST_TRIED)
        return next(filter(None, map(_drawn, tried)), None)


def _drawn(picture: FlowPicture) -> bytes | None:
    content = picture.load()
    if webp.is_webp(content):
        content = webp.png(content, most_pixels=_MOST_PIXELS)
    elif drawing := metafiles.metafile(content):
        content = metafiles.png(drawing)
    head = content[:_HEAD].removeprefix(b"\xef\xbb\xbf").lstrip()
    is_drawing = head.startswith(b"<") and b"<svg" in head
    if not is_drawing and not content.startswith(_FORMATS):
        return None
    kind = "svg" if is_drawing else None
    try:
        with (
            translate_errors(),
            closing(cast("_Image", pymupdf.open(stream=content, filetype=kind))) as image,
        ):
            return _png(image.load_page(0), picture, is_drawing=is_drawing)
    except CorruptFile:
        return None


def _png(sheet: _Sheet, picture: FlowPicture, *, is_drawing: bool) -> bytes | None:
    box = sheet.rect
    pixels = [(one["width"], one["height"]) for one in sheet.get_image_info()]
    width, height = (box.width, box.height) if is_drawing else pixels[0] if pixels else (0, 0)
    left, top, right, bottom = picture.crop
    across, down = width * (1 - left - right), height * (1 - top - bottom)
    if any(wide * high > _MOST_PIXELS for wide, high in pixels):
        return None
    if min(across, down) < _LEAST_SIDE or across * down < _LEAST_PIXELS:
        return None
    x, y = box.x0 + left * box.width, box.y0 + top * box.height
    clip = pymupdf.Rect(x, y, x + box.width * across / width, y + box.height * down / height)
    largest = float("inf") if is_drawing else 1.0
    scale = min(WIDTH / across, HEIGHT / down, largest) * width / box.width
    return sheet.get_pixmap(matrix=pymupdf.Matrix(scale, scale), alpha=False, clip=clip).tobytes("png")
