"""Programs ask over HTTP: by the official clients of OpenAI and MCP, each within what its key may read."""

from __future__ import annotations

import asyncio
import json
import socket
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx2
import openai
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from bot import settings
from bot.composition import application as composition
from bot.maintenance import data_files
from bot.server import http
from bot.store.api_keys import ApiKeys
from rag_engine.ingestion.blobs import blob_from_path
from rag_engine.storage.sqlite.database import connect

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from starlette.types import ASGIApp, Message

pytestmark = pytest.mark.process

LEAVE = "Everybody has 28 days of paid leave a year. More than fifteen days in a row need two months' notice."
SECRET = "The merger with Quillfeather closes on 3 May for 41 million."


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    url: str
    keys: ApiKeys
    handbook: str
    """A key for the handbook alone."""
    board: str
    """A key for the board's papers alone."""
    stack: AsyncExitStack
    web: ASGIApp

    def client(self, key: str) -> openai.AsyncOpenAI:
        client = openai.AsyncOpenAI(base_url=f"{self.url}/v1", api_key=key, max_retries=0, timeout=60)
        self.stack.push_async_callback(client.close)
        return client

    @asynccontextmanager
    async def tools(self, key: str) -> AsyncGenerator[Client]:
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=60) as http_client:
            transport = streamable_http_client(f"{self.url}/mcp", http_client=http_client)
            async with Client(transport) as client:
                yield client


@asynccontextmanager
async def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Served]:
    """Two knowledge bases with one document each."""
    monkeypatch.setenv("FOOTNOTE_EMBEDDER__KIND", "hashing")
    monkeypatch.setenv("FOOTNOTE_CHAT__ANSWERS", "3")
    chosen = settings.read()
    scripts = data_files.migrations()[data_files.CHAT]
    async with (
        composition.application(chosen) as application,
        connect(chosen.data_dir / data_files.CHAT, scripts=scripts) as database,
    ):
        ids: dict[str, Any] = {}
        for name, text in (("handbook", LEAVE), ("board", SECRET)):
            base = await application.catalog.open(name, model=application.library.embedder.model)
            path = tmp_path / f"{name}.md"
            path.write_text(text, encoding="utf-8")
            await application.library.ingestion.ingest(await blob_from_path(path), knowledge_base=base.id)
            ids[name] = base.id
        keys = ApiKeys(database)
        web = http.web_application(application, keys, at_once=3)
        with socket.create_server(("127.0.0.1", 0)) as listening:
            server = http.server(web)
            running = asyncio.create_task(server.serve(sockets=[listening]))
            try:
                async with AsyncExitStack() as stack:
                    yield Served(
                        stack=stack,
                        web=web,
                        url=f"http://127.0.0.1:{listening.getsockname()[1]}",
                        keys=keys,
                        handbook=await keys.create("wiki", {ids["handbook"]}),
                        board=await keys.create("board", {ids["board"]}),
                    )
            finally:
                server.should_exit = True
                await running


def asked(text: str) -> list[Any]:
    return [{"role": "user", "content": text}]


async def test_an_answer_by_the_official_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(tmp_path, monkeypatch) as here:
        client = here.client(here.handbook)
        assert [model.id async for model in client.models.list()] == ["footnote", "handbook"]
        answer = await client.chat.completions.create(
            model="handbook", messages=asked("How many days of paid leave does everybody have?")
        )
    text = answer.choices[0].message.content or ""
    assert "28 days of paid leave a year" in text
    assert "[1] handbook.md" in text
    [note] = answer.choices[0].message.annotations or []
    cited = note.url_citation
    assert text[cited.start_index : cited.end_index] == "[1]"
    assert cited.title == "handbook.md"
    assert answer.usage is not None
    raw = answer.model_dump()
    assert raw["citations"][0]["quote"] in LEAVE
    assert str(tmp_path) not in json.dumps(raw)


async def test_a_stream_by_the_official_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(tmp_path, monkeypatch) as here:
        stream = await here.client(here.handbook).chat.completions.create(
            model="footnote",
            messages=asked("How many days of paid leave does everybody have?"),
            stream=True,
            stream_options={"include_usage": True},
        )
        chunks = [chunk async for chunk in stream]
    text = "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)
    assert text.count("28 days") == 1
    assert text.rstrip().endswith("[1] handbook.md")
    assert [choice.finish_reason for chunk in chunks for choice in chunk.choices][-1] == "stop"
    assert chunks[-1].usage is not None
    notes = [
        choice.delta.model_dump().get("annotations")
        for chunk in chunks
        for choice in chunk.choices
        if choice.delta.model_dump().get("annotations")
    ]
    start = notes[0][0]["url_citation"]["start_index"]
    assert text[start : start + 3] == "[1]"


