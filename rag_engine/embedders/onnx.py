from __future__ import annotations

import asyncio
import os
from contextlib import asynccontextmanager, contextmanager
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final, Literal, cast

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from rag_engine.embedders._vectors import (
    Prefixes,
    known_prefixes,
    own_prefix,
    prefixes_of,
    unit_rows,
    well_formed,
)
from rag_engine.errors import BadSettings, EmbedderUnavailable, Unavailable
from rag_engine.onnx_models.files import found
from rag_engine.onnx_models.loader import loaded
from rag_engine.onnx_models.session import OnnxModel, by_length

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator, Sequence
    from concurrent.futures import ThreadPoolExecutor
    from pathlib import Path

    from numpy.typing import NDArray
    from tokenizers import Encoding

    from rag_engine.onnx_models.files import OnnxFiles
    from rag_engine.types import Matrix, Side

IS_LOCAL = True

Pooling = Literal["mean", "cls", "last", "max"]

_MAX_TOKENS_WHERE_UNSTATED: Final = 512
_CACHED_COUNTS: Final = 20_000
_LONGEST_CACHED_TEXT: Final = 1_000
_POOLED: Final = ("sentence_embedding", "pooled_embedding", "text_embeds")
_TOKENS: Final = ("last_hidden_state", "token_embeddings")
_POOLINGS: Final[tuple[tuple[str, Pooling], ...]] = (
    ("pooling_mode_cls_token", "cls"),
    ("pooling_mode_lasttoken", "last"),
    ("pooling_mode_max_tokens", "max"),
    ("pooling_mode_mean_tokens", "mean"),
)


class Settings(BaseModel):
    """Any encoder that runs in ONNX Runtime, without torch."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = "intfloat/multilingual-e5-small"
    """A name on the model hub, or a folder."""
    file: str = ""
    """The graph in it, such as `onnx/model_quantized.onnx`; by default `onnx/model.onnx` or `model.onnx`."""
    pooling: Pooling | None = None
    """How the vectors of tokens become one; by default as the model's files say."""
    query_prefix: str | None = None
    """Text before a question; by default the model's own, if known."""
    passage_prefix: str | None = None
    """Text before a passage; by default the model's own, if known."""
    batch_size: int = Field(default=16, ge=1)
    """Texts encoded together."""
    threads: int | None = Field(default=None, ge=1, le=256)
    """Processors for one batch; by default all."""
    download: bool = True
    """Whether missing files may be downloaded from the model hub."""
    prepare_seconds: float = Field(default=900, gt=0)
    """Time limit of loading the model, with its download."""


class OnnxEmbedder:
    __slots__ = (
        "_batch_size",
        "_count",
        "_model",
        "_output",
        "_pool",
        "_pooling",
        "_prefixes",
        "dimensions",
        "max_tokens",
        "model",
    )

    def __init__(self, files: OnnxFiles, settings: Settings, pool: ThreadPoolExecutor) -> None:
        trained = _trained_prefixes(files)
        self.max_tokens = files.max_tokens or _MAX_TOKENS_WHERE_UNSTATED
        threads = settings.threads or os.cpu_count() or 1
        self._model = OnnxModel(files, max_tokens=self.max_tokens, threads=threads)
        self._prefixes = prefixes_of(trained, query=settings.query_prefix, passage=settings.passage_prefix)
        self._pooling: Pooling = settings.pooling or _stated_pooling(files)
        self._output = _output(self._model, pooled=settings.pooling is None)
        self._batch_size = settings.batch_size
        self._pool = pool
        self._count = lru_cache(_CACHED_COUNTS)(self._model.count)
        chosen = f"+{settings.pooling}" if settings.pooling else ""
        self.model = f"{files.identity()}{chosen}{own_prefix(self._prefixes, trained)}"
        self.dimensions = self._encode(self._encodings(["dimensions"], "query")).shape[1]

    def count_tokens(self, text: str) -> int:
        whole = self._prefixes.passage + well_formed(text)
        return self._count(whole) if len(text) <= _LONGEST_CACHED_TEXT else self._model.count(whole)

    async def embed(self, texts: Sequence[str], *, side: Side) -> Matrix:
        loop = asyncio.get_running_loop()
        rows = np.empty((len(texts), self.dimensions), np.float32)
        with _translate_errors():
            encodings = await loop.run_in_executor(self._pool, self._encodings, texts, side)
            for places in by_length(encodings, self._batch_size):
                batch = [encodings[place] for place in places]
                rows[places] = await loop.run_in_executor(self._pool, self._encode, batch)
        return rows

    def _encodings(self, texts: Sequence[str], side: Side) -> list[Encoding]:
        prefix = self._prefixes.of(side)
        return self._model.encodings([prefix + well_formed(text) for text in texts])

    def _encode(self, batch: Sequence[Encoding]) -> Matrix:
        rows, mask = self._model.run(batch, self._output)
        pooled = rows if rows.ndim == 2 else _pooled(rows, mask, self._pooling)
        if not np.isfinite(pooled).all():
            raise EmbedderUnavailable(
                f"The model {self._model.name} gave vectors that are no numbers.", backend="onnx"
            )
        return unit_rows(pooled)


