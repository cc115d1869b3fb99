"""The OpenAI-compatible model against a real loopback server with every fault of real servers."""

from __future__ import annotations

import asyncio
import json
import logging
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import ContentFiltered, ContextTooLong, ModelUnavailable, RagError, RateLimited
from rag_engine.models import openai
from tests.doubles.model_servers.openai_server import (
    CUT,
    DONE,
    JSON,
    OpenAIServer,
    Reply,
    chunk,
    refused,
    serve,
    streamed,
    whole,
)
from tests.unit.models.served import PROMPT, connected, said

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from rag_engine.ports import LanguageModel


@pytest.fixture
async def server() -> AsyncGenerator[OpenAIServer]:
    async with serve() as double:
        yield double


@pytest.fixture
async def model(server: OpenAIServer, tmp_path: Path) -> AsyncGenerator[LanguageModel]:
    async with connected(server, tmp_path) as model:
        yield model


async def test_a_prompt_may_set_the_temperature(server: OpenAIServer, model: LanguageModel) -> None:
    async with model.stream(replace(PROMPT, temperature=0.0), task="answer") as pieces:
        assert [piece async for piece in pieces]
    assert server.requests[0].body["temperature"] == 0


async def test_what_is_sent(server: OpenAIServer, model: LanguageModel) -> None:
    await said(model, task="refine")
    request = server.requests[0]
    assert request.path == "/v1/chat/completions"
    assert request.task == "refine"
    assert request.headers["authorization"] == "Bearer sk-secret"
    assert request.body == {
        "model": "double",
        "messages": [{"role": "user", "content": "How long?"}],
        "stream": True,
        "temperature": 0.2,
        "max_tokens": 77,
    }


WEEKS = [chunk({"content": "Vier "}), chunk({"content": "Wochen – 四周 🙂"}), chunk(finish="stop"), DONE]


STREAMS = {
    "plain": WEEKS,
    "carriage returns": [part.replace(b"\n", b"\r\n") for part in WEEKS],
    "split anywhere": [bytes([byte]) for byte in b"".join(WEEKS)],
    "all in one packet": [b"".join(WEEKS)],
    "comments": [b": ping\n\n", WEEKS[0], b":\n\n", *WEEKS[1:]],
    "other fields": [b"event: message\nid: 7\n" + WEEKS[0], *WEEKS[1:]],
    "no blank lines": [part.replace(b"\n\n", b"\n") for part in WEEKS],
    "no space after the colon": [part.replace(b"data: ", b"data:") for part in WEEKS],
    "no [DONE]": WEEKS[:-1],
    "no finish reason": [*WEEKS[:2], DONE],
    "no newline at the end": [*WEEKS[:-1], b"data: [DONE]"],
    "broken lines": [b"data: {broken\n\n", b"data: 17\n\n", b"junk\n\n", *WEEKS],
    "empty choices": [chunk(choices=[]), WEEKS[0], chunk(choices=None), *WEEKS[1:]],
    "role only": [chunk({"role": "assistant"}), chunk({"content": None}), *WEEKS],
    "reasoning": [chunk({"reasoning_content": "Hm"}), chunk({"reasoning": "so", "content": ""}), *WEEKS],
    "parts": [chunk({"content": [{"type": "thinking", "thinking": "x"}, {"type": "text", "text": "Vier "}]}), *WEEKS[1:]],
    "usage at the end": [*WEEKS[:3], chunk(choices=[]), DONE],
}  # fmt: skip


@pytest.mark.parametrize("parts", STREAMS.values(), ids=STREAMS.keys())
async def test_every_way_a_stream_is_written(
    server: OpenAIServer, model: LanguageModel, parts: list[bytes]
) -> None:
    server.on(Reply(parts=parts))
    pieces: list[str] = []
    assert await said(model, into=pieces) == "Vier Wochen – 四周 🙂"
    assert all(pieces)


