from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rag_engine.types import Chunk


@dataclass(frozen=True, slots=True, kw_only=True)
class WebResult:
    url: str
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebPages:
    chunks: tuple[Chunk, ...]
    found: tuple[str, ...]
    unread: tuple[str, ...]
