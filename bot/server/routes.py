from __future__ import annotations

import asyncio
import json
import uuid
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

from bot.messages.errors import sentence_of
from bot.server import completions
from bot.server.readers import Reader
from rag_engine.errors import RagError, RateLimited, Unavailable, UnknownKnowledgeBase, UserError
from rag_engine.types import Answer, Delta

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import Receive, Send
    from starlette.types import Scope as ASGIScope

    from bot.access.permissions import Scope
    from bot.composition.components import Application
    from bot.server.completions import CompletionRequest
    from bot.store.api_keys import ApiKeys

_MOST_BYTES: Final = 1 << 20
_BODY_SECONDS: Final = 30.0
_BUSY: Final = "Too many questions are being answered; try again in a moment."
_NO_KEY: Final = "A key is needed: `Authorization: Bearer fn-…`. `footnote keys create` makes one."


@dataclass(frozen=True, slots=True, kw_only=True)
class Completions:
    """Beyond `at_once`, questions are refused."""

    application: Application
    keys: ApiKeys
    at_once: int
    _running: set[str] = field(default_factory=set[str], init=False)

    def routes(self) -> list[Route]:
        return [
            Route("/v1/models", self.models, methods=["GET"]),
            Route("/v1/chat/completions", self.complete, methods=["POST"]),
        ]

    async def models(self, request: Request) -> Response:
        reader = await reader_of(request.headers.get("Authorization", ""), self.keys, self.application)
        if reader is None:
            return _refusal(_NO_KEY, HTTPStatus.UNAUTHORIZED)
        try:
            names = list((await reader.scope()).names_in("en").values())
        except UnknownKnowledgeBase:
            names = []
        return JSONResponse(completions.model_list(names))

    async def complete(self, request: Request) -> Response:
        reader = await reader_of(request.headers.get("Authorization", ""), self.keys, self.application)
        if reader is None:
            return _refusal(_NO_KEY, HTTPStatus.UNAUTHORIZED)
        try:
            asked = completions.completion_request(await _json(request))
            scope = await reader.scope("" if asked.model == completions.ALL else asked.model)
        except RagError as error:
            return _failure(error)
        if len(self._running) >= self.at_once:
            return _refusal(_BUSY, HTTPStatus.TOO_MANY_REQUESTS, code="rate_limit_exceeded")
        identity = f"chatcmpl-{uuid.uuid4().hex}"
        self._running.add(identity)
        if asked.streams:
            streamed = self._streamed(identity, asked, scope, reader)
            return _Streaming(streamed, ended=lambda: self._running.discard(identity))
        try:
            async with aclosing(_events(asked, scope, reader)) as events:
                async for event in events:
                    if isinstance(event, Answer):
                        return JSONResponse(completions.completion(identity, asked.model, event))
            raise RuntimeError("the engine ended a reply without an answer")
        except Exception as error:
            return _failure(error)
        finally:
            self._running.discard(identity)

    async def _streamed(
        self, identity: str, asked: CompletionRequest, scope: Scope, reader: Reader
    ) -> AsyncGenerator[str]:
        """A client that leaves stops the answer."""
        shown = ""
        try:
            yield _event(completions.chunk(identity, asked.model, {"role": "assistant", "content": ""}))
            async with aclosing(_events(asked, scope, reader)) as events:
                async for event in events:
                    if isinstance(event, Delta) and event.text:
                        shown += event.text
                        yield _event(completions.chunk(identity, asked.model, {"content": event.text}))
                    elif isinstance(event, Answer):
                        for chunk in _last_chunks(identity, asked, event, shown):
                            yield _event(chunk)
            yield "data: [DONE]\n\n"
        except Exception as error:
            yield _event(completions.error(sentence_of(error, "en"), kind="server_error"))


class _Streaming(StreamingResponse):
    """`ended` is called even if the client left before the first word."""

    def __init__(self, events: AsyncGenerator[str], *, ended: Callable[[], None]) -> None:
        super().__init__(events, media_type="text/event-stream")
        self._ended = ended

    async def __call__(self, scope: ASGIScope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._ended()


def _events(asked: CompletionRequest, scope: Scope, reader: Reader) -> AsyncGenerator[object]:
    return reader.ask(asked.question, scope=scope, options=asked.options, earlier=asked.earlier)


def _last_chunks(
    identity: str, asked: CompletionRequest, answer: Answer, shown: str
) -> list[dict[str, object]]:
    """What was sent cannot be taken back: an answer changed by its check follows whole."""
    if answer.text.startswith(shown):
        rest = answer.text[len(shown) :]
    elif answer.text.strip() == shown.strip():
        rest = ""
    else:
        rest = f"\n\n---\nChecked against the sources:\n\n{answer.text}"
        moved = len(shown) + len(rest) - len(answer.text)
        answer = replace(answer, text=" " * moved + answer.text)
    text = rest + completions.footer(answer.citations)
    last = completions.chunk(
        identity,
        asked.model,
        {"content": text, "annotations": completions.source_annotations(answer)},
        citations=completions.citations(answer),
        grounded=answer.grounded,
    )
    chunks = [last, completions.chunk(identity, asked.model, {}, finish="stop")]
    return [*chunks, completions.usage_chunk(identity, asked.model, answer)] if asked.wants_usage else chunks


async def reader_of(authorization: str, keys: ApiKeys, application: Application) -> Reader | None:
    """None without a valid key."""
    scheme, _, key = authorization.partition(" ")
    found = await keys.find(key.strip()) if scheme.casefold() == "bearer" and key.strip() else None
    return None if found is None else Reader(application=application, knowledge_bases=found.knowledge_bases)


async def _json(request: Request) -> object:
    body = bytearray()
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            async for block in request.stream():
                body += block
                if len(body) > _MOST_BYTES:
                    raise UserError("The request is larger than 1 MB.")
    except ClientDisconnect as error:
        raise UserError("The request broke off.") from error
    except TimeoutError as error:
        raise UserError("The request took too long to arrive: send it again.") from error
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise UserError("The request is not JSON.") from error


def _failure(error: Exception) -> Response:
    code = "model_not_found" if isinstance(error, UnknownKnowledgeBase) else None
    match error:
        case UnknownKnowledgeBase():
            status = HTTPStatus.NOT_FOUND
        case UserError():
            status = HTTPStatus.BAD_REQUEST
        case RateLimited():
            status = HTTPStatus.TOO_MANY_REQUESTS
        case Unavailable() | asyncio.TimeoutError():
            status = HTTPStatus.SERVICE_UNAVAILABLE
        case RagError():
            status = HTTPStatus.BAD_GATEWAY
        case _:
            status = HTTPStatus.INTERNAL_SERVER_ERROR
    return _refusal(sentence_of(error, "en"), status, code=code)


def _refusal(message: str, status: HTTPStatus, *, code: str | None = None) -> Response:
    kind = "server_error" if status >= HTTPStatus.INTERNAL_SERVER_ERROR else "invalid_request_error"
    return JSONResponse(completions.error(message, kind=kind, code=code), status_code=status)


def _event(chunk: dict[str, object]) -> str:
    return f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n"
