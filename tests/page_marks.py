"""PDFs and pictures made for a test, and what is marked on the picture of a page, counted in its pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pymupdf

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

PNG = b"\x89PNG\r\n\x1a\n"


def pdf(*pages: str | Sequence[str], rotated: int = 0) -> bytes:
    """A PDF with the lines of each page, in 12 points."""
    with pymupdf.open() as document:
        for lines in pages:
            page = document.new_page()
            text = lines if isinstance(lines, str) else "\n".join(lines)
            page.insert_text((72, 100), text, fontsize=12)
            page.set_rotation(rotated)
        return document.tobytes()


def plain_picture(
    colour: tuple[int, int, int], *, width: int = 300, height: int = 200, kind: str = "png"
) -> bytes:
    """Of one colour. From its bytes: PyMuPDF fills a rectangle pixel by pixel in Python."""
    return pymupdf.Pixmap(pymupdf.csRGB, width, height, bytes(colour) * (width * height), False).tobytes(kind)


def places(content: bytes, page: int, words: str) -> list[tuple[float, float, float, float]]:
    """Where PyMuPDF's own search finds the words on a page (from 1): rectangles in points, as the page is shown."""
    with pymupdf.open(stream=content, filetype="pdf") as document:
        found = document[page - 1]
        rectangles = found.search_for(words)
        assert rectangles, words
        return [tuple(rectangle * found.rotation_matrix) for rectangle in rectangles]


def marks(picture: bytes) -> NDArray[np.bool_]:
    """Which pixels of the picture have the mark's colour: bright in red, dull in blue."""
    drawn = pymupdf.Pixmap(picture)
    pixels = np.frombuffer(drawn.samples, dtype=np.uint8).reshape(drawn.height, drawn.width, drawn.n)
    return (pixels[..., 0] > 200) & (pixels[..., 2] < 130)


def share_marked(
    picture: bytes, rectangle: tuple[float, float, float, float], *, width: float = 595.0
) -> float:
    """How much of a rectangle of the page, which is `width` points wide, is marked."""
    marked = marks(picture)
    scale = marked.shape[1] / width
    left, top, right, bottom = (round(edge * scale) for edge in rectangle)
    return float(marked[top:bottom, left:right].mean())


def area(rectangle: tuple[float, float, float, float]) -> float:
    left, top, right, bottom = rectangle
    return (right - left) * (bottom - top)


def marked_area(picture: bytes, *, width: float = 595.0) -> float:
    """All that is marked, in square points."""
    marked = marks(picture)
    return float(marked.sum()) * (width / marked.shape[1]) ** 2
