"""A real node in the tests: it starts, finds, keeps what it acknowledged, refuses for real, and is never left behind."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, cast

import httpx2
import pytest

from tests.elastic.node import Node, running_node

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TINY = {
    "thread_pool.search.size": 1,
    "thread_pool.search.queue_size": 1,
    "indexing_pressure.memory.limit": "1kb",
}


@pytest.fixture(scope="module")
def tiny_node() -> Iterator[Node]:
    """A node that refuses: one search at a time and one waiting, and a kilobyte of writing."""
    with running_node(TINY) as node:
        yield node


def call(url: str, method: str, path: str, body: object = None) -> dict[str, object]:
    """One request in JSON, or in JSON lines for a list; the answer whatever its status."""
    lines = body if isinstance(body, list) else [body]
    content = "".join(json.dumps(line) + "\n" for line in lines) if body is not None else None
    kind = "application/x-ndjson" if isinstance(body, list) else "application/json"
    response = httpx2.request(
        method, url + path, content=content, headers={"content-type": kind}, timeout=60, trust_env=False
    )
    return cast("dict[str, object]", response.json())


def index_words(url: str, name: str, words: list[str]) -> dict[str, object]:
    """Index one document for each word; the answer of `_bulk`."""
    lines: list[object] = []
    for ordinal, word in enumerate(words):
        lines += [{"index": {"_id": str(ordinal)}}, {"word": word}]
    return call(url, "POST", f"/{name}/_bulk?refresh=wait_for", lines)


def found(url: str, name: str, word: str) -> list[str]:
    """The ids of the documents that have the word."""
    answer = call(url, "POST", f"/{name}/_search", {"query": {"match": {"word": word}}})
    hits = cast("dict[str, list[dict[str, str]]]", answer["hits"])["hits"]
    return [hit["_id"] for hit in hits]


def is_closed(connection: socket.socket) -> bool:
    """Wait until the other side is gone, in whichever way its system says so."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_the_shared_node_says_its_version_indexes_and_finds(elastic_node: str) -> None:
    nodes = cast("dict[str, dict[str, str]]", call(elastic_node, "GET", "/_nodes/_local")["nodes"])
    assert [node["version"].split(".")[0] for node in nodes.values()] == ["9"]
    assert index_words(elastic_node, "words", ["ebb", "flood"])["errors"] is False
    assert found(elastic_node, "words", "flood") == ["1"]
    call(elastic_node, "DELETE", "/words")


def test_killed_and_started_again_a_node_has_what_it_acknowledged(tiny_node: Node) -> None:
    answer = index_words(tiny_node.url, "kept", ["ebb", "flood"])
    assert answer["errors"] is False
    first = tiny_node.pid
    tiny_node.kill()
    assert tiny_node.pid is None
    with pytest.raises(httpx2.ConnectError):
        call(tiny_node.url, "GET", "/")
    tiny_node.start()
    assert tiny_node.pid not in (first, None)
    tiny_node.wait_for(no_initializing_shards=True, status="yellow")
    assert found(tiny_node.url, "kept", "ebb") == ["0"]


def test_a_node_with_a_tiny_queue_refuses_searches(tiny_node: Node) -> None:
    call(tiny_node.url, "PUT", "/queue", {"settings": {"number_of_shards": 4, "number_of_replicas": 0}})
    searches = [{}, {"query": {"match_all": {}}}] * 200
    answer = call(tiny_node.url, "POST", "/queue/_msearch?max_concurrent_searches=200", searches)
    assert "es_rejected_execution_exception" in json.dumps(answer["responses"])


def test_a_node_with_little_memory_for_writing_refuses_a_bulk(tiny_node: Node) -> None:
    answer = index_words(tiny_node.url, "pressure", ["flood" * 1000])
    assert answer["status"] == 429
    assert cast("dict[str, str]", answer["error"])["type"] == "es_rejected_execution_exception"


def test_a_setting_that_elasticsearch_refuses_is_reported_with_the_log() -> None:
    with (
        pytest.raises(Exception, match=r"unknown setting \[no\.such\]") as raised,
        running_node({"no.such": 1}),
    ):
        pass
    assert "node.log" in str(raised.value)


def test_a_node_does_not_outlive_the_process_that_started_it(tmp_path: Path) -> None:
    program = (
        "from tests.elastic.node import running_node\n"
        "with running_node() as node:\n"
        "    print(node.http_port, flush=True)\n"
        "    input()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as starter:
        assert starter.stdout is not None
        port = int(starter.stdout.readline())
        with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
            starter.send_signal(signal.SIGKILL)
            assert is_closed(connection)


@pytest.mark.parametrize(("ci", "outcome"), [(None, "1 skipped"), ("true", "1 error")])
def test_where_nothing_is_installed_one_line_says_so(tmp_path: Path, ci: str | None, outcome: str) -> None:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("JAVA_HOME", "CI"))
    }
    environment |= {"PATH": str(tmp_path), **({"CI": ci} if ci else {})}
    test = f"{__file__}::test_the_shared_node_says_its_version_indexes_and_finds"
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert outcome in result.stdout
    line = "the tests with a real Elasticsearch need a JDK of version 21 or later (JAVA_HOME names it) and Maven (mvn)"
    assert line in result.stdout
