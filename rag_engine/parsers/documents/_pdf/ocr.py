from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, cast

from rag_engine.parsers._ocr import ocr
from rag_engine.parsers._ocr.ocr import PROGRAMS, Unread
from rag_engine.parsers._shared.mupdf import translate_errors

__all__ = ["PROGRAMS", "Unread", "recognised"]

if TYPE_CHECKING:
    from rag_engine.parsers._shared.mupdf import PdfPage
    from rag_engine.types import Section


class _TextPage(Protocol):
    def get_text(self) -> str: ...


def recognised(page: PdfPage, number: int) -> list[Section]:
    found = ocr.page_sections(page, f"p. {number}")
    with translate_errors():
        own = {_letters(line) for line in cast("_TextPage", page).get_text().splitlines()} - {""}
    rest = [
        replace(
            section, text="\n".join(line for line in section.text.split("\n") if _letters(line) not in own)
        )
        for section in found
    ]
    return [section for section in rest if section.text.strip()]


def _letters(line: str) -> str:
    return re.sub(r"\W", "", line).casefold()
