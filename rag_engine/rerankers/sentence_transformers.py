from __future__ import annotations

import asyncio
import importlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, Final, Protocol

from pydantic import BaseModel, ConfigDict, Field

from rag_engine.errors import BadSettings, Unavailable
from rag_engine.retrieval.ranking.rerank_scores import probabilities, reordered
from rag_engine.text.chunk_text import searchable_text

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator, Sequence
    from pathlib import Path

    from rag_engine.ports import Reranker
    from rag_engine.types import Hit

    Scorer = Callable[[list[tuple[str, str]]], list[float]]

_library: Final[Any] = importlib.import_module("sentence_transformers")


class _Predictor(Protocol):
    def predict(
        self, inputs: list[tuple[str, str]], *, batch_size: int, show_progress_bar: bool
    ) -> Sequence[float]: ...


IS_LOCAL = True


class Settings(BaseModel):
    """A cross-encoder of the library sentence-transformers, run by torch."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = "cross-encoder/ms-marco-MiniLM-L6-v2"
    """A name on the model hub, or a path; the default supports English only."""
    max_tokens: int = Field(default=512, ge=8)
    """Maximum tokens of question and passage together; longer pairs are truncated."""
    batch_size: int = Field(default=16, ge=1)
    """Pairs scored together."""


@asynccontextmanager
async def connect(settings: Settings, *, data_dir: Path) -> AsyncGenerator[Reranker]:
    """In one thread: questions do not compete for cores."""
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
        encoder: _Predictor = _library.CrossEncoder(
            settings.model, max_length=settings.max_tokens, cache_folder=str(data_dir / "models")
        )

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
