"""A cluster of three that loses a node (kill -9): nothing acknowledged is lost, every question is answered, all is whole again."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import httpx2
import pytest

from rag_engine.indexes import elasticsearch
from tests.conftest import PROJECT
from tests.contracts.indexing import (
    IDENTITY,
    base,
    dense,
    document,
    found,
    lexical,
    pairs,
    put,
    put_all,
    vector,
)
from tests.doubles import commands
from tests.elastic.node import Node, running_cluster
from tests.elastic.opening import NOWHERE, failing
from tests.elastic.test_node import call, index_words
from tests.elastic.test_node import found as found_words
from tests.journeys.conftest import environment

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from rag_engine.indexes.elasticsearch import ElasticsearchIndex
    from tests.doubles.commands import Command

QUESTIONS = 200
AT_ONCE = 4
SLOWEST = 20.0
"""Seconds a question may take while a node is lost, on a machine that does much else."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[tuple[Node, ...]]:
    with running_cluster() as nodes:
        yield nodes


@pytest.fixture
async def nodes(cluster: tuple[Node, ...]) -> AsyncIterator[tuple[Node, ...]]:
    """All three, whole, before and after each test."""
    yield cluster
    for node in cluster:
        await asyncio.to_thread(node.launch)
    for node in cluster:
        await asyncio.to_thread(node.wait_until_ready)
    await asyncio.to_thread(cluster[0].wait_for, nodes=3)


async def test_a_cluster_loses_a_node_answers_and_becomes_whole_again(nodes: tuple[Node, ...]) -> None:
    await asyncio.to_thread(lose_a_node_and_bring_it_back, *nodes)


def lose_a_node_and_bring_it_back(first: Node, second: Node, third: Node) -> None:
    settings = {
        "number_of_shards": 1,
        "number_of_replicas": 2,
        "index.unassigned.node_left.delayed_timeout": "0",
    }
    call(first.url, "PUT", "/words", {"settings": settings})
    first.wait_for(status="green", nodes=3)
    assert index_words(first.url, "words", ["ebb", "flood"])["errors"] is False
    first.kill()  # the holder of what it was just given, or the master: either way the others go on
    assert found_words(second.url, "words", "flood") == ["1"]
    assert index_words(third.url, "words", ["neap", "spring"])["errors"] is False
    assert found_words(second.url, "words", "spring") == ["1"]
    second.wait_for(nodes=2)
    first.start()
    first.wait_for(nodes=3, status="green")
    assert found_words(first.url, "words", "neap") == ["0"]
    call(first.url, "DELETE", "/words")


def addresses(nodes: tuple[Node, ...]) -> str:
    return ",".join(node.url for node in nodes)


@asynccontextmanager
async def opened(nodes: tuple[Node, ...], alias: str, **more: Any) -> AsyncIterator[ElasticsearchIndex]:
    settings = elasticsearch.Settings.model_validate(
        {"url": addresses(nodes), "alias": alias, "timeout": SLOWEST, **more}
    )
    async with elasticsearch.connect(settings, data_dir=NOWHERE, identity=IDENTITY) as index:
        yield index


async def asked(node: Node, path: str) -> list[dict[str, str]]:
    async with httpx2.AsyncClient(trust_env=False, timeout=60) as client:
        response = await client.get(f"{node.url}{path}", params={"format": "json"})
    return cast("list[dict[str, str]]", response.json())


async def holder(nodes: tuple[Node, ...], index: str) -> Node:
    """The node that has the primary of the index."""
    (name,) = [
        each["node"] for each in await asked(nodes[0], f"/_cat/shards/{index}") if each["prirep"] == "p"
    ]
    return next(node for node in nodes if node.name == name)


async def master(nodes: tuple[Node, ...]) -> Node:
    (elected,) = await asked(nodes[0], "/_cat/master")
    return next(node for node in nodes if node.name == elected["node"])


async def whole(nodes: tuple[Node, ...]) -> None:
    alive = next(node for node in nodes if node.pid is not None)
    await asyncio.to_thread(alive.wait_for, status="green", nodes=3)


async def names(nodes: tuple[Node, ...], alias: str) -> list[str]:
    return sorted(each["index"] for each in await asked(nodes[0], f"/_cat/indices/{alias}-*"))


@dataclass(slots=True)
class Answers:
    """The results of the questions."""

    seconds: list[float] = field(default_factory=list[float])
    degraded: int = 0