@asynccontextmanager
async def connect(settings: Settings, *, data_dir: Path) -> AsyncGenerator[OnnxEmbedder]:
    late = EmbedderUnavailable(
        f"The embedding model {settings.model} was not loaded in {settings.prepare_seconds:g} s.",
        backend="onnx",
    )
    load = partial(_load, settings, data_dir)
    async with loaded(load, thread="embedder", seconds=settings.prepare_seconds, late=late) as embedder:
        yield embedder


def _load(settings: Settings, data_dir: Path, pool: ThreadPoolExecutor) -> OnnxEmbedder:
    with _translate_errors():
        files = found(
            settings.model, graph=settings.file, download=settings.download, cache=data_dir / "models"
        )
        return OnnxEmbedder(files, settings, pool)


def _trained_prefixes(files: OnnxFiles) -> Prefixes:
    if known := known_prefixes(files.name):
        return known
    stated = files.value("config_sentence_transformers.json", "prompts")
    own = cast("dict[str, object]", stated) if isinstance(stated, dict) else {}
    passage = own.get("passage") or own.get("document") or ""
    return Prefixes(query=str(own.get("query") or ""), passage=str(passage))


def _stated_pooling(files: OnnxFiles) -> Pooling:
    for key, pooling in _POOLINGS:
        if files.value("1_Pooling/config.json", key) is True:
            return pooling
    return "mean"


def _output(model: OnnxModel, *, pooled: bool) -> str:
    wanted = (*_POOLED, *_TOKENS) if pooled else _TOKENS
    for name in wanted:
        if name in model.outputs:
            return name
    if not pooled or "logits" in model.outputs:
        raise BadSettings(
            f"the model {model.name} has no vectors of tokens ({', '.join(model.outputs)}); choose another model or leave the pooling empty."
        )
    return model.outputs[0]


def _pooled(tokens: Matrix, mask: NDArray[np.int64], pooling: Pooling) -> Matrix:
    if pooling == "cls":
        return tokens[:, 0]
    if pooling == "last":
        return tokens[np.arange(len(tokens)), mask.sum(axis=1) - 1]
    seen = mask[:, :, None].astype(np.float32)
    if pooling == "max":
        return np.where(seen > 0, tokens, -np.inf).max(axis=1)
    return (tokens * seen).sum(axis=1) / np.maximum(seen.sum(axis=1), 1)


@contextmanager
def _translate_errors() -> Generator[None]:
    try:
        yield
    except EmbedderUnavailable:
        raise
    except Unavailable as error:
        raise EmbedderUnavailable(str(error), backend="onnx") from error
