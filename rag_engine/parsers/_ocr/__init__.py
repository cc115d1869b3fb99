"""Text recognition (OCR) of a page that is a picture, by the program Tesseract.

The program rather than the Tesseract within PyMuPDF: measured on scans made of pages of text it reads 97.6 % of the words and not
92.8 %, in 3.5 s a page and not 5.3 s, says how sure it is of each word, sees which way up a page is, and a page that ends it ends
only itself. It needs to be started, which a parser that uses this module allows by `PROGRAMS`.
"""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol, cast

import numpy as np
import pymupdf

from rag_engine.errors import CorruptFile
from rag_engine.parsers._mupdf import translate_errors
from rag_engine.parsers._ocr.layout import sections_of
from rag_engine.parsers._ocr.skew import skew
from rag_engine.parsers._ocr.words import Words, words_of
from rag_engine.parsers._recognition_terms import current
from rag_engine.recognition import ORIENTATION, PROGRAM, chosen, languages_of

if sys.platform != "win32":
    import resource

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rag_engine.parsers._mupdf import Rect
    from rag_engine.parsers._unread_pages import Reason
    from rag_engine.types import Section

PROGRAMS: Final = (PROGRAM,)

_DENSEST: Final = 300.0
_LEAST_DENSE: Final = 200.0
"""Dots per inch: finer ones cost time and bring nothing, coarser ones cost letters."""
_MOST_PIXELS: Final = 20_000_000
"""A page of A3 at 300 dots per inch; whatever is larger is drawn more coarsely."""
_MOST_STORED: Final = 160_000_000
"""Pixels of a picture within a page, which must be unpacked whole; larger ones are bombs, or no text."""
_PLENTY: Final = 2_400.0
_MOST_ENLARGED: Final = 3.0
"""A picture with fewer pixels than plenty along its longer side is enlarged, up to so many times."""
_SMALL: Final = 800
_LEAST_CONTRAST: Final = 24
"""Between the darkest and the lightest shade of 256 on a page that shows anything; a file may have thousands of blank ones."""
_OUT_OF_TIME: Final = frozenset({-getattr(signal, "SIGXCPU", 0), -getattr(signal, "SIGKILL", 0)}) - {0}
_BY_PARTS: Final = ("-c", "thresholding_method=1")
"""Dark and light are told apart in each part of a page: of a photo with a shadow it reads three times as much, of others as much."""
_BY_ITSELF: Final = {"OMP_THREAD_LIMIT": "1", "OMP_NUM_THREADS": "1", "LC_ALL": "C.UTF-8"}