async def ask_many(index: ElasticsearchIndex, started: asyncio.Event, answers: Answers) -> None:
    """Ask as several people do, one question after the other; `started` is set when a quarter is answered."""
    waiting = iter(range(QUESTIONS))

    async def person() -> None:
        for number in waiting:
            began = time.monotonic()
            rankings = await index.search(
                [lexical(f"apple w{number % 40}"), dense(vector(number % 40), limit=10)]
            )
            answers.seconds.append(time.monotonic() - began)
            complete = all(ranking.complete for ranking in rankings)
            answers.degraded += not complete
            if complete:
                assert rankings[0].hits[0].chunk.document == f"d{number % 40}"
                assert rankings[1].hits[0].score == pytest.approx(1, abs=1e-5)
            if len(answers.seconds) >= QUESTIONS // 4:
                started.set()

    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(person())


@pytest.mark.parametrize(
    ("victim", "replicas"), [("primary", None), pytest.param("master", 1, marks=pytest.mark.soak)]
)
async def test_every_question_is_answered_while_a_node_is_lost(
    nodes: tuple[Node, ...], victim: str, replicas: int | None, record_property: Any
) -> None:
    alias = f"asked-{victim}"
    async with opened(nodes, alias, replicas=replicas) as index:
        documents = [document(f"d{number}") for number in range(40)]
        await put_all(index, [(of, pairs(of, f"apple w{n}", seed=n)) for n, of in enumerate(documents)])
        await whole(nodes)
        chunks = (await names(nodes, alias))[0]
        lost = await (holder(nodes, chunks) if victim == "primary" else master(nodes))
        started, answers = asyncio.Event(), Answers()
        asking = asyncio.create_task(ask_many(index, started, answers))
        await started.wait()
        await asyncio.to_thread(lost.kill)
        await asking
        assert len(answers.seconds) == QUESTIONS
        assert max(answers.seconds) < SLOWEST
        figures = f"slowest {max(answers.seconds):.2f} s, degraded {answers.degraded} of {QUESTIONS}"
        record_property(f"questions while the {victim} is lost", figures)
        sys.stderr.write(f"{victim} lost: {figures}\n")
        await asyncio.to_thread(lost.start)
        await whole(nodes)
        assert len((await found(index, lexical("apple", limit=50)))[0]) == 40


@pytest.mark.parametrize("victim", ["primary", "manifests", pytest.param("master", marks=pytest.mark.soak)])
async def test_what_was_acknowledged_while_a_node_is_lost_is_there(
    nodes: tuple[Node, ...], victim: str
) -> None:
    alias = f"put-{victim}"
    acknowledged: dict[str, int] = {}
    async with opened(nodes, alias) as index:
        await put(index, document("first"), "apple")
        await whole(nodes)
        chunks, manifests = await names(nodes, alias)
        held = {"primary": chunks, "manifests": manifests}.get(victim)
        lost = await (holder(nodes, held) if held else master(nodes))
        under_way, killed = asyncio.Event(), asyncio.Event()

        async def write(number: int) -> None:
            version, more = 0, 3
            while more:
                version += 1
                more -= killed.is_set()
                await put(index, document(f"d{number}"), *[f"apple v{version}"] * 3, seed=number)
                acknowledged[f"d{number}"] = version
                if len(acknowledged) == 4:
                    under_way.set()

        async with asyncio.timeout(120), asyncio.TaskGroup() as group:
            for number in range(4):
                group.create_task(write(number))
            await under_way.wait()
            await asyncio.to_thread(lost.kill)
            killed.set()
        await check(index, acknowledged)
        await asyncio.to_thread(lost.start)
        await whole(nodes)
        await check(index, acknowledged)
    async with opened(nodes, alias) as index:
        await check(index, acknowledged)


async def check(index: ElasticsearchIndex, acknowledged: dict[str, int]) -> None:
    expected = sorted(f"{name} apple v{version}" for name, version in acknowledged.items() for _ in range(3))
    there = [f"{chunk.document} {chunk.text}" async for chunk, _ in index.scan(base("kb"))]
    assert sorted(text for text in there if not text.startswith("first")) == expected
    assert await index.count(base("kb")) == len(expected) + 1
    ranking, nearest = await index.search([lexical("apple", limit=50), dense(vector(0), limit=50)])
    assert len(ranking.hits) == len(nearest.hits) == len(expected) + 1


