from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from rag_engine.errors import RateLimited

if TYPE_CHECKING:
    from collections.abc import Generator

_BUSY: Final = "Too many questions are being answered; try again in a moment."


class AnswerSlots:
    def __init__(self, most: int) -> None:
        self._free = most

    @contextmanager
    def taken(self) -> Generator[None]:
        """Raises `RateLimited`."""
        if not self._free:
            raise RateLimited(_BUSY, backend="answers")
        self._free -= 1
        try:
            yield
        finally:
            self._free += 1