class Unread(Exception):
    """A page that was not recognised, and why."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason: Reason = reason


class _Pixmap(Protocol):
    width: int
    height: int
    stride: int
    samples_mv: memoryview

    def tobytes(self, output: str) -> bytes: ...


class _Matrix(Protocol):
    def prerotate(self, degrees: float) -> object: ...


class _Page(Protocol):
    """A page of a PDF or a picture, as PyMuPDF has it."""

    rect: Rect

    def get_pixmap(self, *, matrix: object, colorspace: object, alpha: bool) -> _Pixmap: ...
    def get_image_info(self) -> list[dict[str, object]]: ...


def page_sections(page: object, anchor: str, *, is_sized: bool = True) -> list[Section]:
    """What is written on a page, in reading order; nothing for one without letters. Raises `Unread`.

    A page of a PDF `is_sized`: it says how large it is on paper; a photo or a screenshot does not, whatever it says.
    """
    return _readable(_recognised(partial(_drawn, cast("_Page", page), is_sized=is_sized)), anchor)


def file_sections(path: Path, anchor: str) -> list[Section]:
    """The same for a picture in a file that Tesseract opens itself. Raises `Unread`."""
    return _readable(_recognised(lambda: (path.read_bytes(), 0.0)), anchor)


def _readable(words: Words, anchor: str) -> list[Section]:
    if words.unreadable:
        raise Unread("faint")
    return list(sections_of(words.words, anchor))


def _recognised(drawn: Callable[[], tuple[bytes, float]]) -> Words:
    terms = current()
    if terms.exhausted:
        raise Unread("exhausted")
    with terms.page():
        content, density = drawn()
        if not content:
            return words_of("")
        installed = terms.installed = _installed() if terms.installed is None else terms.installed
        languages = chosen(installed, terms.languages)
        if not languages:
            raise Unread("missing")
        # 1: find out which way up the page is, for which there are data; 3: it is as it should be.
        mode = "1" if ORIENTATION in installed else "3"
        seconds = max(1.0, min(terms.page_seconds, terms.seconds))
        options = [
            "-l",
            "+".join(languages),
            "--psm",
            mode,
            *_BY_PARTS,
            *(["--dpi", f"{density:.0f}"] if density else []),
        ]
        return words_of(_run(["stdin", "stdout", *options, "tsv"], content, seconds=seconds))


def _drawn(page: _Page, *, is_sized: bool) -> tuple[bytes, float]:
    """The page in shades of gray with its lines level, as PGM, and its dots per inch; nothing of a blank one. Raises `Unread`."""
    try:
        with translate_errors():
            zoom = _zoom(page, is_sized=is_sized)
            small = _gray(page, min(zoom, _SMALL / max(page.rect.x1 - page.rect.x0, 1.0)))
            pixels = np.frombuffer(small.samples_mv, dtype=np.uint8).reshape(small.height, small.stride)
            if int(pixels.max()) - int(pixels.min()) < _LEAST_CONTRAST:
                return b"", 0.0
            drawn = _gray(page, zoom, turned=-skew(pixels[:, : small.width])).tobytes("pgm")
    except CorruptFile as error:
        raise Unread("failed") from error
    return drawn, 72 * zoom if is_sized else _LEAST_DENSE


def _gray(page: _Page, zoom: float, *, turned: float = 0.0) -> _Pixmap:
    matrix = cast("_Matrix", pymupdf.Matrix(zoom, zoom))
    return page.get_pixmap(
        matrix=matrix.prerotate(turned) if turned else matrix, colorspace=pymupdf.csGRAY, alpha=False
    )


def _zoom(page: _Page, *, is_sized: bool) -> float:
    """How much larger than a dot a point to draw a page with: as its finest large picture, within bounds. Raises `Unread`."""
    width, height = max(page.rect.x1 - page.rect.x0, 1.0), max(page.rect.y1 - page.rect.y0, 1.0)
    finest = 0.0
    for picture in page.get_image_info():
        across, down = cast("int", picture["width"]), cast("int", picture["height"])
        if across * down > _MOST_STORED:
            raise Unread("large")
        x0, _, x1, _ = cast("tuple[float, float, float, float]", picture["bbox"])
        if x1 - x0 > width / 4:
            finest = max(finest, across * 72 / (x1 - x0))
    if not is_sized:
        # The letters of a screenshot are small, those of a photo large.
        wanted = finest * min(max(_PLENTY / (max(width, height) * finest / 72), 1.0), _MOST_ENLARGED)
    else:
        wanted = min(max(finest, _LEAST_DENSE), _DENSEST) if finest else _DENSEST
    return min(wanted / 72, math.sqrt(_MOST_PIXELS / (width * height)))


def _installed() -> tuple[str, ...]:
    """The languages whose data are installed; none when there is no program, or it may not be started here."""
    try:
        return languages_of(_run(["--list-langs"], b"", seconds=20))
    except Unread:
        return ()


def _run(arguments: Sequence[str], given: bytes, *, seconds: float) -> str:
    """What the program says. Its processor time is limited by the system: a sandbox lets nobody end another process."""
    limited = None if sys.platform == "win32" else partial(_limit, math.ceil(seconds))
    try:
        done = subprocess.run(  # noqa: S603 - the arguments are ours
            [PROGRAM, *arguments],
            input=given,
            capture_output=True,
            env=os.environ | _BY_ITSELF,
            preexec_fn=limited,
            timeout=None if limited else seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise Unread("slow") from error
    except OSError as error:
        raise Unread("missing") from error
    if done.returncode in _OUT_OF_TIME:
        raise Unread("slow")
    if done.returncode:
        raise Unread("failed")
    return done.stdout.decode("utf-8", errors="replace")


def _limit(seconds: int) -> None:
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    allowed = seconds if most == resource.RLIM_INFINITY else min(seconds, most)
    resource.setrlimit(resource.RLIMIT_CPU, (allowed, allowed))
