"""What a parser may spend on text recognition (OCR), as the request for its file says; and its word that it is at it."""

from __future__ import annotations

import time
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rag_engine.sandbox import limits

if TYPE_CHECKING:
    from collections.abc import Callable, Generator


def _nobody(*, at_it: bool) -> None:
    """Nobody waits."""
    del at_it


@dataclass(slots=True, kw_only=True)
class Terms:
    """The languages asked for, none for those that are installed; the seconds left for all pages and for one of them."""

    languages: tuple[str, ...] = ()
    installed: tuple[str, ...] | None = None
    """What there is, once it was asked for."""
    seconds: float = 1_800.0
    page_seconds: float = 60.0
    tell: Callable[..., None] = _nobody
    """Called with `at_it` when the recognition of a page begins and when it ends: whoever waits counts that time apart."""

    @property
    def exhausted(self) -> bool:
        """Whether the time for this file is used up."""
        return self.seconds <= 0

    @contextmanager
    def page(self) -> Generator[None]:
        """The recognition of one page: its time is counted, and its processor time does not count as the parser's."""
        self.tell(at_it=True)
        began, began_processor = time.monotonic(), time.process_time()
        try:
            yield
        finally:
            self.seconds -= time.monotonic() - began
            limits.give_back(time.process_time() - began_processor)
            self.tell(at_it=False)


terms: Final[ContextVar[Terms | None]] = ContextVar("terms", default=None)
"""Set before a file is read; a parser that is called without has terms of its own."""


def current() -> Terms:
    """The terms of the file that is read now."""
    found = terms.get()
    if found is None:
        found = Terms()
        terms.set(found)
    return found
