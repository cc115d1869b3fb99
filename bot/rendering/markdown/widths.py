from __future__ import annotations

from typing import Final

import regex

_CLUSTER: Final = regex.compile(r"\X")


def width(text: str) -> int:
    """UTF-16 units: the most that either platform counts."""
    return len(text) if text.isascii() else len(text) + sum(character > "\uffff" for character in text)


def fitting(text: str, room: int, start: int = 0) -> int:
    """Between visible characters, after at least one code point."""
    end = start
    used = 0
    while end < len(text):
        used += 2 if text[end] > "\uffff" else 1
        if used > room:
            break
        end += 1
    if end >= len(text):
        return len(text)
    return max(_whole(text, start, end), start + 1)


def _whole(text: str, start: int, end: int) -> int:
    behind = max(start, end - 64)
    last = behind
    for cluster in _CLUSTER.finditer(text, behind):
        if cluster.end() > end:
            break
        last = cluster.end()
    return last if last > start else end
