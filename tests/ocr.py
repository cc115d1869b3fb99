"""Text recognition in tests: skipped with one line where Tesseract is not installed, in CI failed. And pictures of text to recognise."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final, cast

import pymupdf
import pytest

from rag_engine.parsing import tesseract

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

NOTICE: Final = (
    "Notice to all crews of the harbour",
    "The crane inspection is due every eleven weeks.",
    "Report defects to the quay foreman at once.",
    "Budget 2025: 14,200.50 EUR, approved by M. Okafor",
)
INSPECTION: Final = NOTICE[1]


def needs_tesseract(*languages: str) -> None:
    """Skip or fail the test that runs without the program, or the data of these languages."""
    found = tesseract.find()
    missing = [name for name in ("eng", "osd", *languages) if found is None or name not in found.installed]
    if missing:
        command = tesseract.install_command([] if found is None else missing)
        sentence = f"Tesseract with {', '.join(missing)} is not installed: {command}"
        if os.environ.get("CI"):
            pytest.fail(sentence, pytrace=False)
        pytest.skip(sentence)


def drawn(lines: Sequence[str] = NOTICE, *, turned: float = 0, zoom: float = 2.8, size: float = 11) -> Any:
    """A pixmap of these lines, turned counter-clockwise by so many degrees."""
    document = cast("Any", pymupdf.open())
    page = document.new_page(width=420, height=30 + 16 * len(lines) + 20)
    page.insert_text((24, 36), list(lines), fontsize=size)
    matrix = cast("Any", pymupdf.Matrix(zoom, zoom)).prerotate(turned)
    return page.get_pixmap(matrix=matrix, colorspace=pymupdf.csGRAY)


def scan(path: Path, *pages: Any) -> Path:
    """A PDF whose pages are these pixmaps; for None a page of text."""
    document = cast("Any", pymupdf.open())
    for pixmap in pages:
        if pixmap is None:
            document.new_page().insert_text((72, 72), ["This page is text that anyone can select."] * 6)
        else:
            page = document.new_page(width=pixmap.width * 72 / 200, height=pixmap.height * 72 / 200)
            page.insert_image(page.rect, pixmap=pixmap)
    document.save(path)
    return path


def blurred(pixmap: Any) -> Any:
    """Letters that nobody can make out: drawn again from far fewer dots."""
    small = cast("Any", pymupdf.Pixmap(pixmap, pixmap.width // 8, pixmap.height // 8))
    return cast("Any", pymupdf.Pixmap(small, pixmap.width, pixmap.height))