async def test_a_key_reads_its_knowledge_bases_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By every way: models, completions, and each tool."""
    async with served(tmp_path, monkeypatch) as here:
        client = here.client(here.handbook)
        shown = [str([model.id async for model in client.models.list()])]
        for model in ("footnote", "handbook"):
            answer = await client.chat.completions.create(
                model=model, messages=asked("When does the merger with Quillfeather close?")
            )
            shown.append(answer.model_dump_json())
        with pytest.raises(openai.NotFoundError) as refused:
            await client.chat.completions.create(model="board", messages=asked("When does the merger close?"))
        shown.append(str(refused.value))
        async with here.tools(here.board) as board:
            [record] = (await board.call_tool("list", {})).structured_content["documents"]
            read = await board.call_tool("read", {"document": record["id"]})
            assert SECRET in str(read.structured_content)
        async with here.tools(here.handbook) as tools:
            calls = [
                ("search", {"query": "merger Quillfeather"}),
                ("search", {"query": "merger Quillfeather", "knowledge_base": "board"}),
                ("ask", {"question": "When does the merger with Quillfeather close?"}),
                ("ask", {"question": "When does the merger close?", "knowledge_base": "board"}),
                ("list", {}),
                ("list", {"knowledge_base": "board"}),
                ("read", {"document": record["id"]}),
            ]
            for name, arguments in calls:
                result = await tools.call_tool(name, arguments)
                shown.append(f"{result.content} {result.structured_content}")
    for text in shown:
        assert "41 million" not in text
        assert "3 May" not in text
        assert "board.md" not in text


async def test_the_tools_by_the_official_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(tmp_path, monkeypatch) as here, here.tools(here.handbook) as tools:
        offered = (await tools.list_tools()).tools
        assert all(tool.description for tool in offered), "a client's model reads them"
        assert sorted(tool.name for tool in offered) == [
            "ask",
            "list",
            "read",
            "search",
        ]
        found = (await tools.call_tool("search", {"query": "paid leave"})).structured_content
        assert found["passages"][0]["title"] == "handbook.md"
        answer = (
            await tools.call_tool("ask", {"question": "How many days of paid leave does everybody have?"})
        ).structured_content
        assert "28 days" in answer["answer"]
        assert answer["citations"][0]["number"] == 1
        assert answer["citations"][0]["url"] == ""
        whole = (
            await tools.call_tool("read", {"document": found["passages"][0]["document"]})
        ).structured_content
        assert LEAVE.split(".")[0] in whole["sections"][0]["text"]
        assert whole["next"] is None
        missing = await tools.call_tool("read", {"document": "nothing"})
        assert missing.is_error
        assert "no such document" in str(missing.content)


@pytest.mark.parametrize("key", ["", "fn-wrong", "Bearer", "é" * 50])
async def test_without_a_key_there_is_nothing(
    key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(tmp_path, monkeypatch) as here:
        headers = {"Authorization": f"Bearer {key}".encode()} if key else {}
        async with httpx2.AsyncClient(base_url=here.url, headers=headers) as client:
            assert (await client.get("/v1/models")).status_code == 401
            body = {"model": "footnote", "messages": asked("leave?")}
            refused = await client.post("/v1/chat/completions", json=body)
            assert refused.status_code == 401
            assert "A key is needed" in refused.json()["error"]["message"]
            for method in ("GET", "POST", "DELETE"):
                other = await client.request(method, "/mcp", json={})
                assert other.status_code == 401
                assert other.headers["www-authenticate"] == "Bearer"
            assert (await client.get("/nothing")).json()["error"]["message"].startswith("There is nothing")


async def test_a_revoked_key_ends_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(tmp_path, monkeypatch) as here:
        client = here.client(here.handbook)
        await client.models.list()
        assert await here.keys.revoke("wiki")
        with pytest.raises(openai.AuthenticationError):
            await client.models.list()


BODIES = [
    b"",
    b"nothing",
    b"[]",
    b"{}",
    b'{"model": "footnote"}',
    b'{"model": "footnote", "messages": []}',
    b'{"model": "footnote", "messages": "hi"}',
    b'{"model": "footnote", "messages": [3]}',
    b'{"model": "footnote", "messages": [{"role": "assistant", "content": "hi"}]}',
    b'{"model": "footnote", "messages": [{"role": "user", "content": [{"type": "image_url"}]}]}',
    b'{"model": "footnote", "messages": [{"role": "user", "content": ""}]}',
    b'{"model": 7, "messages": [{"role": "user", "content": "leave?"}]}',
    b'{"model": "footnote", "temperature": 9, "messages": [{"role": "user", "content": "leave?"}]}',
    b'{"model": "footnote", "messages": [{"role": "user", "content": "' + b"x" * 30_000 + b'"}]}',
    b'{"model": "footnote", "messages": [{"role": "user", "content": "' + b"x" * 1_100_000 + b'"}]}',
    b"[" * 100_000,
    b'{"model": "footnote", "messages": [' + b'{"role": "user", "content": "a"},' * 201 + b"{}]}",
]


async def test_a_request_that_cannot_be_answered_is_refused_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        served(tmp_path, monkeypatch) as here,
        httpx2.AsyncClient(base_url=here.url, headers={"Authorization": f"Bearer {here.handbook}"}) as client,
    ):
        for number, body in enumerate(BODIES):
            refused = await client.post("/v1/chat/completions", content=body)
            assert refused.status_code == 400, number
            message = refused.json()["error"]["message"]
            assert message.endswith("."), number
            assert "Traceback" not in message


async def test_earlier_messages_are_the_conversation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(tmp_path, monkeypatch) as here:
        messages = [
            {"role": "system", "content": "You are kind."},
            *asked("How many days of paid leave does everybody have?"),
            {"role": "assistant", "content": "28 days of paid leave a year [1]."},
            *asked("And how much notice do more than fifteen days in a row need?"),
        ]
        answer = await here.client(here.handbook).chat.completions.create(model="footnote", messages=messages)
    assert "two months" in (answer.choices[0].message.content or "")


async def test_keys_are_not_kept_in_the_clear(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(tmp_path, monkeypatch) as here:
        for file in (tmp_path / "data").rglob("*"):
            if file.is_file():
                assert here.handbook.encode() not in file.read_bytes(), file.name


async def test_more_questions_than_may_run_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(tmp_path, monkeypatch) as here:
        client = here.client(here.handbook)

        async def ask() -> int:
            try:
                await client.chat.completions.create(
                    model="footnote", messages=asked("How many days of leave?")
                )
            except openai.RateLimitError:
                return 429
            return 200

        found = await asyncio.gather(*(ask() for _ in range(12)))
        assert found.count(200) >= 3
        assert 429 in found
        assert await ask() == 200


async def test_a_client_that_leaves_frees_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(tmp_path, monkeypatch) as here:
        client = here.client(here.handbook)
        for _ in range(4):  # one more than may run at the same time
            stream = await client.chat.completions.create(
                model="footnote", messages=asked("How many days of leave?"), stream=True
            )
            await anext(aiter(stream))
            await stream.close()
        async with asyncio.timeout(60):
            while True:
                try:
                    await client.chat.completions.create(model="footnote", messages=asked("How many days?"))
                except openai.RateLimitError:
                    await asyncio.sleep(0.05)
                else:
                    break


async def leaves(here: Served, *received: Message) -> list[Message]:
    """A client that is gone before it gets anything."""
    waiting = [*received, {"type": "http.disconnect"}]
    sent: list[Message] = []

    async def receive() -> Message:
        return waiting.pop(0) if len(waiting) > 1 else waiting[0]

    async def send(message: Message) -> None:
        await asyncio.sleep(0)  # as while the connection is not drained
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "method": "POST",
        "path": "/v1/chat/completions",
        "raw_path": b"/v1/chat/completions",
        "query_string": b"",
        "headers": [(b"authorization", f"Bearer {here.handbook}".encode())],
    }
    await here.web(scope, receive, send)
    return sent


async def test_a_client_that_leaves_before_the_first_word_frees_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {"model": "footnote", "stream": True, "messages": asked("How many days of leave?")}
    whole: Message = {"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}
    async with served(tmp_path, monkeypatch) as here:
        for _ in range(3):
            await leaves(here, whole)
        client = here.client(here.handbook)
        answer = await client.chat.completions.create(
            model="footnote", messages=asked("How many days of leave?")
        )
    assert answer.choices


async def test_a_request_that_breaks_off_is_no_bug(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    half: Message = {"type": "http.request", "body": b'{"model": "foot', "more_body": True}
    async with served(tmp_path, monkeypatch) as here:
        sent = await leaves(here, half)
    assert [message["status"] for message in sent if message["type"] == "http.response.start"] == [400]
