"""The OpenAI-compatible embedder against a misbehaving server on a real socket."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import numpy as np
import pytest
from pydantic import SecretStr

from rag_engine.embedders import openai
from rag_engine.errors import BadSettings, EmbedderUnavailable, RateLimited, Unavailable
from rag_engine.text import tokens
from tests.doubles.model_servers.embeddings_server import Reply, embeddings_server, error_reply, vector

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from pathlib import Path

    from rag_engine.embedders.openai import OpenAIEmbedder
    from tests.doubles.model_servers.embeddings_server import EmbeddingsServer

KEY = SecretStr("secret")


@pytest.fixture
async def server() -> AsyncGenerator[EmbeddingsServer]:
    async with embeddings_server() as running:
        yield running


@asynccontextmanager
async def connected(
    server: EmbeddingsServer, tmp_path: Path, **changes: object
) -> AsyncGenerator[OpenAIEmbedder]:
    values: dict[str, object] = {
        "base_url": server.url,
        "api_key": KEY,
        "back_off": 0.001,
        "dimensions": 48,
        **changes,
    }
    async with openai.connect(openai.Settings.model_validate(values), data_dir=tmp_path) as embedder:
        yield embedder


def expected(texts: Sequence[str]) -> np.ndarray:
    rows = np.stack([vector(text, 48) for text in texts])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


async def test_dimensions_are_found_out_or_asked_for(server: EmbeddingsServer, tmp_path: Path) -> None:
    async with connected(server, tmp_path, dimensions=None) as embedder:
        assert (embedder.dimensions, embedder.model) == (48, "text-embedding-3-small@server")
    assert "dimensions" not in server.requests[0]
    async with connected(server, tmp_path, dimensions=16) as embedder:
        assert len(server.requests) == 1
        assert (await embedder.embed(["a"], side="query")).shape == (1, 16)
        assert embedder.model == "text-embedding-3-small@server-16"
    assert server.requests[-1]["dimensions"] == 16
    assert server.keys[-1] == "Bearer secret"


@pytest.mark.parametrize("change", ["reverse", "plain"])
async def test_any_order_and_either_encoding(server: EmbeddingsServer, tmp_path: Path, change: str) -> None:
    setattr(server, change, True)
    texts = [f"text {number}" for number in range(20)]
    async with connected(server, tmp_path) as embedder:
        assert np.allclose(await embedder.embed(texts, side="passage"), expected(texts), atol=1e-6)


async def test_batches_by_count_and_by_tokens(server: EmbeddingsServer, tmp_path: Path) -> None:
    texts = ["short"] * 5 + ["apple " * 60] * 3 + ["short"]
    async with connected(server, tmp_path, batch_texts=3, batch_tokens=100, concurrency=1) as embedder:
        rows = await embedder.embed(texts, side="passage")
    sent = [request["input"] for request in server.requests]
    assert [text for batch in sent for text in batch] == texts
    assert [len(batch) for batch in sent] == [3, 3, 1, 2]
    assert np.allclose(rows, expected(texts), atol=1e-6)


async def test_a_call_asks_no_more_at_once_than_it_may(server: EmbeddingsServer, tmp_path: Path) -> None:
    server.hold = asyncio.Event()
    async with connected(server, tmp_path, batch_texts=1, concurrency=3) as embedder:
        call = asyncio.create_task(embedder.embed(["a", "b", "c", "d", "e"], side="passage"))
        async with asyncio.timeout(5):
            while server.at_once < 3:
                server.asked.clear()
                await server.asked.wait()
            question = asyncio.create_task(embedder.embed(["question"], side="query"))
            while server.at_once < 4:
                server.asked.clear()
                await server.asked.wait()
        server.hold.set()
        await asyncio.gather(call, question)
    assert server.most_at_once == 4


async def test_prefixes_by_model_and_by_settings(server: EmbeddingsServer, tmp_path: Path) -> None:
    async with connected(server, tmp_path, model="intfloat/multilingual-e5-small") as embedder:
        await embedder.embed(["hi"], side="query")
        await embedder.embed(["hi"], side="passage")
        assert embedder.count_tokens("hi") == tokens.count("passage: hi")
    assert [request["input"] for request in server.requests] == [["query: hi"], ["passage: hi"]]
    async with connected(server, tmp_path, query_prefix="Q ", passage_prefix="P ") as embedder:
        await embedder.embed(["hi"], side="query")
        await embedder.embed(["hi"], side="passage")
        assert embedder.model.startswith("text-embedding-3-small@server-48+")
    assert [request["input"] for request in server.requests[2:]] == [["Q hi"], ["P hi"]]


async def test_texts_over_the_limit_are_cut_and_empty_ones_sent_as_a_blank(
    server: EmbeddingsServer, tmp_path: Path
) -> None:
    async with connected(server, tmp_path, max_tokens=20) as embedder:
        await embedder.embed(["apple " * 500, "", "\ud83d"], side="passage")
    long, empty, broken = server.requests[0]["input"]
    assert 10 <= tokens.count(long) <= 20
    assert (empty, broken) == (" ", "\ufffd")


@pytest.mark.parametrize("status", [408, 429, 500, 503])
async def test_what_may_pass_is_tried_again(server: EmbeddingsServer, tmp_path: Path, status: int) -> None:
    server.replies.extend([error_reply(status, "busy")] * 2)
    async with connected(server, tmp_path) as embedder:
        assert (await embedder.embed(["a"], side="query")).shape == (1, 48)
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("reply", "error", "says"),
    [
        (error_reply(401, "no"), BadSettings, "API key"),
        (error_reply(403, "no"), BadSettings, "API key"),
        (error_reply(404, "no such model"), BadSettings, "does not know text-embedding-3-small"),
        (error_reply(400, "too long"), EmbedderUnavailable, "refused .400.*too long"),
        (error_reply(429, "no money", code="insufficient_quota"), RateLimited, "slow down"),
    ],
    ids=["key", "forbidden", "model", "request", "money"],
)
async def test_what_will_not_pass_is_not_tried_again(
    server: EmbeddingsServer, tmp_path: Path, reply: Reply, error: type[Exception], says: str
) -> None:
    server.replies.append(reply)
    async with connected(server, tmp_path) as embedder:
        with pytest.raises(error, match=says):
            await embedder.embed(["a"], side="query")
    assert len(server.requests) == 1


async def test_retries_end_and_the_last_error_is_reported(server: EmbeddingsServer, tmp_path: Path) -> None:
    server.replies.extend([error_reply(500, "broken")] * 9)
    async with connected(server, tmp_path, max_retries=2) as embedder:
        with pytest.raises(EmbedderUnavailable, match="refused"):
            await embedder.embed(["a"], side="query")
    assert len(server.requests) == 3


async def test_a_wait_beyond_the_deadline_is_left_to_the_caller(
    server: EmbeddingsServer, tmp_path: Path
) -> None:
    server.replies.append(error_reply(429, "later", headers={"retry-after": "3600"}))
    async with connected(server, tmp_path) as embedder:
        with pytest.raises(RateLimited) as caught:
            await embedder.embed(["a"], side="query")
    assert caught.value.retry_after == 3600
    assert len(server.requests) == 1


def body_of(vectors: list[object]) -> bytes:
    data = [
        {"object": "embedding", "index": place, "embedding": value} for place, value in enumerate(vectors)
    ]
    return json.dumps(
        {"object": "list", "data": data, "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}}
    ).encode()


NONSENSE = {
    "not json": Reply(body=b"<html>hello</html>"),
    "a page": Reply(body=b"<html>hello</html>", headers={"content-type": "text/html"}),
    "nothing": Reply(body=b""),
    "another object": Reply(body=b'{"hello": 1}'),
    "a list": Reply(body=b"[1, 2]"),
    "no data": Reply(body=body_of([])),
    "too few": Reply(body=body_of([[1.0] * 48])),
    "too many": Reply(body=body_of([[1.0] * 48] * 3)),
    "ragged": Reply(body=body_of([[1.0] * 48, [1.0]])),
    "words": Reply(body=body_of([["a"] * 48, ["b"] * 48])),
    "zeros": Reply(body=body_of([[0.0] * 48] * 2)),
    "not numbers": Reply(body=body_of([[float("nan")] * 48] * 2)),
    "nulls": Reply(body=body_of([None, None])),
    "broken base64": Reply(body=body_of(["a", "b"])),
}


@pytest.mark.parametrize("reply", NONSENSE.values(), ids=NONSENSE)
async def test_nonsense_is_one_plain_sentence(server: EmbeddingsServer, tmp_path: Path, reply: Reply) -> None:
    server.replies.append(reply)
    async with connected(server, tmp_path, max_retries=0) as embedder:
        with pytest.raises(EmbedderUnavailable, match="makes no sense"):
            await embedder.embed(["a", "b"], side="query")


async def test_another_number_of_dimensions_is_refused(server: EmbeddingsServer, tmp_path: Path) -> None:
    server.replies.append(Reply(body=body_of([[1.0] * 12])))
    async with connected(server, tmp_path) as embedder:
        with pytest.raises(BadSettings, match="12 dimensions and not 48"):
            await embedder.embed(["a"], side="query")


async def test_a_server_that_stalls_is_given_up(server: EmbeddingsServer, tmp_path: Path) -> None:
    server.replies.append(Reply(stall=True))
    async with connected(server, tmp_path, timeout=0.2, max_retries=0) as embedder:
        with pytest.raises(EmbedderUnavailable, match="in time"):
            await embedder.embed(["a"], side="query")
        async with asyncio.timeout(5):
            await server.hung_up.wait()


async def test_a_server_that_is_not_there(tmp_path: Path, server: EmbeddingsServer) -> None:
    server.url = "http://127.0.0.1:9/v1"
    async with connected(server, tmp_path, max_retries=1) as embedder:
        with pytest.raises(EmbedderUnavailable, match="cannot be reached"):
            await embedder.embed(["a"], side="query")
    with pytest.raises(EmbedderUnavailable):
        async with connected(server, tmp_path, dimensions=None, max_retries=0):
            pytest.fail("there is nobody to ask for the dimensions")


async def test_cancelling_hangs_up(server: EmbeddingsServer, tmp_path: Path) -> None:
    server.replies.append(Reply(stall=True))
    async with connected(server, tmp_path) as embedder:
        call = asyncio.create_task(embedder.embed(["a"], side="query"))
        async with asyncio.timeout(5):
            await server.asked.wait()
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            await server.hung_up.wait()
        assert (await embedder.embed(["b"], side="query")).shape == (1, 48)


async def test_one_failed_batch_fails_the_call_with_its_own_error(
    server: EmbeddingsServer, tmp_path: Path
) -> None:
    server.replies.extend([error_reply(400, "bad"), error_reply(400, "bad")])
    async with connected(server, tmp_path, batch_texts=1) as embedder:
        with pytest.raises(Unavailable, match="bad"):
            await embedder.embed(["a", "b", "c"], side="passage")


def test_the_key_is_never_printed() -> None:
    assert "secret" not in repr(openai.Settings(api_key=KEY))
