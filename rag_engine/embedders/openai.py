from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

import numpy as np
import openai
from pydantic import BaseModel, ConfigDict, Field, SecretStr

from rag_engine.embedders._vectors import (
    Prefixes,
    known_prefixes,
    own_prefix,
    prefixes_of,
    unit_rows,
    well_formed,
)
from rag_engine.errors import BadSettings, EmbedderUnavailable, RateLimited, Unavailable, first_error
from rag_engine.text import tokens
from rag_engine.text.header_secret import HeaderSecret
from rag_engine.wrappers.retry import Attempts, Backoff

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator, Iterator, Sequence
    from pathlib import Path

    from openai.types import CreateEmbeddingResponse

    from rag_engine.errors import RagError
    from rag_engine.types import Matrix, Side

_BACKEND: Final = "embedding server"
_NO_KEY: Final = "none"
_CACHED_COUNTS: Final = 20_000
_LONGEST_CACHED_TEXT: Final = 1_000
_TEXT_FOR_EMPTY: Final = " "
"""Servers reject an empty text."""
_PASSING_STATUSES: Final = frozenset({408, 409, 425, 429})
_MATRIX: Final = 2
_NO_CREDIT: Final = "insufficient_quota"
"""A 429 that retries cannot fix."""


class Settings(BaseModel):
    """A server with the OpenAI embeddings API."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = "text-embedding-3-small"
    """Name of the model."""
    api_key: HeaderSecret = SecretStr("")
    """API key of the server."""
    base_url: str = "https://api.openai.com/v1"
    """URL of the server."""
    dimensions: int | None = Field(default=None, ge=1)
    """Length of a vector, for models that can shorten vectors; by default detected when connecting."""
    max_tokens: int = Field(default=8191, ge=16)
    """Tokens sent of each text, counted with OpenAI's tokenizer: leave a margin for other models."""
    query_prefix: str | None = None
    """Text before a question; by default the model's own, if known."""
    passage_prefix: str | None = None
    """Text before a passage; by default the model's own, if known."""
    batch_texts: int = Field(default=256, ge=1, le=2048)
    """Maximum texts per request."""
    batch_tokens: int = Field(default=100_000, ge=16)
    """Maximum tokens per request."""
    concurrency: int = Field(default=4, ge=1)
    """Parallel requests per call."""
    timeout: float = Field(default=30.0, gt=0)
    """Time limit of one attempt."""
    deadline: float = Field(default=120.0, gt=0)
    """Time limit of all attempts."""
    max_retries: int = Field(default=3, ge=0)
    """Retries of one request."""
    back_off: float = Field(default=0.5, ge=0)
    """Pause before the first retry; doubled each time, with jitter."""


class OpenAIEmbedder:
    """Raises `EmbedderUnavailable` while the server is down."""

    __slots__ = ("_prefixes", "_server", "_settings", "_short_count", "dimensions", "max_tokens", "model")

    def __init__(
        self, server: _Server, settings: Settings, *, prefixes: Prefixes, model: str, dimensions: int
    ) -> None:
        self.model = model
        self.dimensions = dimensions
        self.max_tokens = settings.max_tokens
        self._server = server
        self._settings = settings
        self._prefixes = prefixes
        self._short_count = lru_cache(_CACHED_COUNTS)(tokens.count)

    def count_tokens(self, text: str) -> int:
        return self._count(self._prefixes.passage + well_formed(text))

    async def embed(self, texts: Sequence[str], *, side: Side) -> Matrix:
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        inputs, sizes = await asyncio.to_thread(self._prepared, texts, self._prefixes.of(side))
        # Questions do not queue behind files.
        bound = asyncio.Semaphore(self._settings.concurrency)

        async def request(batch: Sequence[str]) -> Matrix:
            async with bound:
                return await self._server.embed(batch)

        with first_error():
            async with asyncio.TaskGroup() as group:
                requests = [
                    group.create_task(request(batch), name="embed-batch")
                    for batch in self._batches(inputs, sizes)
                ]
        rows = np.concatenate([request.result() for request in requests])
        if rows.shape[1] != self.dimensions:
            raise BadSettings(
                f"The embedding server sends {rows.shape[1]} dimensions and not {self.dimensions}:"
                f" check that it runs {self._settings.model} and can shorten its vectors."
            )
        return rows

    def _count(self, text: str) -> int:
        return self._short_count(text) if len(text) <= _LONGEST_CACHED_TEXT else tokens.count(text)

    def _prepared(self, texts: Sequence[str], prefix: str) -> tuple[list[str], list[int]]:
        inputs: list[str] = []
        sizes: list[int] = []
        for text in texts:
            whole = (prefix + well_formed(text)) or _TEXT_FOR_EMPTY
            size = self._count(whole)
            if size > self.max_tokens:
                whole, size = tokens.cut(whole, self.max_tokens), self.max_tokens
            inputs.append(whole)
            sizes.append(size)
        return inputs, sizes

    def _batches(self, inputs: Sequence[str], sizes: Sequence[int]) -> Iterator[list[str]]:
        batch: list[str] = []
        total = 0
        for text, size in zip(inputs, sizes, strict=True):
            full = len(batch) == self._settings.batch_texts or total + size > self._settings.batch_tokens
            if batch and full:
                yield batch
                batch, total = [], 0
            batch.append(text)
            total += size
        yield batch


