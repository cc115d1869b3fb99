from __future__ import annotations

import asyncio
import os
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from rag_engine.errors import BadSettings, Unavailable
from rag_engine.onnx_models.files import found
from rag_engine.onnx_models.loader import loaded
from rag_engine.onnx_models.session import OnnxModel, by_length
from rag_engine.retrieval.ranking.rerank_scores import reordered, sigmoid
from rag_engine.text.chunk_text import searchable_text
from rag_engine.text.surrogates import encodable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from concurrent.futures import ThreadPoolExecutor
    from pathlib import Path

    from tokenizers import Encoding

    from rag_engine.ports import Reranker
    from rag_engine.types import Hit

IS_LOCAL = True


class Settings(BaseModel):
    """A cross-encoder that runs in ONNX Runtime, without torch."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = "cross-encoder/mmarco-mMiniLMv2-L12-H384-v1"
    """A name on the model hub, or a folder."""
    file: str = ""
    """The graph in it, such as `onnx/model_quantized.onnx`; by default `onnx/model.onnx` or `model.onnx`."""
    max_tokens: int = Field(default=512, ge=8)
    """Maximum tokens of question and passage together, if the model has no lower limit."""
    batch_size: int = Field(default=16, ge=1)
    """Pairs scored together."""
    threads: int | None = Field(default=None, ge=1, le=256)
    """Processors for one batch; by default all."""
    download: bool = True
    """Whether missing files may be downloaded from the model hub."""
    prepare_seconds: float = Field(default=900, gt=0)
    """Time limit of loading the model, with its download."""


@asynccontextmanager
async def connect(settings: Settings, *, data_dir: Path) -> AsyncGenerator[Reranker]:
    late = Unavailable(
        f"The reranking model {settings.model} was not loaded in {settings.prepare_seconds:g} s.",
        backend="model hub",
    )
    load = partial(_load, settings, data_dir)
    async with loaded(load, thread="reranker", seconds=settings.prepare_seconds, late=late) as reranker:
        yield reranker


class _OnnxReranker:
    def __init__(self, model: OnnxModel, pool: ThreadPoolExecutor, batch_size: int) -> None:
        self._model = model
        self._pool = pool
        self._batch_size = batch_size

    async def rerank(self, query: str, hits: Sequence[Hit], *, limit: int) -> list[Hit]:
        if not hits:
            return []
        loop = asyncio.get_running_loop()
        pairs = [(encodable(query), encodable(searchable_text(hit.chunk))) for hit in hits]
        encodings = await loop.run_in_executor(self._pool, self._model.encodings, pairs)
        scores = [0.0] * len(hits)
        for places in by_length(encodings, self._batch_size):
            batch = [encodings[place] for place in places]
            found_scores = await loop.run_in_executor(self._pool, _scores, self._model, batch)
            for place, score in zip(places, found_scores, strict=True):
                scores[place] = score
        return reordered(hits, scores, limit=limit)


def _load(settings: Settings, data_dir: Path, pool: ThreadPoolExecutor) -> _OnnxReranker:
    files = found(settings.model, graph=settings.file, download=settings.download, cache=data_dir / "models")
    limit = min(settings.max_tokens, files.max_tokens or settings.max_tokens)
    model = OnnxModel(files, max_tokens=limit, threads=settings.threads or os.cpu_count() or 1)
    rows, _ = model.run(model.encodings([("question", "passage")]), model.outputs[0])
    if rows.ndim != 2 or rows.shape[1] > 2:
        raise BadSettings(
            f"the model {files.name} gives no score for a question and a passage, so it is no reranker; choose another."
        )
    return _OnnxReranker(model, pool, settings.batch_size)


def _scores(model: OnnxModel, batch: Sequence[Encoding]) -> list[float]:
    rows, _ = model.run(batch, model.outputs[0])
    logits = rows[:, 0] if rows.shape[1] == 1 else rows[:, 1] - rows[:, 0]
    if not np.isfinite(logits).all():
        raise Unavailable(f"The model {model.name} gave scores that are no numbers.", backend="reranker")
    return [sigmoid(float(logit)) for logit in logits]