async def test_a_server_that_does_not_stream_is_understood(
    server: OpenAIServer, model: LanguageModel
) -> None:
    server.on(whole("Four weeks."))
    assert await said(model) == "Four weeks."


NONSENSE = {
    "a web page": Reply(parts=[b"<html>Sign in</html>"], headers={"Content-Type": "text/html; charset=utf-8"}),
    "broken JSON": Reply(parts=[b'{"choices": [{'], headers=JSON),
    "JSON that is no completion": Reply(parts=[b'{"hello": 1}'], headers=JSON),
    "a list": Reply(parts=[b"[]"], headers=JSON),
    "nothing": Reply(parts=[]),
    "only [DONE]": Reply(parts=[DONE]),
    "no text": Reply(parts=[chunk({"role": "assistant"}), chunk(finish="stop"), DONE]),
    "white space": streamed(" ", "\n"),
    "the reply used up": Reply(parts=[chunk({"reasoning_content": "hm"}), chunk(finish="length"), DONE]),
    "plain text": Reply(parts=[b"I am fine, thanks"], headers={"Content-Type": "text/plain"}),
    "an endless line": Reply(parts=[b"data: " + b"x" * 1_000_000] * 5),
    "an error in the stream": Reply(parts=[b'data: {"error": {"message": "boom", "type": "server_error"}}\n\n']),
}  # fmt: skip


@pytest.mark.parametrize("reply", NONSENSE.values(), ids=NONSENSE.keys())
async def test_nonsense_is_one_plain_sentence(
    server: OpenAIServer, model: LanguageModel, reply: Reply
) -> None:
    server.on(reply)
    with pytest.raises(ModelUnavailable) as raised:
        await said(model)
    assert str(raised.value).endswith(".")
    assert "Traceback" not in str(raised.value)


async def test_a_web_page_names_the_setting(server: OpenAIServer, model: LanguageModel) -> None:
    server.on(NONSENSE["a web page"])
    with pytest.raises(ModelUnavailable, match="OPENAI_BASE_URL"):
        await said(model)


@pytest.mark.parametrize(
    ("reply", "error", "names"),
    [
        (refused(401, code="invalid_api_key"), ModelUnavailable, "OPENAI_API_KEY"),
        (refused(403), ModelUnavailable, "OPENAI_API_KEY"),
        (refused(404, code="model_not_found"), ModelUnavailable, "FOOTNOTE_MODEL__NAME"),
        (refused(400, message="bad shape"), ModelUnavailable, "status 400"),
        (refused(400, code="context_length_exceeded"), ContextTooLong, "too long"),
        (refused(400, message="This model's maximum context length is 8192 tokens"), ContextTooLong, "too long"),
        (refused(413), ContextTooLong, "too long"),
        (refused(400, code="content_filter"), ContentFiltered, "filter"),
        (refused(429, code="insufficient_quota"), ModelUnavailable, "billing"),
        (refused(402), ModelUnavailable, "billing"),
    ],
)  # fmt: skip
async def test_refusals_are_distinguished_and_not_tried_again(
    server: OpenAIServer, model: LanguageModel, reply: Reply, error: type[RagError], names: str
) -> None:
    server.on(reply)
    with pytest.raises(error, match=names) as raised:
        await said(model)
    assert type(raised.value) is error
    assert raised.value.__cause__ is not None
    assert "sk-secret" not in str(raised.value)
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [429, 500, 502, 503])
async def test_a_passing_failure_is_tried_again(
    server: OpenAIServer, model: LanguageModel, status: int
) -> None:
    server.on(refused(status), times=2)
    server.on(streamed("Four weeks."))
    assert await said(model) == "Four weeks."
    assert len(server.requests) == 3


async def test_tries_are_bounded(server: OpenAIServer, model: LanguageModel) -> None:
    server.on(refused(503))
    with pytest.raises(ModelUnavailable, match="out of order"):
        await said(model)
    assert len(server.requests) == 3


