"""Pure: how far the lines of a picture of text are from level. Tesseract passes over lines that lean by more than two degrees."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, cast

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WIDEST: Final = 20.0
_FINE: Final = 0.25
_LEAST: Final = 0.6
"""Degrees that no recognition minds."""
_GAIN: Final = 1.15
"""By so much the lines must stand out more clearly once they are level."""
_CLEAR: Final = 1.0
"""And by so much at all: what is no text stands out nowhere."""
_FEWEST: Final = 200
_LEAST_CONTRAST: Final = 32
_AROUND: Final = 12
"""Pixels around one that make its ground: wider than a stroke, narrower than a shadow."""
_MOST: Final = 40_000


def skew(gray: NDArray[np.uint8]) -> float:
    """Degrees by which the text leans clockwise, up to 20; 0.0 for level text and where nothing can be told.

    `gray` is a small picture (about 800 pixels across) of dark text on light ground or the other way round.
    """
    height, width = gray.shape
    inner = gray[height // 25 : height - height // 25, width // 25 : width - width // 25]
    if not inner.size:
        return 0.0
    low, high = np.percentile(inner, (1, 99))
    if high - low < _LEAST_CONTRAST:
        return 0.0
    # Against the ground around it: a photo of a page has shadows darker than the letters elsewhere.
    marked = inner < _around(inner) - max(_LEAST_CONTRAST / 3, (high - low) / 10)
    # The lower edges of letters stand on the line; what is filled, such as a picture, has few of them. Of text that runs sideways
    # they are the right or the left edges.
    lying, standing = _places(marked[:-1] & ~marked[1:]), _places((marked[:, :-1] & ~marked[:, 1:]).T)

    def clearness(degrees: float) -> float:
        """How much the marks gather in lines once the page is turned back by so many degrees."""
        return max(_gathered(*lying, degrees), _gathered(*standing, -degrees))

    level = clearness(0.0)
    angle = max(map(float, np.arange(-_WIDEST, _WIDEST + 0.5, 1.0)), key=clearness)
    angle = max(map(float, np.arange(angle - 1.0, angle + 1.0 + _FINE, _FINE)), key=clearness)
    gathered = clearness(angle)
    if abs(angle) < _LEAST or gathered < max(_GAIN * level, _CLEAR):
        return 0.0
    return angle


def _places(marks: NDArray[np.bool_]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """How far along the lines and across them the marks lie; not all, if they are very many."""
    across, along = np.nonzero(marks)
    step = -(-len(across) // _MOST) or 1
    return along[::step].astype(np.float32), across[::step].astype(np.float32)


def _around(gray: NDArray[np.uint8]) -> NDArray[np.float64]:
    """The mean of the square around each pixel, of what is inside the picture."""
    height, width = gray.shape
    total = np.zeros((height + 1, width + 1))
    np.cumsum(np.cumsum(gray, axis=0, dtype=np.float64), axis=1, out=total[1:, 1:])
    top, bottom = _window(height)
    left, right = _window(width)
    tall = total[bottom] - total[top]
    return (tall[:, right] - tall[:, left]) / np.outer(bottom - top, right - left)


def _window(length: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """For each place of a side, where its surroundings begin and end."""
    places = cast("NDArray[np.intp]", np.arange(length))
    return (places - _AROUND).clip(min=0), (places + _AROUND + 1).clip(max=length)


def _gathered(along: NDArray[np.float32], across: NDArray[np.float32], degrees: float) -> float:
    """How much more the marks gather in lines than at random: 0 for not at all."""
    if len(across) < _FEWEST:
        return 0.0
    lines = across * math.cos(math.radians(degrees)) - along * math.sin(math.radians(degrees))
    counts = np.bincount((lines - lines.min()).astype(np.int32))
    # From line to line, as the edge of a page that leans comes on slowly.
    return float(np.square(np.diff(counts)).sum() / (2 * len(across))) - 1.0
