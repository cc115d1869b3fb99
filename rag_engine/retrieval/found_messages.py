from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundMessage:
    uri: str
    title: str
    text: str
    author: str = ""
    at: float = 0.0
    """Seconds since the epoch."""


FindMessages: TypeAlias = Callable[[str, int], Awaitable[Sequence[FoundMessage]]]
"""At most so many that everyone who reads the reply may read, best first. Raises `Unavailable`."""
