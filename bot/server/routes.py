from __future__ import annotations

import json
import uuid
from contextlib import ExitStack, aclosing
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

from bot.messages.errors import sentence_of
from bot.resilience.client_requests import body_of, while_connected
from bot.server import completions, key_guard
from bot.server.readers import Reader
from bot.server.refusals import NO_KEY, failure, refusal
from rag_engine.errors import RagError, UnknownKnowledgeBase, UserError
from rag_engine.types import Answer, Delta

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import Receive, Send
    from starlette.types import Scope as ASGIScope

    from bot.access.permissions import Scope
    from bot.composition.components import Application
    from bot.server.answer_slots import AnswerSlots
    from bot.server.completions import CompletionRequest
    from bot.store.api_keys import ApiKeys


@dataclass(frozen=True, slots=True, kw_only=True)
class Completions:
    application: Application
    keys: ApiKeys
    slots: AnswerSlots

    def routes(self) -> list[Route]:
        return [
            Route("/v1/models", self.models, methods=["GET"]),
            Route("/v1/chat/completions", self.complete, methods=["POST"]),
        ]

    async def models(self, request: Request) -> Response:
        reader = await reader_of(request.headers.get("Authorization", ""), self.keys, self.application)
        if reader is None:
            return refusal(NO_KEY, HTTPStatus.UNAUTHORIZED)
        try:
            names = list((await reader.scope()).names_in("en").values())
        except UnknownKnowledgeBase:
            names = []
        return JSONResponse(completions.model_list(names))

    async def complete(self, request: Request) -> Response:
        reader = await reader_of(request.headers.get("Authorization", ""), self.keys, self.application)
        if reader is None:
            return refusal(NO_KEY, HTTPStatus.UNAUTHORIZED)
        try:
            asked = completions.completion_request(await _json(request))
            scope = await reader.scope("" if asked.model == completions.ALL else asked.model)
        except RagError as error:
            return failure(error)
        identity = f"chatcmpl-{uuid.uuid4().hex}"
        with ExitStack() as stack:
            try:
                stack.enter_context(self.slots.taken())
                if asked.streams:
                    streamed = self._streamed(identity, asked, scope, reader)
                    return _Streaming(streamed, ended=stack.pop_all().close)
                answer = await while_connected(request, _answer(asked, scope, reader))
            except Exception as error:
                return failure(error)
            return JSONResponse(completions.completion(identity, asked.model, answer))

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


async def _answer(asked: CompletionRequest, scope: Scope, reader: Reader) -> Answer:
    async with aclosing(_events(asked, scope, reader)) as events:
        async for event in events:
            if isinstance(event, Answer):
                return event
    raise RuntimeError("the engine ended a reply without an answer")


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
    body = await body_of(request, most_bytes=key_guard.MOST_BYTES, seconds=key_guard.BODY_SECONDS)
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise UserError("The request is not JSON.") from error


def _event(chunk: dict[str, object]) -> str:
    return f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n"