async def test_the_server_is_waited_for_as_long_as_it_asks(server: OpenAIServer, tmp_path: Path) -> None:
    server.on(refused(429, headers={"Retry-After": "0.2"}), times=1)
    async with connected(server, tmp_path) as model:
        loop = asyncio.get_running_loop()
        started = loop.time()
        assert await said(model) == "Hello."
        assert loop.time() - started >= 0.2


async def test_a_wait_too_long_is_reported_instead(server: OpenAIServer, model: LanguageModel) -> None:
    server.on(refused(429, headers={"Retry-After": "60"}))
    with pytest.raises(RateLimited) as raised:
        await said(model)
    assert raised.value.retry_after == 60
    assert len(server.requests) == 1


@pytest.mark.parametrize("cut", [[CUT], []], ids=["aborted", "ended"])
async def test_a_stream_cut_in_the_middle_keeps_what_came_and_is_not_repeated(
    server: OpenAIServer, model: LanguageModel, cut: list[str]
) -> None:
    server.on(Reply(parts=[chunk({"content": "Four "}), chunk({"content": "weeks"}), *cut]))
    pieces: list[str] = []
    with pytest.raises(ModelUnavailable):
        await said(model, into=pieces)
    assert "".join(pieces) == "Four weeks"
    assert len(server.requests) == 1


async def test_a_connection_cut_before_the_first_text_is_tried_again(
    server: OpenAIServer, model: LanguageModel
) -> None:
    server.on(Reply(parts=[CUT]), times=1)
    server.on(streamed("Four weeks."))
    assert await said(model) == "Four weeks."


async def test_a_filter_that_strikes_in_the_middle(server: OpenAIServer, model: LanguageModel) -> None:
    server.on(streamed("Four ", finish="content_filter"))
    pieces: list[str] = []
    with pytest.raises(ContentFiltered):
        await said(model, into=pieces)
    assert pieces == ["Four "]


async def test_an_error_in_the_middle_of_a_stream_is_distinguished(
    server: OpenAIServer, model: LanguageModel
) -> None:
    failure = {"error": {"code": "context_length_exceeded", "message": "too big"}}
    server.on(Reply(parts=[chunk({"content": "Four "}), f"data: {json.dumps(failure)}\n\n".encode()]))
    with pytest.raises(ContextTooLong):
        await said(model)


async def test_silence_before_the_first_text_ends(server: OpenAIServer, tmp_path: Path) -> None:
    server.on(Reply(parts=[b": queued\n\n", asyncio.Event()]))
    async with connected(server, tmp_path, first_token_seconds=0.5) as model:
        with pytest.raises(ModelUnavailable, match="too long"):
            await said(model)
        async with asyncio.timeout(5):
            await server.requests[0].disconnected.wait()


async def test_a_stall_in_the_middle_ends_and_comments_are_no_sign_of_life(
    server: OpenAIServer, tmp_path: Path
) -> None:
    server.on(Reply(parts=[chunk({"content": "Four "}), b": ping\n\n", b": ping\n\n", asyncio.Event()]))
    pieces: list[str] = []
    async with connected(server, tmp_path, between_tokens_seconds=0.1) as model:
        with pytest.raises(ModelUnavailable, match="too long"):
            await said(model, into=pieces)
        async with asyncio.timeout(5):
            await server.requests[0].disconnected.wait()
    assert pieces == ["Four "]


async def test_leaving_closes_the_connection_at_once(server: OpenAIServer, model: LanguageModel) -> None:
    server.on(Reply(parts=[chunk({"content": "Four "}), asyncio.Event()]))
    async with asyncio.timeout(5), model.stream(PROMPT, task="answer") as pieces:
        assert await anext(pieces) == "Four "
    async with asyncio.timeout(5):
        await server.requests[0].disconnected.wait()


