"""all-MiniLM-L6-v2 on ONNX Runtime, without torch.

`fp32` equals sentence-transformers; `int8` is 2.5 times as fast, less exact (cosine >= 0.99 in English), and another
identity.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field

from rag_engine.embedders import _minilm
from rag_engine.embedders.local.encoder_threads import EncodingThreads
from rag_engine.embedders.local.prepare import PreparedFiles, files_in, prepare
from rag_engine.embedders.local.session import open_session, translate_errors
from rag_engine.embedders.local.tokenizer import MAX_TOKENS, WordPieces
from rag_engine.embedders.local.weights import require_folder
from rag_engine.errors import BadSettings, EmbedderUnavailable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

    from rag_engine.embedders.local.session import Session
    from rag_engine.types import Matrix, Side, Vector

DIMENSIONS = 384


IS_LOCAL = True


class Settings(BaseModel):
    """A small English model that runs in ONNX Runtime, without torch."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = _minilm.NAME
    """Only `all-MiniLM-L6-v2`."""
    precision: Literal["fp32", "int8"] = "fp32"
    """Precision of the weights."""
    path: Path | None = None
    """Folder with `model.safetensors` and `tokenizer.json`; by default the model is searched for, then downloaded."""
    download: bool = True
    """Whether missing files may be downloaded from the model hub."""
    threads: int | None = Field(default=None, ge=1, le=256)
    """Texts encoded in parallel; by default one per processor."""
    prepare_seconds: float = Field(default=900, gt=0)
    """Time limit of the first start, which downloads and builds the model."""


class LocalEmbedder:
    __slots__ = ("_threads", "_word_pieces", "model")

    dimensions = DIMENSIONS
    max_tokens = MAX_TOKENS

    def __init__(self, *, model: str, word_pieces: WordPieces, threads: EncodingThreads) -> None:
        self.model = model
        self._word_pieces = word_pieces
        self._threads = threads

    def count_tokens(self, text: str) -> int:
        return self._word_pieces.count(text)

    async def embed(self, texts: Sequence[str], *, side: Side) -> Matrix:
        with translate_errors():
            return await self._threads.encode(texts, side=side)


@asynccontextmanager
async def connect(
    settings: Settings, *, data_dir: Path, report: Callable[[str], None] | None = None
) -> AsyncGenerator[LocalEmbedder]:
    """Raises `Misconfigured` if the model is not available, `StorageUnavailable`."""
    word_pieces, session = await _open(settings, data_dir, report)

    def encode(text: str) -> Vector:
        return session.run(None, {"ids": word_pieces.ids(text)})[0]

    threads = EncodingThreads(encode, dimensions=DIMENSIONS, threads=settings.threads or _processors())
    try:
        model = f"{_minilm.NAME}@{settings.precision}"
        yield LocalEmbedder(model=model, word_pieces=word_pieces, threads=threads)
    finally:
        await asyncio.to_thread(threads.close)


async def _open(
    settings: Settings, data_dir: Path, report: Callable[[str], None] | None
) -> tuple[WordPieces, Session]:
    if not _minilm.is_named(settings.model):
        raise BadSettings(
            f"The local embedder runs {_minilm.NAME} only;"
            f" for {settings.model} choose the sentence_transformers embedder."
        )
    if settings.path is not None:
        require_folder(settings.path)
    files = files_in(data_dir, precision=settings.precision)

    async def make() -> None:
        await prepare(
            files,
            precision=settings.precision,
            folder=settings.path,
            download=settings.download,
            limit_seconds=settings.prepare_seconds,
            report=report,
        )

    if not await asyncio.to_thread(files.are_there):
        await make()
    try:
        return await asyncio.to_thread(_load, files)
    except EmbedderUnavailable:
        # The graph may be damaged; rebuild it.
        await make()
        return await asyncio.to_thread(_load, files)


def _load(files: PreparedFiles) -> tuple[WordPieces, Session]:
    return WordPieces(files.tokenizer), open_session(files.graph)


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
