"""The Tesseract in PyMuPDF reads fewer words (92.8 % against 97.6 %) in more time, and its crash ends the file.
Parsers that use it declare `PROGRAMS`.
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
from rag_engine.parsers._ocr.layout import sections_of
from rag_engine.parsers._ocr.limits import current
from rag_engine.parsers._ocr.skew import skew
from rag_engine.parsers._ocr.words import Words, words_of
from rag_engine.parsers._shared.mupdf import translate_errors
from rag_engine.parsing.sandbox import resource_limits
from rag_engine.parsing.tesseract import ORIENTATION, PROGRAM, chosen, languages_of

if sys.platform != "win32":
    import resource

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rag_engine.parsers._ocr.unread_pages import Reason
    from rag_engine.parsers._shared.mupdf import Rect
    from rag_engine.types import Section

PROGRAMS: Final = (PROGRAM,)

_DENSEST: Final = 300.0
_LEAST_DENSE: Final = 200.0
_MOST_PIXELS: Final = 20_000_000
_MOST_STORED: Final = 160_000_000
"""Pixels, which are decoded whole; larger ones are bombs."""
_PLENTY: Final = 2_400.0
_MOST_ENLARGED: Final = 3.0
_SMALL: Final = 800
_LEAST_CONTRAST: Final = 24
_OUT_OF_TIME: Final = frozenset({-getattr(signal, "SIGXCPU", 0), -getattr(signal, "SIGKILL", 0)}) - {0}
_BY_PARTS: Final = ("-c", "thresholding_method=1")
"""Adaptive threshold: three times the words on photos with shadows, no fewer elsewhere."""
_BY_ITSELF: Final = {"OMP_THREAD_LIMIT": "1", "OMP_NUM_THREADS": "1", "LC_ALL": "C.UTF-8"}


class Unread(Exception):
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
    rect: Rect

    def get_pixmap(self, *, matrix: object, colorspace: object, alpha: bool) -> _Pixmap: ...
    def get_image_info(self) -> list[dict[str, object]]: ...


def page_sections(page: object, anchor: str, *, is_sized: bool = True) -> list[Section]:
    """Empty without letters. Raises `Unread`. `is_sized`: the page knows its size on paper."""
    return _readable(_recognised(partial(_drawn, cast("_Page", page), is_sized=is_sized)), anchor)


def file_sections(path: Path, anchor: str) -> list[Section]:
    return _readable(_recognised(lambda: (path.read_bytes(), 0.0)), anchor)


def _readable(words: Words, anchor: str) -> list[Section]:
    if words.unreadable:
        raise Unread("faint")
    return list(sections_of(words.words, anchor))


def _recognised(drawn: Callable[[], tuple[bytes, float]]) -> Words:
    limits = current()
    if limits.exhausted:
        raise Unread("exhausted")
    with limits.page():
        content, density = drawn()
        if not content:
            return words_of("")
        installed = limits.installed = _installed() if limits.installed is None else limits.installed
        languages = chosen(installed, limits.languages)
        if not languages:
            raise Unread("missing")
        # 1: detect the orientation (needs its data); 3: assume upright.
        mode = "1" if ORIENTATION in installed else "3"
        seconds = max(1.0, min(limits.page_seconds, limits.seconds))
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
    """Deskewed grayscale PGM and dpi; empty if blank. Raises `Unread`."""
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
        # Screenshots have small letters, photos large ones.
        resolution = finest * min(max(_PLENTY / (max(width, height) * finest / 72), 1.0), _MOST_ENLARGED)
    else:
        resolution = min(max(finest, _LEAST_DENSE), _DENSEST) if finest else _DENSEST
    return min(resolution / 72, math.sqrt(_MOST_PIXELS / (width * height)))


def _installed() -> tuple[str, ...]:
    try:
        return languages_of(_run(["--list-langs"], b"", seconds=20))
    except Unread:
        return ()


def _run(arguments: Sequence[str], given: bytes, *, seconds: float) -> str:
    """The system limits CPU time: a sandbox may not kill processes."""
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
    resource_limits.for_a_program()
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    allowed = seconds if most == resource.RLIM_INFINITY else min(seconds, most)
    resource.setrlimit(resource.RLIMIT_CPU, (allowed, allowed))
