from __future__ import annotations

from typing import Final

MOST: Final = 8 << 20
_OF_A_PART: Final = 1_000


class TooMuchSent(Exception):
    pass


class Traffic:
    def __init__(self) -> None:
        self._left = MOST

    def renew(self) -> None:
        self._left = MOST

    def take(self, block: bytes) -> None:
        """Raises `TooMuchSent`."""
        within_texts = block.count(b"{\\") + block.count(b"[\\")
        parts = 1 + block.count(b"{") + block.count(b"[") - within_texts
        self._left -= len(block) + _OF_A_PART * parts
        if self._left < 0:
            raise TooMuchSent
