from __future__ import annotations

import asyncio
import math
from contextlib import asynccontextmanager, contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, cast

import httpx2
from pydantic import BaseModel, ConfigDict, Field, SecretStr

from rag_engine.errors import BadSettings, RagError, RateLimited, Unavailable
from rag_engine.retrieval.ranking.rerank_scores import probabilities, reordered
from rag_engine.text.chunk_text import searchable_text
from rag_engine.text.header_secret import HeaderSecret
from rag_engine.wrappers.retry import Attempts, Backoff

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator, Sequence
    from pathlib import Path

    from rag_engine.ports import Reranker
    from rag_engine.types import Hit

_BACKEND = "reranker"


class Settings(BaseModel):
    """A server with a rerank API as Cohere, Jina and text-embeddings-inference have it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: str
    """Full URL of the endpoint: `https://reranker.example/v1/rerank`."""
    model: str = ""
    """Name of the model, if the server needs one."""
    api_key: HeaderSecret = SecretStr("")
    """API key of the server."""
    instruct: str = ""
    """Instruction for models that take one, sent as `instruct`; if unset, the server's own applies."""
    timeout: float = Field(default=5.0, gt=0)
    """Time limit of one attempt."""
    deadline: float = Field(default=15.0, gt=0)
    """Time limit of all attempts."""
    max_retries: int = Field(default=2, ge=0)
    """Retries of one request."""
    back_off: float = Field(default=0.5, ge=0)
    """Pause before the first retry; doubled each time, with jitter."""
    batch_size: int = Field(default=64, ge=1)
    """Maximum passages per request; servers reject more than their limit."""
    max_characters: int = Field(default=4000, ge=1)
    """Characters sent of each passage."""


@asynccontextmanager
async def connect(settings: Settings, *, data_dir: Path) -> AsyncGenerator[Reranker]:
    key = settings.api_key.get_secret_value()
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with httpx2.AsyncClient(headers=headers, timeout=settings.timeout) as client:
        yield _HttpReranker(client, settings)


class _HttpReranker:
    def __init__(self, client: httpx2.AsyncClient, settings: Settings) -> None:
        self._client = client
        self._settings = settings

    async def rerank(self, query: str, hits: Sequence[Hit], *, limit: int) -> list[Hit]:
        if not hits:
            return []
        size = self._settings.batch_size
        passages = [searchable_text(hit.chunk)[: self._settings.max_characters] for hit in hits]
        scores: list[float] = []
        with _translate_errors():
            async with asyncio.timeout(self._settings.deadline):
                for start in range(0, len(passages), size):
                    scores += await self._score_with_retries(query, passages[start : start + size])
        return reordered(hits, probabilities(scores), limit=limit)

    async def _score_with_retries(self, query: str, passages: Sequence[str]) -> list[float]:
        attempts = Attempts(
            backoff=Backoff(first=self._settings.back_off), most=self._settings.max_retries + 1
        )
        while True:
            try:
                with _translate_errors():
                    return await self._score(query, passages)
            except Unavailable as error:
                await attempts.pause(error, retry_after=error.retry_after)

    async def _score(self, query: str, passages: Sequence[str]) -> list[float]:
        # Batches compare only if every passage has a score.
        body: dict[str, object] = {"query": query, "documents": list(passages), "top_n": len(passages)}
        if self._settings.model:
            body["model"] = self._settings.model
        if instruct := self._settings.instruct.strip():
            body["instruct"] = instruct
        response = await self._client.post(self._settings.url, json=body)
        response.raise_for_status()
        return _scores(response.json(), count=len(passages))


def _scores(body: object, *, count: int) -> list[float]:
    results = cast("dict[str, object]", body).get("results") if isinstance(body, dict) else body
    if not isinstance(results, list):
        raise ValueError("no results")
    scores: dict[int, float] = {}
    for result in cast("list[object]", results):
        fields = cast("dict[str, object]", result) if isinstance(result, dict) else {}
        index, score = fields.get("index"), fields.get("relevance_score", fields.get("score"))
        if not isinstance(index, int) or not isinstance(score, int | float) or not math.isfinite(score):
            raise ValueError("a result without index and score")
        scores[index] = float(score)
    if len(cast("list[object]", results)) != count or sorted(scores) != list(range(count)):
        raise ValueError("not one score for each passage")
    return [scores[index] for index in range(count)]


@contextmanager
def _translate_errors() -> Generator[None]:
    try:
        yield
    except httpx2.HTTPStatusError as error:
        raise _by_status(error.response) from error
    except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
        raise BadSettings(f"the reranker's address cannot be used: {error}.") from error
    except (httpx2.HTTPError, TimeoutError) as error:
        raise Unavailable("The reranker does not answer; try again in a moment.", backend=_BACKEND) from error
    except ValueError as error:
        raise Unavailable(
            f"The reranker answered something that is no ranking: {error}.", backend=_BACKEND
        ) from error


def _by_status(response: httpx2.Response) -> RagError:
    status = response.status_code
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return RateLimited(
            "The reranker asks us to slow down; try again in a moment.",
            backend=_BACKEND,
            retry_after=_seconds(response.headers.get("Retry-After")),
        )
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return Unavailable(f"The reranker fails (HTTP {status}); try again in a moment.", backend=_BACKEND)
    return BadSettings(f"the reranker refuses the call (HTTP {status}): check its address, model and key.")


def _seconds(header: str | None) -> float | None:
    try:
        seconds = float(header or "")
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None
