from __future__ import annotations

from collections import defaultdict
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Final, cast

import pymupdf

from rag_engine.errors import CorruptFile, EmptyDocument, FileTooLarge, UnsupportedFile
from rag_engine.parsers._ocr.ocr import PROGRAMS, Unread, file_sections, page_sections
from rag_engine.parsers._ocr.unread_pages import MISSING, Reason, no_text, notices
from rag_engine.parsers._shared.mupdf import empty_store, translate_errors
from rag_engine.parsers._shared.sections import joined

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

    from rag_engine.parsers._shared.mupdf import PdfDocument
    from rag_engine.types import Section

SUFFIXES: Final = "png jpg jpeg jpe jfif gif bmp dib tif tiff webp"
MAGIC: Final = (
    (b"\x89PNG\r\n", "png"),
    (b"\xff\xd8\xff", "jpg"),
    (b"GIF87a", "gif"),
    (b"GIF89a", "gif"),
    (b"II*\x00", "tiff"),
    (b"MM\x00*", "tiff"),
    (b"BM", "bmp"),
)
CONTENT: Final = "binary"

__all__ = ["PROGRAMS", "parse"]

_NO_TEXT: Final = "The picture has no text in it that can be made out, so there is nothing to search."
_DAMAGED: Final = "The picture is damaged or was cut off; save or download it again."
_TOO_LARGE: Final = "The picture is too large to be read; make it smaller, or cut it into several."
_WHOLE: Final = "picture"
_WEBP: Final = b"WEBP"
_MOST_PAGES: Final = 2_000
"""TIFF pages; seeking takes longer with each page."""


def parse(path: Path) -> Iterator[Section]:
    """Anchored "picture", or "p. 3". Raises `UnsupportedFile` without Tesseract."""
    with path.open("rb") as file:
        is_webp = file.read(12)[8:] == _WEBP
    yield from joined(_alone(path) if is_webp else _pages(path), no_text=_NO_TEXT)


def _alone(path: Path) -> Iterator[Section]:
    try:
        yield from file_sections(path, _WHOLE)
    except Unread as error:
        raise _refused(error.reason) from error


def _pages(path: Path) -> Iterator[Section]:
    unread: dict[Reason, list[int]] = defaultdict(list)
    found = False
    with closing(_opened(path)) as document:
        with _translated_errors():
            pages = document.page_count
        for number in range(1, min(pages, _MOST_PAGES) + 1):
            try:
                with _translated_errors():
                    page = document.load_page(number - 1)
                    sections = page_sections(page, _WHOLE if pages == 1 else f"p. {number}", is_sized=False)
            except (Unread, CorruptFile) as error:
                reason: Reason = error.reason if isinstance(error, Unread) else "failed"
                if pages == 1 or reason == "missing":
                    raise _refused(reason) from error
                unread[reason].append(number)
                if reason == "exhausted":
                    unread[reason] += range(number + 1, min(pages, _MOST_PAGES) + 1)
                    break
            else:
                found = found or bool(sections)
                yield from sections
            empty_store()
        unread["many"] += range(_MOST_PAGES + 1, pages + 1)
    if not found and any(unread.values()):
        raise EmptyDocument(no_text(unread, pages, otherwise=_NO_TEXT))
    yield from notices(unread, pages)


def _opened(path: Path) -> PdfDocument:
    with _translated_errors():
        return cast("PdfDocument", pymupdf.open(stream=path.read_bytes()))


@contextmanager
def _translated_errors() -> Generator[None]:
    try:
        with translate_errors():
            yield
    except CorruptFile as error:
        raise CorruptFile(_DAMAGED) from error


def _refused(reason: Reason) -> Exception:
    match reason:
        case "missing":
            return UnsupportedFile(f"Pictures cannot be read here: {MISSING}.")
        case "large":
            return FileTooLarge(_TOO_LARGE)
        case "failed":
            return CorruptFile(_DAMAGED)
        case _:
            return EmptyDocument(
                no_text({reason: [1]}, 1, otherwise=_NO_TEXT).replace("The page", "The picture", 1)
            )
