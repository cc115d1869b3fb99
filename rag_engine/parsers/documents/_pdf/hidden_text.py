"""Invisible, clear, tiny, in the colour of its background, or painted over; not the text layer of a scan."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import pymupdf

from rag_engine.parsers._shared.mupdf import picture_share

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rag_engine.parsers._shared.mupdf import PdfPage, TextPage

    Box: TypeAlias = tuple[float, float, float, float]

_DRAWN: Final = 16 | 32
_CLEAR: Final = 16
"""Of 255; fainter text is invisible."""
_TINY: Final = 1.6
"""Points."""
_LIGHT: Final = 0xD0
_SCAN: Final = 0.5
_CONTRAST: Final = 20
"""Of 255, between letters and background."""
_RENDERED: Final = 100 / 72
_LETTERS: Final = re.compile(rb"T[jJ]")
_FILL: Final = re.compile(rb"[\s\]](?:f\*?|F|B\*?|b\*?|sh|Do)\s")
_MOST_CONTENT: Final = 1 << 20
_MOST_COVERS: Final = 200


class HiddenText:
    def __init__(self, page: PdfPage, text: TextPage) -> None:
        self._page = page
        blocks = cast("Any", pymupdf.TextPage(text)).extractDICT()["blocks"]
        self._lines: list[list[list[dict[str, Any]]]] = [
            [line["spans"] for line in block["lines"]] for block in blocks if block.get("lines")
        ]
        self._log: list[tuple[str, Box]] | None = None
        self._contrast: Callable[[Box], bool] | None = None
        self._covers = self._later_fills()
        self.characters = 0

    def visible(self, block: int, line: int) -> str | None:
        """None if the line has no hidden text."""
        spans = self._spans(block, line)
        hidden = [self._is_hidden(span) for span in spans]
        if not any(hidden):
            return None
        self.characters += sum(
            len(span["text"].strip()) for span, out in zip(spans, hidden, strict=True) if out
        )
        return "".join(span["text"] for span, out in zip(spans, hidden, strict=True) if not out)

    def _spans(self, block: int, line: int) -> Sequence[dict[str, Any]]:
        lines = self._lines[block] if block < len(self._lines) else []
        return lines[line] if line < len(lines) else []

    def _is_hidden(self, span: dict[str, Any]) -> bool:
        if not span["text"].strip():
            return False
        box: Box = span["bbox"]
        if span["alpha"] < _CLEAR or not span["char_flags"] & _DRAWN:
            return not self._is_scanned(box)
        if span["size"] < _TINY:
            return True
        color: int = span["color"]
        light = min(color >> 16, color >> 8 & 0xFF, color & 0xFF) >= _LIGHT
        return (light or self._is_covered(box)) and not self._is_seen(box)

    def _is_scanned(self, box: Box) -> bool:
        pictures = [place for kind, place in self._drawn() if "image" in kind]
        return any(_within(box, place) for place in pictures) and picture_share(self._page) >= _SCAN

    def _is_covered(self, box: Box) -> bool:
        return any(_within(box, place) for place in self._covers)

    def _later_fills(self) -> list[Box]:
        content: bytes = cast("Any", self._page).read_contents()
        if len(content) <= _MOST_CONTENT and not fills_after_letters(content):
            return []
        kinds = self._drawn()
        first = next((place for place, (kind, _) in enumerate(kinds) if kind.endswith("-text")), len(kinds))
        fills = [box for kind, box in kinds[first:] if kind in {"fill-path", "fill-shade"}]
        return fills[-_MOST_COVERS:]

    def _drawn(self) -> list[tuple[str, Box]]:
        if self._log is None:
            self._log = self._page.get_bboxlog()
        return self._log

    def _is_seen(self, box: Box) -> bool:
        if self._contrast is None:
            self._contrast = partial(_contrast, _rendered(self._page))
        return self._contrast(box)


def fills_after_letters(content: bytes) -> bool:
    letters = _LETTERS.search(content)
    return letters is not None and _FILL.search(content, letters.end()) is not None


def _within(box: Box, place: Box) -> bool:
    across, down = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return place[0] <= across <= place[2] and place[1] <= down <= place[3]


def _rendered(page: PdfPage) -> Any:
    anything = cast("Any", page)
    scale = min(_RENDERED, 2_000 / max(anything.rect.width, anything.rect.height, 1.0))
    matrix = pymupdf.Matrix(scale, scale)
    return scale, anything.get_pixmap(matrix=matrix, colorspace=pymupdf.csRGB, alpha=False)


def _contrast(rendered: Any, box: Box) -> bool:
    scale, picture = rendered
    left, top, right, bottom = (edge * scale for edge in box)
    inset = (bottom - top) / 5
    rows = range(max(int(top + inset), 0), min(int(bottom - inset) + 1, picture.height))
    start, stop = max(int(left), 0) * picture.n, min(int(right) + 1, picture.width) * picture.n
    samples = memoryview(picture.samples)
    pieces = [bytes(samples[row * picture.stride + start : row * picture.stride + stop]) for row in rows]
    found = b"".join(pieces)
    return any(
        max(found[channel :: picture.n], default=0) - min(found[channel :: picture.n], default=0) > _CONTRAST
        for channel in range(picture.n)
    )