@pytest.mark.parametrize("parts", [[asyncio.Event()], [chunk({"content": "Four "}), asyncio.Event()]])
async def test_cancelling_the_asker_closes_the_connection_at_once(
    server: OpenAIServer, model: LanguageModel, parts: list[bytes | asyncio.Event]
) -> None:
    server.on(Reply(parts=parts))
    task = asyncio.create_task(said(model))
    async with asyncio.timeout(5):
        request = await server.arrival()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with asyncio.timeout(5):
        await request.disconnected.wait()


@pytest.mark.parametrize(
    ("refusal", "gone"),
    [
        (refused(400, code="unsupported_value", param="temperature", message="Unsupported value"), "temperature"),
        (refused(400, code="unsupported_parameter", param="max_tokens", message="Unsupported parameter"), "max_tokens"),
        (refused(400, message="'max_tokens' is not supported, use 'max_completion_tokens' instead"), "max_tokens"),
    ],
)  # fmt: skip
async def test_a_parameter_the_model_does_not_take_is_left_out_from_then_on(
    server: OpenAIServer, model: LanguageModel, refusal: Reply, gone: str
) -> None:
    server.on(refusal, times=1)
    assert await said(model) == "Hello."
    assert await said(model) == "Hello."
    assert gone in server.requests[0].body
    assert all(gone not in request.body for request in server.requests[1:])
    assert len(server.requests) == 3
    if gone == "max_tokens":
        assert server.requests[1].body["max_completion_tokens"] == 77


@pytest.mark.parametrize(
    "refusal",
    [
        refused(400, code="unsupported_value", param="stream", message="Unsupported value: 'stream'"),
        refused(400, message="Streaming is not supported by this model"),
    ],
)
async def test_a_server_that_refuses_to_stream_is_asked_for_the_whole_reply(
    server: OpenAIServer, model: LanguageModel, refusal: Reply
) -> None:
    server.on(refusal, times=1)
    server.on(whole("Four weeks."))
    assert await said(model) == "Four weeks."
    assert await said(model) == "Four weeks."
    assert [request.body["stream"] for request in server.requests] == [True, False, False]


async def test_a_refusal_of_the_upstream_server_does_not_end_streaming(
    server: OpenAIServer, model: LanguageModel
) -> None:
    server.on(refused(400, message="The upstream model is unknown"), times=1)
    with pytest.raises(ModelUnavailable, match="status 400"):
        await said(model)
    assert await said(model) == "Hello."
    assert server.requests[-1].body["stream"] is True


@pytest.mark.parametrize(
    "refusal",
    [
        refused(400, message="This response_format type is unavailable now"),
        refused(422, message="Extra inputs are not permitted: response_format"),
        refused(400, message="Invalid schema for response_format 'reply': additionalProperties"),
    ],
)
async def test_a_schema_is_sent_until_the_server_refuses_it(
    server: OpenAIServer, model: LanguageModel, refusal: Reply
) -> None:
    schema: dict[str, object] = {"type": "object", "properties": {"question": {"type": "string"}}}
    prompt = replace(PROMPT, reply_schema=schema)
    server.on(refusal, times=1)
    for _ in range(2):
        async with asyncio.timeout(5), model.stream(prompt, task="understand") as pieces:
            assert "".join([piece async for piece in pieces]) == "Hello."
    first, *others = server.requests
    assert first.body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "reply", "schema": schema},
    }
    assert ["response_format" in request.body for request in others] == [False, False]


async def test_no_schema_is_sent_for_text(server: OpenAIServer, model: LanguageModel) -> None:
    await said(model)
    assert "response_format" not in server.requests[0].body


async def test_neither_prompt_nor_key_reaches_the_log(
    server: OpenAIServer, model: LanguageModel, caplog: pytest.LogCaptureFixture
) -> None:
    server.on(refused(500), times=1)
    with caplog.at_level(logging.INFO):
        await said(model)
    assert "How long?" not in caplog.text
    assert "sk-secret" not in caplog.text


def test_the_key_is_never_shown() -> None:
    assert "sk-secret" not in repr(openai.Settings.model_validate({"api_key": "sk-secret"}))
