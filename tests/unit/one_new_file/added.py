"""How a test adds a part."""

from __future__ import annotations

from typing import Protocol


class Add(Protocol):
    def __call__(self, family: str, name: str, source: str) -> None: ...
