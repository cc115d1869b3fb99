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
    # The lower edges of letters stand on the line; what is filled, such as a picture, has few of them.
    edges = marked[:-1] & ~marked[1:]
    down, across = np.nonzero(edges)
    if len(down) < _FEWEST:
        return 0.0
    step = -(-len(down) // _MOST)
    y, x = down[::step].astype(np.float32), across[::step].astype(np.float32)
    level = _clearness(x, y, 0.0)
    best = max(np.arange(-_WIDEST, _WIDEST + 0.5, 1.0), key=lambda angle: _clearness(x, y, float(angle)))
    best = max(
        np.arange(best - 1.0, best + 1.0 + _FINE, _FINE), key=lambda angle: _clearness(x, y, float(angle))
    )
    angle = float(best)
    if abs(angle) < _LEAST or _clearness(x, y, angle) < _GAIN * level:
        return 0.0
    return angle


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


def _clearness(x: NDArray[np.float32], y: NDArray[np.float32], degrees: float) -> float:
    """How much the marks gather in rows, or in columns for text that runs sideways, once turned back by so many degrees."""
    sine, cosine = math.sin(math.radians(degrees)), math.cos(math.radians(degrees))
    return max(_gathered(y * cosine - x * sine), _gathered(x * cosine + y * sine))


def _gathered(places: NDArray[np.floating]) -> float:
    counts = np.bincount((places - places.min()).astype(np.int32))
    return float(np.square(counts, dtype=np.float64).sum())
