from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rag_engine.parsing.sandbox import resource_limits

if TYPE_CHECKING:
    from collections.abc import Callable, Generator


def _ignore(*, is_running: bool) -> None:
    del is_running


@dataclass(slots=True, kw_only=True)
class RecognitionLimits:
    """No languages: all installed. Seconds are what is left."""

    languages: tuple[str, ...] = ()
    installed: tuple[str, ...] | None = None
    seconds: float = 1_800.0
    page_seconds: float = 60.0
    on_page: Callable[..., None] = _ignore
    """At begin and end of each page, whose time the caller excludes."""

    @property
    def exhausted(self) -> bool:
        return self.seconds <= 0

    @contextmanager
    def page(self) -> Generator[None]:
        """Its CPU time does not count as the parser's."""
        self.on_page(is_running=True)
        began, began_processor = _seconds(), time.process_time()
        try:
            yield
        finally:
            self.seconds -= _seconds() - began
            resource_limits.give_back(time.process_time() - began_processor)
            self.on_page(is_running=False)


def _seconds() -> float:
    if sys.platform == "win32":
        return time.monotonic()
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


limits: Final[ContextVar[RecognitionLimits | None]] = ContextVar("limits", default=None)
"""Parsers called directly use defaults."""


def current() -> RecognitionLimits:
    found = limits.get()
    if found is None:
        found = RecognitionLimits()
        limits.set(found)
    return found
