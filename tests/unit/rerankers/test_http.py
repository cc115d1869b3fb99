from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from pydantic import SecretStr

from rag_engine.errors import BadSettings, RateLimited, Unavailable
from rag_engine.rerankers import http
from tests.contracts.test_reranker import hits_of
from tests.doubles.model_servers import rerank_server
from tests.doubles.model_servers.rerank_server import body, status

if TYPE_CHECKING:
    from pathlib import Path

_SOON = {"back_off": 0.0}


async def test_refused_twice_then_answered(tmp_path: Path) -> None:
    async with (
        rerank_server.serving([status(503), status(429, Retry_After="0")]) as server,
        http.connect(http.Settings(url=server.url, **_SOON), data_dir=tmp_path) as reranker,
    ):
        reranked = await reranker.rerank("red", hits_of(["blue", "red"]), limit=2)

    assert [hit.chunk.id for hit in reranked] == ["c1", "c0"]
    assert len(server.requests) == 3


async def test_attempts_are_one_more_than_retries(tmp_path: Path) -> None:
    async with rerank_server.serving([status(500)] * 9) as server:
        settings = http.Settings(url=server.url, max_retries=1, **_SOON)
        async with http.connect(settings, data_dir=tmp_path) as reranker:
            with pytest.raises(Unavailable):
                await reranker.rerank("red", hits_of(["blue"]), limit=2)

    assert len(server.requests) == 2


async def test_too_many_requests_is_rate_limited(tmp_path: Path) -> None:
    async with rerank_server.serving([status(429, Retry_After="7")]) as server:
        settings = http.Settings(url=server.url, max_retries=0)
        async with http.connect(settings, data_dir=tmp_path) as reranker:
            with pytest.raises(RateLimited) as caught:
                await reranker.rerank("red", hits_of(["blue"]), limit=2)

    assert caught.value.retry_after == 7


async def test_a_refused_key_is_not_retried(tmp_path: Path) -> None:
    async with (
        rerank_server.serving([status(401)]) as server,
        http.connect(http.Settings(url=server.url), data_dir=tmp_path) as reranker,
    ):
        with pytest.raises(BadSettings, match="401"):
            await reranker.rerank("red", hits_of(["blue"]), limit=2)

    assert len(server.requests) == 1


async def test_a_server_that_stalls_is_given_up(tmp_path: Path) -> None:
    async with rerank_server.serving([None]) as server:
        settings = http.Settings(url=server.url, timeout=0.05, max_retries=0)
        async with asyncio.timeout(5), http.connect(settings, data_dir=tmp_path) as reranker:
            with pytest.raises(Unavailable):
                await reranker.rerank("red", hits_of(["blue"]), limit=2)


async def test_the_deadline_covers_all_attempts(tmp_path: Path) -> None:
    async with rerank_server.serving([status(429, Retry_After="3600")]) as server:
        settings = http.Settings(url=server.url, deadline=0.05)
        async with asyncio.timeout(5), http.connect(settings, data_dir=tmp_path) as reranker:
            with pytest.raises(Unavailable):
                await reranker.rerank("red", hits_of(["blue"]), limit=2)


async def test_nobody_there(tmp_path: Path) -> None:
    async with rerank_server.serving() as server:
        url = server.url
    async with http.connect(http.Settings(url=url, **_SOON), data_dir=tmp_path) as reranker:
        with pytest.raises(Unavailable) as caught:
            await reranker.rerank("red", hits_of(["blue"]), limit=2)

    assert caught.value.backend == "reranker"


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "not json",
        "{}",
        '{"results": 3}',
        '{"results": [{"index": 5, "relevance_score": 0.5}, {"index": 0, "relevance_score": 0.5}]}',
        '{"results": [{"index": 0, "relevance_score": 0.5}]}',
        '{"results": [{"index": 0, "relevance_score": 0.5}, {"index": 0, "relevance_score": 0.6}]}',
        '{"results": [{"index": 0, "relevance_score": NaN}, {"index": 1, "relevance_score": 0.6}]}',
        '{"results": ["a", "b"]}',
    ],
)
async def test_nonsense_is_no_ranking(answer: str, tmp_path: Path) -> None:
    async with rerank_server.serving([body(answer)]) as server:
        settings = http.Settings(url=server.url, max_retries=0)
        async with http.connect(settings, data_dir=tmp_path) as reranker:
            with pytest.raises(Unavailable):
                await reranker.rerank("red", hits_of(["blue", "red"]), limit=2)


async def test_logits_become_probabilities_by_a_sigmoid(tmp_path: Path) -> None:
    logits = '[{"index": 0, "score": -2.0}, {"index": 1, "score": 3.0}]'
    async with (
        rerank_server.serving([body(logits)]) as server,
        http.connect(http.Settings(url=server.url), data_dir=tmp_path) as reranker,
    ):
        reranked = await reranker.rerank("red", hits_of(["blue", "red"]), limit=2)

    assert [round(hit.score, 4) for hit in reranked] == [0.9526, 0.1192]


async def test_batches_model_key_and_cut_are_sent_as_set(tmp_path: Path) -> None:
    async with rerank_server.serving() as server:
        settings = http.Settings(
            url=server.url, model="m", api_key=SecretStr("secret"), batch_size=2, max_characters=3
        )
        async with http.connect(settings, data_dir=tmp_path) as reranker:
            reranked = await reranker.rerank("abc", hits_of(["abcdef", "xyz", "abc"]), limit=1)

    assert [request["documents"] for request in server.requests] == [["abc", "xyz"], ["abc"]]
    assert [request["top_n"] for request in server.requests] == [2, 1]
    assert {request["model"] for request in server.requests} == {"m"}
    assert {headers["authorization"] for headers in server.headers} == {"Bearer secret"}
    assert [hit.chunk.id for hit in reranked] == ["c0"]
    assert "secret" not in repr(settings)


@pytest.mark.parametrize(
    ("instruct", "sent"),
    [("Find the rule that applies.", {"Find the rule that applies."}), ("  ", {None}), ("", {None})],
)
async def test_an_instruction_is_sent_if_it_is_set(
    tmp_path: Path, instruct: str, sent: set[str | None]
) -> None:
    async with (
        rerank_server.serving() as server,
        http.connect(
            http.Settings(url=server.url, batch_size=1, instruct=instruct), data_dir=tmp_path
        ) as reranker,
    ):
        await reranker.rerank("abc", hits_of(["abc", "xyz"]), limit=2)

    assert {request.get("instruct") for request in server.requests} == sent
    assert ("instruct" in server.requests[0]) == bool(instruct.strip())


async def test_an_address_that_is_none(tmp_path: Path) -> None:
    async with http.connect(http.Settings(url="gopher://x"), data_dir=tmp_path) as reranker:
        with pytest.raises(BadSettings):
            await reranker.rerank("abc", hits_of(["abc"]), limit=1)
