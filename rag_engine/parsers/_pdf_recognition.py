"""Where a page of a PDF is read as a picture because its text cannot be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rag_engine.parsers._mupdf import Page
    from rag_engine.types import Section


def recognised(page: Page, number: int) -> list[Section] | None:
    """The sections of page `number`, anchored "p. 3", in reading order, found by text recognition; None when there is none here.

    `Page` is PyMuPDF's page, of which `_mupdf.py` types what is used. Errors of the recognition are None as well: the page is then
    named as one that was not read.
    """
    del page, number
    return None
