"""A language model behind any server that speaks OpenAI's chat completions: OpenAI, vLLM, Ollama, LiteLLM, a gateway."""

from __future__ import annotations

import asyncio
import logging
import random
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Literal, cast

import httpx2
import openai
from pydantic import BaseModel, ConfigDict, Field, SecretStr

from rag_engine.models.openai.events import text_pieces
from rag_engine.models.openai.failures import (
    is_retriable,
    retry_after,
    translate_errors,
    unsupported_parameter,
)
from rag_engine.models.openai.windows import context_window

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from openai.types.chat import ChatCompletionMessageParam

    from rag_engine.ports import Embedder, LanguageModel
    from rag_engine.types import Prompt

logger = logging.getLogger(__name__)

_NO_KEY = "none"
"""Sent where no key is set: the library wants one, servers of one's own ignore it."""
_JITTER = random.SystemRandom()
_Parameter = Literal["temperature", "max_tokens", "max_completion_tokens"]


class Settings(BaseModel):
    """Where the model is and how long it may take. Times are in seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = "gpt-4.1-mini"
    api_key: SecretStr = SecretStr("")
    base_url: str = "https://api.openai.com/v1"
    context_tokens: int | None = Field(default=None, ge=512)
    """The model's whole window; known by name for common models, else 8192."""
    temperature: float | None = Field(default=0.2, ge=0, le=2)
    """None: the server's own."""
    connect_seconds: float = Field(default=5, gt=0)
    first_token_seconds: float = Field(default=60, gt=0)
    """From the request to the first sign of the model at work, retries included."""
    between_tokens_seconds: float = Field(default=30, gt=0)
    retries: int = Field(default=2, ge=0, le=10)
    """Of a request that was refused or not answered; never once text has arrived."""
    back_off_seconds: float = Field(default=0.5, ge=0)
    """Before the first retry; doubled each time, with jitter, unless the server names a time."""
    longest_wait_seconds: float = Field(default=15, ge=0)
    """A server that asks for a longer wait is not waited for."""


@asynccontextmanager
async def connect(settings: Settings, *, embedder: Embedder) -> AsyncGenerator[LanguageModel]:
    """A model that holds one connection pool while the context is open. Nothing is sent before the first prompt."""
    silence = max(settings.first_token_seconds, settings.between_tokens_seconds)
    client = openai.AsyncOpenAI(
        api_key=settings.api_key.get_secret_value() or _NO_KEY,
        base_url=settings.base_url,
        timeout=httpx2.Timeout(silence, connect=settings.connect_seconds),
        max_retries=0,
    )
    async with client:
        yield _OpenAIModel(client, settings)


class _OpenAIModel:
    def __init__(self, client: openai.AsyncOpenAI, settings: Settings) -> None:
        self._client = client
        self._settings = settings
        self._refused: set[_Parameter] = set()
        """Parameters that this model turned out not to take."""

    @property
    def name(self) -> str:
        return self._settings.name

    @property
    def context_tokens(self) -> int:
        return self._settings.context_tokens or context_window(self.name)

    @asynccontextmanager
    async def stream(self, prompt: Prompt, *, task: str) -> AsyncGenerator[AsyncIterator[str]]:
        """Entering waits for the first text or reasoning, so that what fails before it can be tried again."""
        async with AsyncExitStack() as connection:
            with translate_errors(self._settings.name):
                async with asyncio.timeout(self._settings.first_token_seconds):
                    first, rest = await self._open(connection, prompt, task)
            async with aclosing(self._continue(first, rest)) as pieces:
                yield pieces

    async def _continue(self, first: str, rest: AsyncIterator[str]) -> AsyncGenerator[str]:
        if first:
            yield first
        with translate_errors(self._settings.name):
            while True:
                async with asyncio.timeout(self._settings.between_tokens_seconds):
                    piece = await anext(rest, None)
                if piece is None:
                    return
                if piece:
                    yield piece

    async def _open(
        self, connection: AsyncExitStack, prompt: Prompt, task: str
    ) -> tuple[str, AsyncIterator[str]]:
        """The first text and what follows, the response entered into `connection`; tried again while that makes sense."""
        attempt = 0
        while True:
            try:
                async with AsyncExitStack() as stack:
                    pieces = await self._request(stack, prompt, task)
                    first = await anext(pieces)
                    connection.push_async_exit(stack.pop_all())
                    return first, pieces
            except openai.BadRequestError as error:
                parameter = unsupported_parameter(error)
                if parameter is None or parameter in self._refused:
                    raise
                self._refused.add(parameter)
            except (openai.APIError, httpx2.TransportError) as error:
                wait = self._wait(error, attempt)
                if wait is None:
                    raise
                logger.warning("The language model failed (%s); trying again.", type(error).__name__)
                await asyncio.sleep(wait)
                attempt += 1

    def _wait(self, error: Exception, attempt: int) -> float | None:
        """Seconds to wait before trying again, or None where that would not help."""
        if attempt >= self._settings.retries or not is_retriable(error):
            return None
        asked = retry_after(error)
        if asked is None:
            return self._settings.back_off_seconds * 2**attempt * _JITTER.uniform(0.5, 1.0)
        return asked if asked <= self._settings.longest_wait_seconds else None

    async def _request(self, stack: AsyncExitStack, prompt: Prompt, task: str) -> AsyncGenerator[str]:
        messages = [{"role": message.role, "content": message.content} for message in prompt.messages]
        response = await stack.enter_async_context(
            self._client.chat.completions.with_streaming_response.create(
                model=self._settings.name,
                messages=cast("list[ChatCompletionMessageParam]", messages),
                stream=True,
                extra_body=self._parameters(prompt),
                extra_headers={"X-Footnote-Task": task},
            )
        )
        kind = response.headers.get("content-type", "")
        return await stack.enter_async_context(
            aclosing(text_pieces(response.iter_bytes(), content_type=kind))
        )

    def _parameters(self, prompt: Prompt) -> dict[str, object]:
        parameters: dict[str, object] = {}
        if self._settings.temperature is not None and "temperature" not in self._refused:
            parameters["temperature"] = self._settings.temperature
        # Newer models of OpenAI take the second name only, other servers the first only.
        limit = "max_completion_tokens" if "max_tokens" in self._refused else "max_tokens"
        if prompt.reply_tokens > 0 and limit not in self._refused:
            parameters[limit] = prompt.reply_tokens
        return parameters
