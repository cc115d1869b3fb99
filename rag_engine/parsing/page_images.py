"""Only in a parsing worker, because PDFs are hostile."""

from __future__ import annotations

import unicodedata
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, cast

import pymupdf

from rag_engine.errors import CorruptFile, EncryptedFile
from rag_engine.parsers._shared.mupdf import TEXT_FLAGS, open_pdf, translate_errors
from rag_engine.parsing import figures

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

WIDTH: Final = 1200
"""Pixels across; fewer for a very high page."""
HEIGHT: Final = 2400
_MOST_CHARACTERS: Final = 200_000
_SHORTEST_PIECE: Final = 8
_RED, _GREEN, _BLUE = 255, 236, 90
"""Highlighter colour: white becomes this, black stays black."""
_MARGIN: Final = 1.0
_MOST_IMAGES: Final = 500
_MOST_PATHS: Final = 3_000
_LARGEST_SCALE: Final = 4.0

_Box: TypeAlias = tuple[float, float, float, float]


class _Map(Protocol):
    def __mul__(self, other: object) -> _Map: ...


class _Rect(Protocol):
    x0: float
    y0: float
    x1: float
    y1: float
    width: float
    height: float

    def __mul__(self, other: object) -> _Rect: ...


class _Pixmap(Protocol):
    width: int
    height: int
    stride: int
    n: int
    samples: bytes

    def tobytes(self, output: str) -> bytes: ...


class _TextPage(Protocol):
    def extractRAWDICT(self) -> dict[str, list[dict[str, object]]]: ...  # noqa: N802 - PyMuPDF's name


class _Page(Protocol):
    rect: _Rect
    rotation: int
    rotation_matrix: _Map

    def get_textpage(self, *, flags: int) -> _TextPage: ...
    def get_cdrawings(self) -> list[dict[str, object]]: ...
    def cluster_drawings(self) -> list[_Rect]: ...
    def get_image_info(self) -> list[dict[str, object]]: ...
    def get_pixmap(self, *, matrix: object, alpha: bool, clip: object = None) -> _Pixmap: ...


class _PyMuPDF(Protocol):
    csRGB: object  # noqa: N815 - PyMuPDF's name

    def Matrix(self, x: float, y: float) -> _Map: ...  # noqa: N802 - PyMuPDF's name
    def Rect(self, box: _Box) -> _Rect: ...  # noqa: N802 - PyMuPDF's name
    def Pixmap(self, space: object, width: int, height: int, samples: bytes, alpha: int) -> _Pixmap: ...  # noqa: N802 - PyMuPDF's name


_library: Final = cast("_PyMuPDF", pymupdf)


@dataclass(frozen=True, slots=True)
class _Letter:
    letter: str
    line: int
    box: _Box


def draw(path: Path, page: int, quotes: Sequence[str], *, figure: bool = False) -> tuple[bytes, int]:
    """A PNG, and how many quotes were marked; `figure`: that alone, if it is known. Raises `CorruptFile` if the page (from 1) does not exist or
    cannot be drawn.
    """
    with closing(open_pdf(path)) as document, translate_errors():
        if document.needs_pass:
            raise EncryptedFile
        if not 1 <= page <= document.page_count:
            raise CorruptFile("The PDF has no such page.")
        return _drawn(cast("_Page", document.load_page(page - 1)), quotes, figure=figure)


def _drawn(page: _Page, quotes: Sequence[str], *, figure: bool) -> tuple[bytes, int]:
    scale = min(WIDTH / max(page.rect.width, 1.0), HEIGHT / max(page.rect.height, 1.0))
    letters = list(_letters(page.get_textpage(flags=TEXT_FLAGS)))
    found = [list(_boxes(places(quote, letters))) for quote in quotes]
    if figure and (content := _figure(page, letters, [box for boxes in found for box in boxes])):
        return content, 0
    picture = page.get_pixmap(matrix=_library.Matrix(scale, scale), alpha=False)
    # Text positions ignore the page's rotation.
    onto = page.rotation_matrix * _library.Matrix(scale, scale)
    drawn = picture.samples
    samples = bytearray(drawn)
    for box in dict.fromkeys(box for boxes in found for box in boxes):
        _mark(samples, picture, drawn, _library.Rect(box) * onto)
    marked = _library.Pixmap(_library.csRGB, picture.width, picture.height, bytes(samples), 0)
    return marked.tobytes("png"), sum(bool(boxes) for boxes in found)


