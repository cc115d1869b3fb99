"""Tesseract skips lines skewed by more than two degrees."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, cast

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WIDEST: Final = 20.0
_FINE: Final = 0.25
_LEAST: Final = 0.6
_GAIN: Final = 1.15
_CLEAR: Final = 1.0
_FEWEST: Final = 200
_LEAST_CONTRAST: Final = 32
_AROUND: Final = 12
"""Pixels of the background: wider than a stroke, narrower than a shadow."""
_MOST: Final = 40_000


def skew(gray: NDArray[np.uint8]) -> float:
    """Clockwise degrees, up to 20; 0.0 if unclear. `gray` is about 800 pixels wide."""
    height, width = gray.shape
    inner = gray[height // 25 : height - height // 25, width // 25 : width - width // 25]
    if not inner.size:
        return 0.0
    low, high = np.percentile(inner, (1, 99))
    if high - low < _LEAST_CONTRAST:
        return 0.0
    # Shadows in photos are darker than letters elsewhere.
    marked = inner < _local_mean(inner) - max(_LEAST_CONTRAST / 3, (high - low) / 10)
    # Lower edges of letters are on the line; in sideways text left or right edges.
    lying, standing = (
        _coordinates(marked[:-1] & ~marked[1:]),
        _coordinates((marked[:, :-1] & ~marked[:, 1:]).T),
    )

    def clearness(degrees: float) -> float:
        return max(_concentration(*lying, degrees), _concentration(*standing, -degrees))

    level = clearness(0.0)
    angle = max(map(float, np.arange(-_WIDEST, _WIDEST + 0.5, 1.0)), key=clearness)
    angle = max(map(float, np.arange(angle - 1.0, angle + 1.0 + _FINE, _FINE)), key=clearness)
    gathered = clearness(angle)
    if abs(angle) < _LEAST or gathered < max(_GAIN * level, _CLEAR):
        return 0.0
    return angle


def _coordinates(marks: NDArray[np.bool_]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    across, along = np.nonzero(marks)
    step = -(-len(across) // _MOST) or 1
    return along[::step].astype(np.float32), across[::step].astype(np.float32)


def _local_mean(gray: NDArray[np.uint8]) -> NDArray[np.float64]:
    height, width = gray.shape
    total = np.zeros((height + 1, width + 1))
    np.cumsum(np.cumsum(gray, axis=0, dtype=np.float64), axis=1, out=total[1:, 1:])
    top, bottom = _window(height)
    left, right = _window(width)
    tall = total[bottom] - total[top]
    return (tall[:, right] - tall[:, left]) / np.outer(bottom - top, right - left)


def _window(length: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    places = cast("NDArray[np.intp]", np.arange(length))
    return (places - _AROUND).clip(min=0), (places + _AROUND + 1).clip(max=length)


def _concentration(along: NDArray[np.float32], across: NDArray[np.float32], degrees: float) -> float:
    if len(across) < _FEWEST:
        return 0.0
    lines = across * math.cos(math.radians(degrees)) - along * math.sin(math.radians(degrees))
    counts = np.bincount((lines - lines.min()).astype(np.int32))
    # Differences of neighbours, since a skewed page's edge changes slowly.
    return float(np.square(np.diff(counts)).sum() / (2 * len(across))) - 1.0
