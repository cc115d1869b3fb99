"""A cross-encoder run in this process by the library sentence-transformers: any model by name or path."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Protocol, cast

from pydantic import BaseModel, ConfigDict, Field
from sentence_transformers import CrossEncoder

from rag_engine.errors import BadSettings, Unavailable
from rag_engine.reranking import probabilities, reordered
from rag_engine.searchable import searchable_text

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator, Sequence
    from pathlib import Path

    from rag_engine.ports import Reranker
    from rag_engine.types import Hit

    Scorer = Callable[[list[tuple[str, str]]], list[float]]


class _Predictor(Protocol):
    """What is used of `CrossEncoder`, whose own signature is not fully typed."""

    def predict(
        self, inputs: list[tuple[str, str]], *, batch_size: int, show_progress_bar: bool
    ) -> Sequence[float]: ...


class Settings(BaseModel):
    """`model` is a name of the model hub or a path; the default reads English only."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = "cross-encoder/ms-marco-MiniLM-L6-v2"
    max_tokens: int = Field(default=512, ge=8)
    """Of question and passage together; the model cuts what is longer."""
    batch_size: int = Field(default=16, ge=1)


@asynccontextmanager
async def connect(settings: Settings, *, data_dir: Path) -> AsyncGenerator[Reranker]:
    """Load the model off the event loop; one thread scores, so that questions queue instead of fighting for cores."""
    with ThreadPoolExecutor(1, thread_name_prefix="reranker") as pool:
        loop = asyncio.get_running_loop()
        scorer = await loop.run_in_executor(pool, _load, settings, data_dir)
        yield _CrossEncoderReranker(scorer, pool)


class _CrossEncoderReranker:
    def __init__(self, scorer: Scorer, pool: ThreadPoolExecutor) -> None:
        self._scorer = scorer
        self._pool = pool

    async def rerank(self, query: str, hits: Sequence[Hit], *, limit: int) -> list[Hit]:
        if not hits:
            return []
        pairs = [(query, searchable_text(hit.chunk)) for hit in hits]
        loop = asyncio.get_running_loop()
        scores = await loop.run_in_executor(self._pool, self._scorer, pairs)
        return reordered(hits, probabilities(scores), limit=limit)


def _load(settings: Settings, data_dir: Path) -> Scorer:
    with _translate_errors(settings.model):
        loaded = CrossEncoder(
            settings.model, max_length=settings.max_tokens, cache_folder=str(data_dir / "models")
        )
    encoder = cast("_Predictor", loaded)

    def score(pairs: list[tuple[str, str]]) -> list[float]:
        with _translate_errors(settings.model):
            scores = encoder.predict(pairs, batch_size=settings.batch_size, show_progress_bar=False)
        return [float(value) for value in scores]

    return score


@contextmanager
def _translate_errors(model: str) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise BadSettings(f"the reranking model {model!r} cannot be loaded: {_first_line(error)}") from error
    except (RuntimeError, ValueError, TypeError) as error:
        raise Unavailable(f"The reranking model failed: {_first_line(error)}", backend="reranker") from error


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
