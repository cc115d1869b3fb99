"""Scans in Word and PowerPoint files."""

from __future__ import annotations

import io
import shutil
from typing import TYPE_CHECKING, Any, cast

import docx
import pptx
import pymupdf
import pytest

from rag_engine.errors import EmptyDocument
from rag_engine.parsers.documents import docx as docx_parser
from rag_engine.parsers.documents import pptx as pptx_parser
from rag_engine.parsing.pool import parser_pool
from rag_engine.types import Blob, Section

if TYPE_CHECKING:
    from pathlib import Path

_WORDS = "The harbour crane is inspected in October"
_needs_tesseract = pytest.mark.skipif(shutil.which("tesseract") is None, reason="tesseract is not installed")


def _scan() -> io.BytesIO:
    document = cast("Any", pymupdf.open())
    page = document.new_page(width=500, height=120)
    page.insert_text((20, 60), _WORDS, fontsize=20)
    return io.BytesIO(page.get_pixmap(dpi=150).tobytes("png"))


def _write_word(path: Path) -> None:
    document = docx.Document()
    document.add_picture(_scan())
    document.save(str(path))


def _write_slides(path: Path) -> None:
    presentation = cast("Any", pptx.Presentation())
    one = presentation.slides.add_slide(presentation.slide_layouts[5])
    one.shapes.title.text = "With words"
    one.shapes.add_picture(_scan(), 0, 0)
    two = presentation.slides.add_slide(presentation.slide_layouts[6])
    two.shapes.add_picture(_scan(), 0, 0)
    presentation.save(str(path))


async def _read(path: Path) -> list[Section]:
    blob = Blob(name=path.name, media_type="", path=path, digest="", size=0, uri="")
    async with parser_pool(workers=1, seconds=60, memory_bytes=1 << 30) as pool:
        return [
            section async for batch in pool.parse(blob) for section in batch if section.kind != "properties"
        ]


@_needs_tesseract
@pytest.mark.process
async def test_a_scan_in_a_word_document(tmp_path: Path) -> None:
    _write_word(tmp_path / "scan.docx")
    assert [(section.anchor, section.text) for section in await _read(tmp_path / "scan.docx")] == [
        ("picture", _WORDS)
    ]


@_needs_tesseract
@pytest.mark.process
async def test_only_slides_without_words_are_read_as_pictures(tmp_path: Path) -> None:
    _write_slides(tmp_path / "deck.pptx")
    assert [(section.anchor, section.text) for section in await _read(tmp_path / "deck.pptx")] == [
        ("slide 1", "With words"),
        ("slide 2", _WORDS),
    ]


@pytest.mark.process
def test_a_notice_names_scans_if_tesseract_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    _write_word(tmp_path / "scan.docx")
    with pytest.raises(EmptyDocument, match="OCR"):
        list(docx_parser.parse(tmp_path / "scan.docx"))
    _write_slides(tmp_path / "deck.pptx")
    *_, notice = pptx_parser.parse(tmp_path / "deck.pptx")
    assert (notice.kind, notice.anchor) == ("notice", "slide 2")
    assert "OCR" in notice.text
