"""Where a page of a PDF is read as a picture because its text cannot be used."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, cast

from rag_engine.parsers import _ocr
from rag_engine.parsers._mupdf import translate_errors
from rag_engine.parsers._ocr import PROGRAMS, Unread

__all__ = ["PROGRAMS", "Unread", "recognised"]

if TYPE_CHECKING:
    from rag_engine.parsers._mupdf import Page
    from rag_engine.types import Section


class _TextPage(Protocol):
    def get_text(self) -> str: ...


def recognised(page: Page, number: int) -> list[Section]:
    """The sections of page `number`, anchored "p. 3", in reading order, found by text recognition.

    What the page has as text as well, such as a stamp beside a scan, is left to that. Empty for a page without letters, such as a
    photo. Raises `Unread` with the reason, with which the page is then named.
    """
    found = _ocr.page_sections(page, f"p. {number}")
    with translate_errors():
        own = {_letters(line) for line in cast("_TextPage", page).get_text().splitlines()} - {""}
    rest = [
        replace(
            section,
            text="\n".join(line for line in section.text.split("\n") if _letters(line) not in own),
        )
        for section in found
    ]
    return [section for section in rest if section.text.strip()]


def _letters(line: str) -> str:
    return re.sub(r"\W", "", line).casefold()
