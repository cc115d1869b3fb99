"""The lines of a page of a PDF with their places, by way of MuPDF's JSON: the cheapest form that has places and fonts.

Distances are in points, from the top left corner of the page as it is shown.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NotRequired, TypeAlias, TypedDict, cast

import orjson

from rag_engine.parsers import _mupdf

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rag_engine.parsers._mupdf import Page

Box: TypeAlias = tuple[float, float, float, float]
"""Left, top, right, bottom."""

_SCALE: Final = 10
"""The JSON has whole numbers; so they are tenths of a point."""
_RECTANGLE: Final = re.compile(
    r'<vector bbox="(-?[\d.]+) (-?[\d.]+) (-?[\d.]+) (-?[\d.]+)"[^>]* rectangle="1"', re.ASCII
)
_BETWEEN_BLANKS: Final = re.compile(r"\S+(?: {1,2}\S+)*")
_JSON_VECTOR: Final = re.compile(r'\{"type":"vector"[^{}]*\}')
_MOST_RECTANGLES: Final = 5_000
_LARGEST: Final = 2_000
_SIZES: Final = [round(size / (_SCALE / 2)) / 2 for size in range(_LARGEST)]
"""Sizes in half points."""
_RIGHT_TO_LEFT: Final = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_STOPS: Final = ".:;!?،؛؟"
_FIRST_STOP: Final = re.compile(rf"\s*([{_STOPS}])\s*(?=[\u0590-\u08ff])")
_LAM_ALEF: Final = (("األ", "الأ"), ("اإل", "الإ"), ("اآل", "الآ"))
"""The ligature of lam and alef comes out the wrong way round; here it can be told, as these do not occur."""
_DIRECTION: Final = re.compile(r' dir="(-?[\d.]+) (-?[\d.]+)"', re.ASCII)


class TextLine(NamedTuple):
    """One line of a page as the PDF draws it; a row of a table is several. A tuple, as there are very many."""

    text: str
    top: float
    left: float
    size: float
    bold: bool = False
    right: float = 0.0
    bottom: float = 0.0
    base: float = 0.0
    """Where the letters stand."""
    turned: bool = False
    """Whether it runs upwards or downwards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageText:
    """The lines of a page by block, in the order in which the PDF draws them."""

    width: float
    height: float
    blocks: list[list[TextLine]]
    text: str
    """The same, a line for each, as it is drawn."""
    drawn: Callable[[], Sequence[Box]]
    """The rectangles on the page."""
    noted: bool = False
    """Whether there are comments, stamps or the like on it."""


_new_line: Final = cast(
    "Callable[[type[TextLine], tuple[object, ...]], TextLine]", cast("Any", tuple).__new__
)


class _JsonBox(TypedDict):
    x: int
    y: int
    w: int
    h: int


class _JsonFont(TypedDict):
    size: int
    weight: str


class _JsonLine(TypedDict):
    text: str
    bbox: _JsonBox
    font: _JsonFont
    y: int


class _JsonBlock(TypedDict):
    lines: NotRequired[list[_JsonLine]]


def page_text(page: Page, *, vectors: bool = False) -> PageText:
    """The text of a page, turned the way that most of it is to be read.

    `vectors`: what is drawn will be asked for, too. That is cheap now and dear later, but not free.
    """
    notes = page.first_annot is not None
    text = _mupdf.text_page(page, vectors=vectors, notes=notes)
    blocks, turned, letters = _lines(text)
    if turned * 2 > letters:
        page.set_rotation((page.rotation + _degrees(text)) % 360)
        text = _mupdf.text_page(page, vectors=vectors, notes=notes)
        blocks, _, _ = _lines(text)
    words = "\n".join([line.text for block in blocks for line in block])
    box = page.rect

    def drawn() -> Sequence[Box]:
        return _rectangles(text if vectors else _mupdf.text_page(page, vectors=True))

    return PageText(
        width=box.x1 - box.x0, height=box.y1 - box.y0, blocks=blocks, text=words, drawn=drawn, noted=notes
    )


def _degrees(text: _mupdf.TextPage) -> int:
    """By how much clockwise to turn a page whose lines run upwards or downwards."""
    directions = Counter(_DIRECTION.findall(_mupdf.text_page_xml(text)))
    upwards = sum(count for (_, y), count in directions.items() if y.startswith("-"))
    return 90 if upwards * 2 > directions.total() else 270


def _rectangles(text: _mupdf.TextPage) -> Sequence[Box]:
    """The drawn rectangles of a page, of which many are the rules of tables; none when they are too many for that."""
    xml = _mupdf.text_page_xml(text)
    if xml.count("<vector") > _MOST_RECTANGLES:
        return ()
    return [
        (float(left), float(top), float(right), float(bottom))
        for left, top, right, bottom in _RECTANGLE.findall(xml)
    ]


def _lines(text: _mupdf.TextPage) -> tuple[list[list[TextLine]], int, int]:
    """The blocks, the letters in lines that run upwards or downwards, and all letters."""
    blocks: list[list[TextLine]] = []
    turned_letters = letters = 0
    printed = _mupdf.text_page_json(text, _SCALE)
    if '"vector"' in printed:
        printed = _JSON_VECTOR.sub("{}", printed)
    data: dict[str, list[_JsonBlock]] = orjson.loads(printed)
    for block in data["blocks"]:
        lines: list[TextLine] = []
        for line in block.get("lines", ()):
            words = line["text"]
            if not words or words.isspace():
                continue
            if not words.isascii() and _RIGHT_TO_LEFT.search(words):
                words = _in_logical_order(words)
            box, font = line["bbox"], line["font"]
            x, y, width, height = box["x"], box["y"], box["w"], box["h"]
            turned = height > 2 * width and len(words) > 2
            if turned:
                turned_letters += len(words)
            size = font["size"]
            # As a tuple and without a helper, as this runs for every line of every page.
            placed = _new_line(
                TextLine,
                (
                    words,
                    y / _SCALE,
                    x / _SCALE,
                    _SIZES[size] if 0 <= size < _LARGEST else size / _SCALE,
                    font["weight"] == "bold",
                    (x + width) / _SCALE,
                    (y + height) / _SCALE,
                    line["y"] / _SCALE,
                    turned,
                ),
            )
            if "   " in words:
                lines += _cells(placed)
            else:
                lines.append(placed)
        if lines:
            blocks.append(lines)
            letters += sum([len(line.text) for line in lines])
    return blocks, turned_letters, letters


def _in_logical_order(words: str) -> str:
    """What MuPDF leaves in the order in which it is seen: the full stop of a line, and letters of Arabic ligatures."""
    found = _FIRST_STOP.match(words)
    if found is not None and words.rstrip()[-1:] not in _STOPS:
        words = words[found.end() :].rstrip() + found[1]
    for seen, meant in _LAM_ALEF:
        words = words.replace(seen, meant)
    return words


def _cells(line: TextLine) -> list[TextLine]:
    """The parts of a line that has so many blanks that it is one of several columns."""
    width = (line.right - line.left) / len(line.text)
    return [
        line._replace(
            text=found[0], left=line.left + found.start() * width, right=line.left + found.end() * width
        )
        for found in _BETWEEN_BLANKS.finditer(line.text)
    ] or [line]