async def test_red_is_never_taken_for_empty(nodes: tuple[Node, ...]) -> None:
    """Three shards without copies, and a node that held one of them is gone."""
    async with opened(nodes, "parts", shards=3, replicas=0, timeout=3, write_timeout=3) as index:
        documents = [document(f"d{number}") for number in range(12)]
        await put_all(index, [(of, pairs(of, "apple", seed=n)) for n, of in enumerate(documents)])
        chunks, manifests = await names(nodes, "parts")
        kept = await holder(nodes, manifests)
        shards = await asked(nodes[0], f"/_cat/shards/{chunks}")
        # A shard may hold none of the twelve.
        others = (each for each in shards if each["node"] != kept.name)
        name = max(others, key=lambda each: int(each["docs"] or 0))["node"]
        lost = next(node for node in nodes if node.name == name)
        await asyncio.to_thread(lost.kill)
        await asyncio.to_thread(kept.wait_for, nodes=2)
        (ranking,) = await index.search([lexical("apple", limit=50)])
        assert not ranking.complete
        assert 0 < len(ranking.hits) < 12
        with failing("red"):
            await index.count(base("kb"))
        with failing("red"):
            _ = [pair async for pair in index.scan(base("kb"))]
        with failing("red"):
            await index.drop(base("kb"), documents[0].id)
        await asyncio.to_thread(lost.start)
        await whole(nodes)
        await index.drop(base("kb"), documents[0].id)
        (ranking,) = await index.search([lexical("apple", limit=50)])
        assert (ranking.complete, len(ranking.hits)) == (True, 11)
        assert await index.count(base("kb")) == 11


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    for number in range(30):
        text = f"# Berth {number}\n\n" + f"The berth {number} is let for {100 + number} days. " * 20
        (folder / f"berth-{number:02}.md").write_text(text, encoding="utf-8")
    return folder


@asynccontextmanager
async def footnote(
    tmp_path: Path, nodes: tuple[Node, ...], alias: str, *arguments: str
) -> AsyncIterator[Command]:
    """The command as a process that uses the cluster."""
    settings = {
        "FOOTNOTE_DATA_DIR": str(tmp_path / "data"),
        "FOOTNOTE_EMBEDDER__KIND": "hashing",
        "FOOTNOTE_INDEX__KIND": "elasticsearch",
        "FOOTNOTE_INDEX__ALIAS": alias,
        "ELASTICSEARCH_URL": addresses(nodes),
    }
    process = await commands.start(
        *arguments,
        folder=tmp_path,
        environment=environment(tmp_path, PYTHONPATH=str(PROJECT), **settings),
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def finished(process: Command) -> list[str]:
    """The lines it printed; it ended well and complained of nothing."""
    async with asyncio.timeout(120):
        out, complaints = await process.communicate()
    assert (process.returncode, complaints.decode()) == (0, "")
    return out.decode().splitlines()


async def test_files_go_in_while_a_node_is_lost(nodes: tuple[Node, ...], files: Path, tmp_path: Path) -> None:
    async with footnote(tmp_path, nodes, "added", "add", "files") as process:
        assert process.stdout is not None
        async with asyncio.timeout(60):
            for _ in range(5):
                assert await process.stdout.readline()
        await asyncio.to_thread((await holder(nodes, (await names(nodes, "added"))[0])).kill)
        lines = await finished(process)
    assert lines[-1].startswith("30 files: 30 added")
    async with footnote(tmp_path, nodes, "added", "kb", "list", "--json") as process:
        listed = "".join(await finished(process))
    async with footnote(tmp_path, nodes, "added", "ask", "For how many days is the berth 17 let?") as process:
        assert "117 days" in "".join(await finished(process))
    (base_,) = json.loads(listed)
    assert base_["documents"] == 30
    assert base_["chunks"] == int(lines[-1].split("(")[1].split()[0])


@pytest.mark.soak
async def test_files_wait_for_a_cluster_that_is_down(
    nodes: tuple[Node, ...], files: Path, tmp_path: Path
) -> None:
    for node in nodes:
        await asyncio.to_thread(node.kill)
    async with footnote(tmp_path, nodes, "waited", "add", "files") as process:
        assert process.stdout is not None
        async with asyncio.timeout(60):
            first = (await process.stdout.readline()).decode()
        assert first == "Waiting: The search index cannot be reached; try again in a moment.\n"
        for node in nodes:
            await asyncio.to_thread(node.launch)
        lines = await finished(process)
    assert lines.count("Continuing.") == 1
    assert lines[-1].startswith("30 files: 30 added")