def _figure(page: _Page, letters: Sequence[_Letter], quoted: Sequence[_Box]) -> bytes | None:
    if page.rotation:
        return None
    images = [cast("_Box", one["bbox"]) for one in page.get_image_info()[:_MOST_IMAGES]]
    grouped = [list(same) for _, same in groupby(letters, key=lambda letter: letter.line)]
    lines = [("".join(one.letter for one in same), box) for same in grouped for box in _boxes(same)]
    sheet = page.rect
    bounds = (sheet.x0, sheet.y0, sheet.x1, sheet.y1)
    around = figures.figure(bounds, images, lines, quoted, _drawings(page))
    if around is None:
        return None
    clip = _library.Rect(around)
    scale = min(WIDTH / max(clip.width, 1.0), HEIGHT / max(clip.height, 1.0), _LARGEST_SCALE)
    return page.get_pixmap(matrix=_library.Matrix(scale, scale), clip=clip, alpha=False).tobytes("png")


def _drawings(page: _Page) -> list[_Box]:
    """Lines and areas that touch are one."""
    if len(page.get_cdrawings()) > _MOST_PATHS:
        return []
    return [(box.x0, box.y0, box.x1, box.y1) for box in page.cluster_drawings()]


def places(quote: str, letters: Sequence[_Letter]) -> list[_Letter]:
    """By letters and digits alone."""
    plain = _plain(quote)
    by_height = sorted(letters, key=lambda letter: (round(letter.box[3]), letter.box[0]))
    for order in (letters, by_height):
        text, owners = _text(order)
        at = text.find(plain) if plain else -1
        if at >= 0:
            return [order[owner] for owner in owners[at : at + len(plain)]]
    text, owners = _text(letters)
    return [letters[owners[at]] for start, end in _pieces(plain, text) for at in range(start, end)]


def _pieces(plain: str, text: str) -> Iterator[tuple[int, int]]:
    position, after = 0, 0
    while position + _SHORTEST_PIECE <= len(plain):
        length = _longest(plain, position, text)
        if length < _SHORTEST_PIECE:
            position += 1
            continue
        piece = plain[position : position + length]
        at = text.find(piece, after)
        at = text.find(piece) if at < 0 else at
        yield at, at + length
        position, after = position + length, at + length


def _longest(plain: str, position: int, text: str) -> int:
    least, most = 0, len(plain) - position
    while least < most:
        middle = (least + most + 1) // 2
        if plain[position : position + middle] in text:
            least = middle
        else:
            most = middle - 1
    return least


def _text(letters: Sequence[_Letter]) -> tuple[str, list[int]]:
    owners: list[int] = []
    text: list[str] = []
    for number, letter in enumerate(letters):
        plain = _plain(letter.letter)
        text.append(plain)
        owners.extend([number] * len(plain))
    return "".join(text), owners


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(character for character in folded if character.isalnum())


def _letters(page: _TextPage) -> Iterator[_Letter]:
    count = 0
    for number, line in enumerate(_lines(page)):
        for span in cast("list[dict[str, object]]", line["spans"]):
            for raw in cast("list[dict[str, object]]", span["chars"]):
                count += 1
                if count > _MOST_CHARACTERS:
                    return
                yield _Letter(str(raw["c"]), number, cast("_Box", tuple(cast("list[float]", raw["bbox"]))))


def _lines(page: _TextPage) -> Iterator[dict[str, object]]:
    for block in page.extractRAWDICT()["blocks"]:
        yield from cast("list[dict[str, object]]", block.get("lines") or [])


def _boxes(letters: Sequence[_Letter]) -> Iterator[_Box]:
    for _, same in groupby(letters, key=lambda letter: letter.line):
        boxes = [letter.box for letter in same]
        yield (
            min(box[0] for box in boxes) - _MARGIN,
            min(box[1] for box in boxes) - _MARGIN,
            max(box[2] for box in boxes) + _MARGIN,
            max(box[3] for box in boxes) + _MARGIN,
        )


def _mark(samples: bytearray, picture: _Pixmap, drawn: bytes, where: _Rect) -> None:
    left, right = (min(max(round(edge), 0), picture.width) for edge in (where.x0, where.x1))
    top, bottom = (min(max(round(edge), 0), picture.height) for edge in (where.y0, where.y1))
    for row in range(top, bottom):
        start, end = (row * picture.stride + edge * picture.n for edge in (left, right))
        for channel, table in enumerate(_TABLES):
            pixels = slice(start + channel, end, picture.n)
            samples[pixels] = drawn[pixels].translate(table)


_TABLES: Final = [bytes(value * colour // 255 for value in range(256)) for colour in (_RED, _GREEN, _BLUE)]
