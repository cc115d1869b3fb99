"""A plug-in: a hashing embedder that kills its process at a certain word."""

from __future__ import annotations

import os
import signal
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_engine.embedders import hashing
from rag_engine.embedders.hashing import Settings
from rag_engine.wrappers.delegation import DelegatingEmbedder

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from pathlib import Path

    from rag_engine.types import Matrix, Side

__all__ = ["Settings", "connect"]

WORD = "arsenic"
ENVIRONMENT = {"FOOTNOTE_EMBEDDER__KIND": "deadly"}


def install(folder: Path) -> None:
    """Register it as `deadly` for programs that import from `folder`."""
    information = folder / "deadly-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: deadly\nVersion: 1.0\n", "utf-8")
    (information / "entry_points.txt").write_text(
        "[rag_engine.embedders]\ndeadly = tests.doubles.deadly_embedder\n", "utf-8"
    )


@asynccontextmanager
async def connect(settings: Settings, *, data_dir: Path) -> AsyncGenerator[DeadlyEmbedder]:
    async with hashing.connect(settings, data_dir=data_dir) as embedder:
        yield DeadlyEmbedder(embedder)


@dataclass(frozen=True, slots=True)
class DeadlyEmbedder(DelegatingEmbedder):
    async def embed(self, texts: Sequence[str], *, side: Side) -> Matrix:
        if side == "passage" and any(WORD in text for text in texts):
            os.kill(os.getpid(), signal.SIGKILL)
        return await self.embedder.embed(texts, side=side)
