"""Tools on servers with OpenAI's API: streamed, whole, and refused."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from rag_engine.agent.calls import chosen_calls
from rag_engine.generation.tool_request import ToolCall, ToolRequest, ToolRound, ToolSpec
from rag_engine.types import Message
from tests.doubles.model_servers.openai_server import (
    DONE,
    JSON,
    OpenAIServer,
    Reply,
    chunk,
    refused,
    serve,
    streamed,
)
from tests.unit.models.served import PROMPT, connected

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from rag_engine.ports import LanguageModel

ROUND = ToolRound(
    calls=(ToolCall(name="search", arguments={"query": "pay"}), ToolCall(name="list")),
    results=("found", "listed"),
)
REQUEST = ToolRequest(
    tools=(ToolSpec(name="search", description="Search.", parameters={"type": "object"}),),
    messages=(Message(role="system", content="Rules."), Message(role="user", content="How long?")),
    rounds=(ROUND,),
)
PLAIN = replace(PROMPT, tool_request=REQUEST)
CALLS = (ToolCall(name="search", arguments={"query": "leave"}), ToolCall(name="list"))


@pytest.fixture
async def server() -> AsyncGenerator[OpenAIServer]:
    async with serve() as double:
        yield double


async def said(model: LanguageModel) -> str:
    async with asyncio.timeout(5), model.stream(PLAIN, task="agent") as stream:
        return "".join([piece async for piece in stream])


def part(index: int | None, name: str = "", arguments: object = "", identity: str = "") -> dict[str, object]:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value}
    return {
        **({} if index is None else {"index": index}),
        **({"id": identity, "type": "function"} if identity else {}),
        "function": function,
    }


def called(*deltas: list[dict[str, object]]) -> Reply:
    parts = [chunk({"tool_calls": delta}) for delta in deltas]
    return Reply(parts=[*parts, chunk(finish="tool_calls"), DONE])


@pytest.mark.parametrize(
    "reply",
    [
        called(
            [part(0, "search", identity="a")],
            [part(0, arguments='{"que')],
            [part(0, arguments='ry": "leave"}')],
            [part(1, "list", identity="b"), part(1, arguments="{}")],
        ),
        called([part(0, "search", '{"query": "leave"}', "a"), part(0, "list", "{}", "b")]),
        called([part(None, "search", {"query": "leave"})], [part(None, "list")]),
        Reply(
            headers=JSON,
            parts=[
                json.dumps(
                    {
                        "choices": [
                            {
                                "finish_reason": "tool_calls",
                                "message": {
                                    "content": None,
                                    "tool_calls": [
                                        part(None, "search", '{"query": "leave"}', "a"),
                                        part(None, "list", "{}", "b"),
                                    ],
                                },
                            }
                        ]
                    }
                ).encode()
            ],
        ),
    ],
    ids=["OpenAI", "the same index", "without an index", "whole"],
)
async def test_calls_arrive_as_text(server: OpenAIServer, tmp_path: Path, reply: Reply) -> None:
    server.on(reply)
    async with connected(server, tmp_path) as model:
        assert chosen_calls(await said(model)) == CALLS


async def test_tools_and_earlier_calls_are_sent_in_their_own_form(
    server: OpenAIServer, tmp_path: Path
) -> None:
    async with connected(server, tmp_path) as model:
        await said(model)
    body = server.requests[0].body
    function = {"name": "search", "description": "Search.", "parameters": {"type": "object"}}
    assert body["tools"] == [{"type": "function", "function": function}]
    sent = body["messages"]
    assert isinstance(sent, list)
    assert [one["role"] for one in sent] == ["system", "user", "assistant", "tool", "tool"]
    ids = [call["id"] for call in sent[2]["tool_calls"]]
    assert [(one["tool_call_id"], one["content"]) for one in sent[3:]] == [
        (ids[0], "found"),
        (ids[1], "listed"),
    ]


@pytest.mark.parametrize(
    "message",
    [
        "registry.ollama.ai/library/gemma3:latest does not support tools",
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    ],
)
async def test_a_server_without_tools_gets_the_plain_messages(
    server: OpenAIServer, tmp_path: Path, message: str
) -> None:
    server.on(refused(400, message=message), times=1)
    server.on(streamed('{"calls": []}'))
    async with connected(server, tmp_path) as model:
        assert await said(model) == '{"calls": []}'
        await said(model)
    first, *later = server.requests
    assert "tools" in first.body
    for request in later:
        assert "tools" not in request.body
        assert request.text == "\n\n".join(message.content for message in PLAIN.messages)


async def test_tools_can_be_switched_off(server: OpenAIServer, tmp_path: Path) -> None:
    async with connected(server, tmp_path, tool_calls=False) as model:
        await said(model)
    assert "tools" not in server.requests[0].body


async def test_an_endless_call_is_cut(server: OpenAIServer, tmp_path: Path) -> None:
    many = [[part(number, "search", "x" * 1_000, f"id{number}")] for number in range(200)]
    server.on(called(*many))
    async with connected(server, tmp_path) as model:
        assert len(await said(model)) < 70_000
