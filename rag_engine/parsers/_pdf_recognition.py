"""Where a page of a PDF is read as a picture because its text cannot be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_engine.parsers import _ocr
from rag_engine.parsers._ocr import PROGRAMS, Unread

__all__ = ["PROGRAMS", "Unread", "recognised"]

if TYPE_CHECKING:
    from rag_engine.parsers._mupdf import Page
    from rag_engine.types import Section


def recognised(page: Page, number: int) -> list[Section]:
    """The sections of page `number`, anchored "p. 3", in reading order, found by text recognition.

    Empty for a page without letters, such as a photo. Raises `Unread` with the reason, with which the page is then named.
    """
    return _ocr.page_sections(page, f"p. {number}")
