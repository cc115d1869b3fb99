"""An unreachable or silent language model, or one that never stops: one plain sentence, in time."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
import trustme

from rag_engine.embedders import hashing
from rag_engine.errors import ModelUnavailable
from rag_engine.generation.generate import GeneratedReply, reply
from rag_engine.models import openai
from rag_engine.types import AnswerRequest, Delta
from tests.doubles.model_servers.openai_server import CUT, DONE, Reply, chunk, serve
from tests.unit.prompting import ScriptedAnswerer, asking, passages

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from rag_engine.ports import LanguageModel

CANNOT_BE_REACHED = "cannot be reached; try again in a moment"
PROMPT = asking("How long?", *passages("Notice is four weeks."), reply_tokens=64)


@asynccontextmanager
async def model(folder: Path, base_url: str, **settings: object) -> AsyncGenerator[LanguageModel]:
    values = {"base_url": base_url, "name": "double", "back_off_seconds": 0, "retries": 1, **settings}
    async with (
        hashing.connect(hashing.Settings(), data_dir=folder) as embedder,
        openai.connect(openai.Settings.model_validate(values), embedder=embedder) as connected,
    ):
        yield connected


async def failure(of: LanguageModel) -> str:
    """The model's error, within five seconds."""
    async with asyncio.timeout(5):
        with pytest.raises(ModelUnavailable) as raised:
            async with of.stream(PROMPT, task="answer"):
                raise AssertionError("it answered")
    assert raised.value.__cause__ is not None
    return str(raised.value)


def closed_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


async def test_nobody_listens(tmp_path: Path) -> None:
    async with model(tmp_path, f"http://127.0.0.1:{closed_port()}/v1") as unreachable:
        assert CANNOT_BE_REACHED in await failure(unreachable)


async def test_the_name_is_not_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*arguments: object, **options: object) -> object:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    async with model(tmp_path, "http://model.example/v1") as unreachable:
        assert CANNOT_BE_REACHED in await failure(unreachable)


@pytest.fixture
async def lost_names(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[None]:
    """A resolver that never answers and blocks a thread."""
    released = threading.Event()

    def lost(*arguments: object, **options: object) -> object:
        released.wait(60)
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", lost)
    yield
    released.set()


@pytest.mark.usefixtures("lost_names")
async def test_the_name_is_never_resolved(tmp_path: Path) -> None:
    async with model(tmp_path, "http://model.example/v1", connect_seconds=0.2, retries=0) as unreachable:
        assert CANNOT_BE_REACHED in await failure(unreachable)


@asynccontextmanager
async def listening(context: ssl.SSLContext | None = None) -> AsyncGenerator[int]:
    """A server that accepts connections and stays silent."""
    leaving = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await leaving.wait()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0, ssl=context)
    try:
        yield int(server.sockets[0].getsockname()[1])
    finally:
        leaving.set()
        server.close()


async def test_its_certificate_is_of_an_authority_that_nobody_trusts(tmp_path: Path) -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    async with (
        listening(context) as port,
        model(tmp_path, f"https://127.0.0.1:{port}/v1") as unreachable,
    ):
        assert CANNOT_BE_REACHED in await failure(unreachable)


async def test_it_takes_the_question_and_says_nothing_at_all(tmp_path: Path) -> None:
    async with (
        listening() as port,
        model(tmp_path, f"http://127.0.0.1:{port}/v1", first_token_seconds=0.3) as mute,
    ):
        assert "takes too long" in await failure(mute)


async def test_a_secure_connection_is_never_agreed_on(tmp_path: Path) -> None:
    async with (
        listening() as port,
        model(tmp_path, f"https://127.0.0.1:{port}/v1", connect_seconds=0.2, retries=0) as mute,
    ):
        assert CANNOT_BE_REACHED in await failure(mute)


async def told(of: LanguageModel, folder: Path) -> tuple[str, GeneratedReply]:
    grown = ""
    async with hashing.connect(hashing.Settings(), data_dir=folder) as embedder, asyncio.timeout(10):
        async for event in reply(
            PROMPT,
            AnswerRequest(question="How long?"),
            models=[of],
            answerer=ScriptedAnswerer(),
            embedder=embedder,
            thinkers=set(),
        ):
            if isinstance(event, Delta):
                grown += event.text
            else:
                return grown, event
    raise AssertionError("nothing was told")


async def test_a_reply_without_end_is_ended_and_marked(tmp_path: Path) -> None:
    """The server ignores the limit: reading stops at 16 characters per allowed token."""
    endless = Reply(parts=[*[chunk({"content": "word " * 200})] * 60, asyncio.Event()])
    async with serve() as server, model(tmp_path, server.base_url) as talkative:
        server.on(endless)
        grown, end = await told(talkative, tmp_path)
        async with asyncio.timeout(5):
            await server.requests[0].disconnected.wait()
    assert 2048 * 16 <= len(grown) <= 2048 * 16 + 2000
    assert end.notices == ("The answer broke off: The language model wrote far more than it was allowed to.",)


@pytest.mark.parametrize(
    "end",
    [
        [CUT],
        [b"data: {broken\n\n", CUT],
        [b'data: {"error": {"message": "boom"}}\n\n'],
        [b"<html>Bad gateway</html>"],
    ],
    ids=["cut", "garbage", "an error", "a web page"],
)
async def test_whatever_ends_it_in_the_middle_its_text_stays_and_is_marked(
    tmp_path: Path, end: list[bytes | str]
) -> None:
    async with serve() as server, model(tmp_path, server.base_url) as broken:
        server.on(Reply(parts=[chunk({"content": "Four weeks [1]. And "}), chunk({"content": "then"}), *end]))
        grown, told_in_the_end = await told(broken, tmp_path)
    assert grown == "Four weeks [1]. And then"
    (notice,) = told_in_the_end.notices
    assert notice.startswith("The answer broke off: ")
    assert notice.endswith(".")


async def test_lines_that_are_no_json_are_skipped_within_a_whole_reply(tmp_path: Path) -> None:
    async with serve() as server, model(tmp_path, server.base_url) as sloppy:
        server.on(
            Reply(
                parts=[
                    chunk({"content": "Four weeks [1]."}),
                    b"data: {nonsense\n\n",
                    chunk(finish="stop"),
                    DONE,
                ]
            )
        )
        grown, end = await told(sloppy, tmp_path)
    assert (grown, end.notices) == ("Four weeks [1].", ())