class _Server:
    __slots__ = ("_client", "_settings")

    def __init__(self, client: openai.AsyncOpenAI, settings: Settings) -> None:
        self._client = client
        self._settings = settings

    async def embed(self, batch: Sequence[str]) -> Matrix:
        """Unit rows. Raises the last error when retries or time run out."""
        settings = self._settings
        attempts = Attempts(
            backoff=Backoff(first=settings.back_off),
            most=settings.max_retries + 1,
            seconds=settings.deadline,
        )
        while True:
            try:
                return await self._once(batch, min(settings.timeout, attempts.seconds_left))
            except Unavailable as error:
                if not _may_pass(error):
                    raise
                await attempts.pause(error, retry_after=error.retry_after)

    async def _once(self, batch: Sequence[str], seconds: float) -> Matrix:
        settings = self._settings
        with _translate_errors(settings.model):
            async with asyncio.timeout(seconds):
                response = await self._client.embeddings.create(
                    model=settings.model, input=list(batch), dimensions=settings.dimensions or openai.omit
                )
            return _rows(response, len(batch))


@asynccontextmanager
async def connect(settings: Settings, *, data_dir: Path) -> AsyncGenerator[OpenAIEmbedder]:
    """Without `dimensions` it asks the server."""
    trained = known_prefixes(settings.model) or Prefixes()
    prefixes = prefixes_of(trained, query=settings.query_prefix, passage=settings.passage_prefix)
    await asyncio.to_thread(tokens.prepare)
    async with openai.AsyncOpenAI(
        api_key=settings.api_key.get_secret_value() or _NO_KEY,
        base_url=settings.base_url,
        timeout=settings.timeout,
        max_retries=0,
    ) as client:
        server = _Server(client, settings)
        dimensions = settings.dimensions or (await server.embed(["dimensions"])).shape[1]
        yield OpenAIEmbedder(
            server,
            settings,
            prefixes=prefixes,
            model=_identity(settings, prefixes, trained),
            dimensions=dimensions,
        )


def _identity(settings: Settings, prefixes: Prefixes, trained: Prefixes) -> str:
    shortened = f"-{settings.dimensions}" if settings.dimensions else ""
    return f"{settings.model}@server{shortened}{own_prefix(prefixes, trained)}"


def _rows(response: CreateEmbeddingResponse, count: int) -> Matrix:
    by_place = {item.index: item.embedding for item in response.data}
    rows = np.array([by_place[place] for place in range(count)], np.float32)
    if (
        rows.ndim != _MATRIX
        or len(by_place) != count
        or not np.isfinite(rows).all()
        or not rows.any(axis=1).all()
    ):
        raise ValueError("vectors are missing, or are no numbers")
    return unit_rows(rows)


@contextmanager
def _translate_errors(model: str) -> Generator[None]:
    try:
        yield
    except (TimeoutError, openai.APITimeoutError) as error:
        raise EmbedderUnavailable(
            "The embedding server did not answer in time; try again in a moment.", backend=_BACKEND
        ) from error
    except openai.APIConnectionError as error:
        raise EmbedderUnavailable(
            "The embedding server cannot be reached; try again in a moment.", backend=_BACKEND
        ) from error
    except openai.APIStatusError as error:
        raise _refusal(error, model) from error
    except (openai.OpenAIError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise EmbedderUnavailable(
            f"The embedding server sent an answer that makes no sense ({_first_line(error)}); check its address.",
            backend=_BACKEND,
        ) from error


def _refusal(error: openai.APIStatusError, model: str) -> RagError:
    status, said = error.status_code, _first_line(error)
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return BadSettings("The embedding server does not accept the API key; check the embedder's api_key.")
    if status == HTTPStatus.NOT_FOUND:
        return BadSettings(
            f"The embedding server does not know {model}; check the embedder's model and base_url."
        )
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return RateLimited(
            "The embedding server asks us to slow down; try again in a moment.",
            backend=_BACKEND,
            retry_after=_retry_after(error.response.headers.get("retry-after", "")),
        )
    return EmbedderUnavailable(f"The embedding server refused ({status}): {said}", backend=_BACKEND)


def _may_pass(error: Unavailable) -> bool:
    cause = error.__cause__
    if not isinstance(cause, openai.APIStatusError):
        return True
    if cause.code == _NO_CREDIT:
        return False
    return cause.status_code in _PASSING_STATUSES or cause.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR


def _retry_after(value: str) -> float | None:
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0].rstrip(".")[:200] or type(error).__name__
