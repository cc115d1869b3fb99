"""Any server with OpenAI's chat API: OpenAI, vLLM, Ollama, LiteLLM, a gateway."""

from __future__ import annotations

import asyncio
import logging
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from typing import TYPE_CHECKING, cast

import httpx2
import openai
from pydantic import BaseModel, ConfigDict, Field, SecretStr

from rag_engine.models.openai.context_windows import DEFAULT_WINDOW, context_window, is_known
from rag_engine.models.openai.errors import is_retriable, retry_after, translate_errors, unsupported_parameter
from rag_engine.models.openai.event_stream import text_pieces
from rag_engine.models.openai.server_window import ServerWindow
from rag_engine.models.openai.tool_calls import chat_messages, tool_specs
from rag_engine.text.header_secret import HeaderSecret
from rag_engine.wrappers.retry import Attempts, Backoff

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from openai.types.chat import ChatCompletionMessageParam

    from rag_engine.models.openai.errors import OptionalParameter
    from rag_engine.ports import Embedder, LanguageModel
    from rag_engine.types import Prompt

logger = logging.getLogger(__name__)

_NO_KEY = "none"
_ASSUMED = "The context window of %s is unknown, so %d tokens are assumed: set FOOTNOTE_MODEL__CONTEXT_TOKENS to the real one."


class Settings(BaseModel):
    """A server with the OpenAI chat API."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = "gpt-4.1-mini"
    """Name of the model."""
    api_key: HeaderSecret = SecretStr("")
    """API key of the server."""
    base_url: str = "https://api.openai.com/v1"
    """URL of the server."""
    context_tokens: int | None = Field(default=None, ge=512)
    """Context window in tokens, prompt and reply. If unset: what the server states, else the known window of a common
    model, else 8192. Ollama does not state `OLLAMA_CONTEXT_LENGTH`.
    """
    temperature: float | None = Field(default=0.2, ge=0, le=2)
    """Sampling temperature; left out for models that reject it."""
    tool_calls: bool = True
    """Whether the server takes tools; otherwise, and if it rejects them, calls are JSON in a reply."""
    connect_seconds: float = Field(default=5, gt=0)
    """Time limit for connecting."""
    first_token_seconds: float = Field(default=60, gt=0)
    """Time limit from the request to the first text or reasoning, retries included."""
    between_tokens_seconds: float = Field(default=30, gt=0)
    """Longest pause within a reply."""
    retries: int = Field(default=2, ge=0, le=10)
    """Retries of a request that failed; none after the first text."""
    back_off_seconds: float = Field(default=0.5, ge=0)
    """Pause before the first retry; doubled each time, with jitter; at least as long as the server asks."""
    longest_wait_seconds: float = Field(default=15, ge=0)
    """If the server asks for a longer pause, the request is not retried."""


@asynccontextmanager
async def connect(settings: Settings, *, embedder: Embedder) -> AsyncGenerator[LanguageModel]:
    """Without `context_tokens` it asks the server, in the background."""
    silence = max(settings.first_token_seconds, settings.between_tokens_seconds)
    key = settings.api_key.get_secret_value() or _NO_KEY
    timeout = httpx2.Timeout(silence, connect=settings.connect_seconds)
    http = openai.DefaultAsyncHttpxClient(timeout=timeout)
    client = openai.AsyncOpenAI(
        api_key=key, base_url=settings.base_url, timeout=timeout, max_retries=0, http_client=http
    )
    async with client:
        window = ServerWindow(http, settings.name, base_url=settings.base_url, api_key=key)
        model = _OpenAIModel(client, settings, window)
        try:
            model.ask_for_window()
            yield model
        finally:
            await model.close()


class _OpenAIModel:
    def __init__(self, client: openai.AsyncOpenAI, settings: Settings, window: ServerWindow) -> None:
        self._client = client
        self._settings = settings
        self._refused: set[OptionalParameter] = set()
        """Parameters that the model rejected."""
        self._window = window
        self._said_that_it_is_assumed = False

    @property
    def name(self) -> str:
        return self._settings.name

    @property
    def context_tokens(self) -> int:
        return self._settings.context_tokens or self._window.tokens or context_window(self.name)

    @property
    def window_is_assumed(self) -> bool:
        stated = self._settings.context_tokens or self._window.tokens
        return stated is None and not is_known(self.name)

    def ask_for_window(self) -> None:
        if self._settings.context_tokens is None:
            self._window.ask(otherwise=self._say_that_it_is_assumed)

    def _say_that_it_is_assumed(self) -> None:
        if self.window_is_assumed and not self._said_that_it_is_assumed:
            self._said_that_it_is_assumed = True
            logger.info(_ASSUMED, self.name, DEFAULT_WINDOW)

    async def close(self) -> None:
        await self._window.close()

    @asynccontextmanager
    async def stream(self, prompt: Prompt, *, task: str) -> AsyncGenerator[AsyncIterator[str]]:
        """Entering waits for the first text or reasoning: earlier failures can be retried."""
        self.ask_for_window()
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
        attempts = Attempts(
            backoff=Backoff(first=self._settings.back_off_seconds),
            most=self._settings.retries + 1,
            longest_retry_after=self._settings.longest_wait_seconds,
        )
        while True:
            try:
                async with AsyncExitStack() as stack:
                    pieces = await self._request(stack, prompt, task)
                    first = await anext(pieces)
                    connection.push_async_exit(stack.pop_all())
                    return first, pieces
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                parameter = unsupported_parameter(error)
                if parameter is None or parameter in self._refused:
                    raise
                self._refused.add(parameter)
            except (openai.APIError, httpx2.TransportError) as error:
                if not is_retriable(error):
                    raise
                await attempts.pause(error, retry_after=retry_after(error))
                logger.warning("The language model failed (%s); trying again.", type(error).__name__)

    async def _request(self, stack: AsyncExitStack, prompt: Prompt, task: str) -> AsyncGenerator[str]:
        messages = [{"role": message.role, "content": message.content} for message in prompt.messages]
        if prompt.tool_request is not None and self._takes_tools:
            messages = chat_messages(prompt.tool_request)
        response = await stack.enter_async_context(
            self._client.chat.completions.with_streaming_response.create(
                model=self._settings.name,
                messages=cast("list[ChatCompletionMessageParam]", messages),
                stream="stream" not in self._refused,
                extra_body=self._parameters(prompt),
                extra_headers={"X-Footnote-Task": task},
            )
        )
        kind = response.headers.get("content-type", "")
        return await stack.enter_async_context(
            aclosing(text_pieces(response.iter_bytes(), content_type=kind))
        )

    @property
    def _takes_tools(self) -> bool:
        return self._settings.tool_calls and "tools" not in self._refused

    def _parameters(self, prompt: Prompt) -> dict[str, object]:
        parameters: dict[str, object] = {}
        chosen = prompt.temperature
        temperature = self._settings.temperature if chosen is None else chosen
        if temperature is not None and "temperature" not in self._refused:
            parameters["temperature"] = temperature
        # Newer OpenAI models accept only the second name, others the first.
        limit = "max_completion_tokens" if "max_tokens" in self._refused else "max_tokens"
        if prompt.reply_tokens > 0 and limit not in self._refused:
            parameters[limit] = prompt.reply_tokens
        if prompt.reply_schema is not None and "response_format" not in self._refused:
            schema = {"name": "reply", "schema": dict(prompt.reply_schema)}
            parameters["response_format"] = {"type": "json_schema", "json_schema": schema}
        if prompt.tool_request is not None and self._takes_tools:
            parameters["tools"] = tool_specs(prompt.tool_request)
        return parameters
