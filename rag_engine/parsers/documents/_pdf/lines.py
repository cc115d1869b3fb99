"""By MuPDF's JSON, the cheapest output with positions and fonts. Distances are in points from the displayed page's top left."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NotRequired, TypeAlias, TypedDict, cast

import orjson

from rag_engine.parsers._shared import mupdf
from rag_engine.parsers.documents._pdf.hidden_text import HiddenText

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rag_engine.parsers._shared.mupdf import PdfPage

Box: TypeAlias = tuple[float, float, float, float]
"""Left, top, right, bottom."""

_SCALE: Final = 10
_RECTANGLE: Final = re.compile(
    r'<vector bbox="(-?[\d.]+) (-?[\d.]+) (-?[\d.]+) (-?[\d.]+)"[^>]* rectangle="1"', re.ASCII
)
_BETWEEN_BLANKS: Final = re.compile(r"\S+(?: {1,2}\S+)*")
_JSON_VECTOR: Final = re.compile(r'\{"type":"vector"[^{}]*\}')
_MOST_RECTANGLES: Final = 5_000
_LARGEST: Final = 2_000
_SIZES: Final = [round(size / (_SCALE / 2)) / 2 for size in range(_LARGEST)]
_RIGHT_TO_LEFT: Final = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_STOPS: Final = ".:;!?،؛؟"
_FIRST_STOP: Final = re.compile(rf"\s*([{_STOPS}])\s*(?=[\u0590-\u08ff])")
_LAM_ALEF: Final = (("األ", "الأ"), ("اإل", "الإ"), ("اآل", "الآ"))
"""MuPDF reverses the ligature; these sequences do not occur otherwise."""
_DIRECTION: Final = re.compile(r' dir="(-?[\d.]+) (-?[\d.]+)"', re.ASCII)


class TextLine(NamedTuple):
    """A table row is several. A tuple, because pages have very many."""

    text: str
    top: float
    left: float
    size: float
    bold: bool = False
    right: float = 0.0
    bottom: float = 0.0
    base: float = 0.0
    turned: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PageText:
    width: float
    height: float
    blocks: list[list[TextLine]]
    text: str
    drawn: Callable[[], Sequence[Box]]
    noted: bool = False
    hidden: int = 0
    """Characters of hidden text, left out."""


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


def page_text(page: PdfPage, *, vectors: bool = False) -> PageText:
    """Most of the text is upright. `vectors`: also collect drawn rectangles."""
    notes = page.first_annot is not None
    text = mupdf.text_page(page, vectors=vectors, notes=notes)
    blocks, turned, letters, hidden = _lines(page, text)
    if turned * 2 > letters:
        page.set_rotation((page.rotation + _degrees(text)) % 360)
        text = mupdf.text_page(page, vectors=vectors, notes=notes)
        blocks, _, _, hidden = _lines(page, text)
    words = "\n".join([line.text for block in blocks for line in block])
    box = page.rect

    def drawn() -> Sequence[Box]:
        return _rectangles(text if vectors else mupdf.text_page(page, vectors=True))

    return PageText(
        width=box.x1 - box.x0,
        height=box.y1 - box.y0,
        blocks=blocks,
        text=words,
        drawn=drawn,
        noted=notes,
        hidden=hidden,
    )


def _degrees(text: mupdf.TextPage) -> int:
    directions = Counter(_DIRECTION.findall(mupdf.text_page_xml(text)))
    upwards = sum(count for (_, y), count in directions.items() if y.startswith("-"))
    return 90 if upwards * 2 > directions.total() else 270


def _rectangles(text: mupdf.TextPage) -> Sequence[Box]:
    xml = mupdf.text_page_xml(text)
    if xml.count("<vector") > _MOST_RECTANGLES:
        return ()
    return [
        (float(left), float(top), float(right), float(bottom))
        for left, top, right, bottom in _RECTANGLE.findall(xml)
    ]


def _text_blocks(text: mupdf.TextPage) -> list[_JsonBlock]:
    printed = mupdf.text_page_json(text, _SCALE)
    if '"vector"' in printed:
        printed = _JSON_VECTOR.sub("{}", printed)
    data: dict[str, list[_JsonBlock]] = orjson.loads(printed)
    return [block for block in data["blocks"] if block.get("lines")]


def _lines(page: PdfPage, text: mupdf.TextPage) -> tuple[list[list[TextLine]], int, int, int]:
    hidden = HiddenText(page, text)
    blocks: list[list[TextLine]] = []
    turned_letters = letters = 0
    for number, block in enumerate(_text_blocks(text)):
        lines: list[TextLine] = []
        for place, line in enumerate(block.get("lines", ())):
            visible = hidden.visible(number, place)
            words = line["text"] if visible is None else visible
            if not words or words.isspace():
                continue
            if not words.isascii() and _RIGHT_TO_LEFT.search(words):
                words = _in_logical_order(words)
            box, font = line["bbox"], line["font"]
            x, y, width, height = box["x"], box["y"], box["w"], box["h"]
            turned = height > 2 * width and len(words) > 2
            turned_letters += len(words) if turned else 0
            size = font["size"]
            # Inlined: it runs for every line.
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
            lines += _cells(placed) if "   " in words else [placed]
        if lines:
            blocks.append(lines)
            letters += sum([len(line.text) for line in lines])
    return blocks, turned_letters, letters, hidden.characters


def _in_logical_order(words: str) -> str:
    """MuPDF leaves full stops and Arabic ligatures in visual order."""
    found = _FIRST_STOP.match(words)
    if found is not None and words.rstrip()[-1:] not in _STOPS:
        words = words[found.end() :].rstrip() + found[1]
    for seen, meant in _LAM_ALEF:
        words = words.replace(seen, meant)
    return words


def _cells(line: TextLine) -> list[TextLine]:
    width = (line.right - line.left) / len(line.text)
    return [
        line._replace(
            text=found[0], left=line.left + found.start() * width, right=line.left + found.end() * width
        )
        for found in _BETWEEN_BLANKS.finditer(line.text)
    ] or [line]
