from __future__ import annotations

import asyncio
import re
import unicodedata
import zlib
from contextlib import asynccontextmanager
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from rag_engine.embedders._vectors import unit_rows, well_formed
from rag_engine.text.lazy_pattern import lazy

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator, Sequence
    from pathlib import Path

    from rag_engine.types import Matrix, Side

_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_TOKEN = lazy(lambda: re.compile(rf"[{_IDEOGRAPHS}]|[^\W{_IDEOGRAPHS}]{{1,24}}|[^\w\s]"))

_WORD_WEIGHT = 1.0
_PART_WEIGHT = 0.35
_PART_LENGTH = 3
_TEXTS_BETWEEN_BREATHS = 64


IS_LOCAL = True


class Settings(BaseModel):
    """Hashed words, for tests and machines without a model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    dimensions: int = Field(default=256, ge=8, le=4096)
    """Length of a vector."""
    max_tokens: int = Field(default=256, ge=1)
    """Tokens used of each text; the rest is ignored."""


class HashingEmbedder:
    __slots__ = ("dimensions", "max_tokens", "model")

    def __init__(self, *, dimensions: int, max_tokens: int) -> None:
        self.model = f"hashing-{dimensions}@v1"
        self.dimensions = dimensions
        self.max_tokens = max_tokens

    def count_tokens(self, text: str) -> int:
        return sum(1 for _ in _tokens(text))

    async def embed(self, texts: Sequence[str], *, side: Side) -> Matrix:
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for start in range(0, len(texts), _TEXTS_BETWEEN_BREATHS):
            part = slice(start, start + _TEXTS_BETWEEN_BREATHS)
            await asyncio.to_thread(self._fill, rows[part], texts[part])
        return unit_rows(rows)

    def _fill(self, rows: Matrix, texts: Sequence[str]) -> None:
        for row, text in zip(rows, texts, strict=True):
            for feature, weight in _features(islice(_tokens(text), self.max_tokens)):
                code = zlib.crc32(feature.encode())
                row[code % self.dimensions] += weight if code & 0x8000_0000 else -weight


@asynccontextmanager
async def connect(settings: Settings, *, data_dir: Path) -> AsyncGenerator[HashingEmbedder]:
    yield HashingEmbedder(dimensions=settings.dimensions, max_tokens=settings.max_tokens)


def _tokens(text: str) -> Iterator[str]:
    folded = unicodedata.normalize("NFKC", well_formed(text)).casefold()
    return (match.group() for match in _TOKEN.finditer(folded))


def _features(tokens: Iterator[str]) -> Iterator[tuple[str, float]]:
    yield "", 0.05
    before = ""
    for token in tokens:
        yield f"word {token}", _WORD_WEIGHT
        if before:
            yield f"pair {before} {token}", _PART_WEIGHT
        before = token
        padded = f"<{token}>"
        for start in range(len(padded) - _PART_LENGTH + 1):
            yield f"part {padded[start : start + _PART_LENGTH]}", _PART_WEIGHT
