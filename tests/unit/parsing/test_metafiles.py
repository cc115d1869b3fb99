"""WMF and EMF pictures of documents are shown, drawn by metafile-render; without it nothing is."""

from __future__ import annotations

import gzip
import io
import time
from typing import TYPE_CHECKING, Any, cast
from zipfile import ZipFile

import pptx
import pymupdf
import pytest
from pptx.util import Inches

from rag_engine.ingestion.blobs import blob_from_path
from rag_engine.parsers._figures import metafiles
from rag_engine.parsing.document_figures import draw
from rag_engine.parsing.pool import parser_pool
from tests.documents.corpus import DOCUMENTS
from tests.page_marks import plain_picture
from tests.unit.parsers.ooxml import paragraph, part, relations, write_parts
from tests.unit.parsing.metafiles import emf, wmf
from tests.unit.parsing.test_document_figures import BLUE, GREEN, PUMP, colours, nearly

if TYPE_CHECKING:
    from pathlib import Path

_BOTH = nearly(BLUE) | nearly(GREEN)
drawn = pytest.mark.skipif(
    not metafiles.png(emf([BLUE, GREEN])), reason="the extra 'metafiles' is not installed"
)


def _word(folder: Path, content: bytes, name: str = "image1.emf") -> Path:
    """A drawing in VML, as of an embedded object."""
    drawing = '<w:p><w:r><w:object><v:shape><v:imagedata r:id="i"/></v:shape></w:object></w:r></w:p>'
    parts: dict[str, str | bytes] = {
        "word/document.xml": part("w:document", f"<w:body>{paragraph(PUMP)}{drawing}</w:body>"),
        "word/_rels/document.xml.rels": relations({"i": ("image", f"media/{name}")}),
        f"word/media/{name}": content,
    }
    write_parts(folder / "plant.docx", parts, "word/document.xml")
    return folder / "plant.docx"


def _shown(folder: Path, content: bytes) -> bytes | None:
    return draw(_word(folder, content), "plant.docx", "", [PUMP])


@drawn
@pytest.mark.parametrize(
    "content",
    [
        emf([BLUE, GREEN]),
        wmf([BLUE, GREEN]),
        gzip.compress(emf([BLUE, GREEN])),
        gzip.compress(wmf([BLUE, GREEN])),
    ],
    ids=["emf", "wmf", "emz", "wmz"],
)
def test_a_metafile_is_shown(content: bytes, tmp_path: Path) -> None:
    shown = _shown(tmp_path, content)
    assert shown
    assert shown.startswith(b"\x89PNG")
    assert colours(shown) >= _BOTH


@drawn
def test_words_are_drawn(tmp_path: Path) -> None:
    plain, written = (_shown(tmp_path, emf([BLUE, GREEN], words=words)) for words in ("", "Upper basin"))
    assert plain
    assert written
    assert pymupdf.Pixmap(written).samples != pymupdf.Pixmap(plain).samples


@pytest.mark.parametrize(
    "content",
    [
        emf([BLUE, GREEN])[:-60],
        emf([BLUE, GREEN])[:60],
        emf([(255, 255, 255)]),
        emf([BLUE, GREEN], width=2_000_000_000 // 10, height=2_000_000_000 // 10),
        b"\x01\x00\x00\x00" + bytes(36) + b" EMF" + bytes(200),
        b"\xd7\xcd\xc6\x9a" + bytes(100),
        wmf([BLUE, GREEN])[:50],
        gzip.compress(emf([BLUE, GREEN]))[:30],
        gzip.compress(bytes(64 << 20)),
    ],
    ids=["no end", "cut", "blank", "vast", "zeros", "zeros wmf", "cut wmf", "cut emz", "bomb"],
)
def test_a_damaged_or_blank_metafile_is_passed_over(content: bytes, tmp_path: Path) -> None:
    started = time.monotonic()
    shown = _shown(tmp_path, content)
    assert shown is None or pymupdf.Pixmap(shown).width < 4_000
    assert time.monotonic() - started < 20


@drawn
@pytest.mark.process
async def test_the_sandbox_draws_a_metafile(tmp_path: Path) -> None:
    blob = await blob_from_path(_word(tmp_path, emf([BLUE, GREEN], words="Basin")))
    async with parser_pool(workers=1, seconds=20, memory_bytes=1 << 30) as pool:
        shown = await pool.figure(blob, anchor="", quotes=[PUMP])
    assert shown is not None
    assert colours(shown.content) >= _BOTH


@drawn
def test_drawings_of_a_real_document_are_shown() -> None:
    path = DOCUMENTS / "real" / "tika-testWORD_embeded.docx"
    if not path.exists():
        pytest.skip("../shared/docs is not there")
    with ZipFile(path) as package:
        drawings = [package.read(f"word/media/image{at}.emf") for at in (4, 5, 6)]
    sizes = [(one.width, one.height) for one in map(pymupdf.Pixmap, map(metafiles.png, drawings))]
    assert sizes == [(1201, 532), (750, 561), (900, 115)]


def _presentation(folder: Path, choice: str) -> Path:
    """An embedded object whose picture PowerPoint writes into the fallback."""
    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[5])
    cast("Any", slide.shapes.title).text = PUMP
    picture = slide.shapes.add_picture(io.BytesIO(plain_picture(BLUE)), Inches(1), Inches(2))
    other = slide.shapes.add_picture(io.BytesIO(plain_picture(GREEN)), Inches(1), Inches(2))
    tree, element = cast("Any", picture)._element.getparent(), cast("Any", picture)._element
    compatibility = "http://schemas.openxmlformats.org/markup-compatibility/2006"
    both = tree.makeelement(f"{{{compatibility}}}AlternateContent", nsmap={"mc": compatibility})
    for name in ("Choice", "Fallback"):
        both.append(tree.makeelement(f"{{{compatibility}}}{name}"))
    tree.append(both)
    both[1].append(element)
    if choice:
        both[0].append(cast("Any", other)._element)
    else:
        tree.remove(cast("Any", other)._element)
    show.save(str(folder / "plant.pptx"))
    return folder / "plant.pptx"


@pytest.mark.parametrize(("choice", "colour"), [("", BLUE), ("picture", GREEN)])
def test_a_picture_that_only_the_fallback_has_is_shown(
    choice: str, colour: tuple[int, int, int], tmp_path: Path
) -> None:
    content = draw(_presentation(tmp_path, choice), "plant.pptx", "slide 1", [PUMP])
    assert content
    assert colours(content) == nearly(colour)
