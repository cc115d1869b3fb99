"""A real node in the tests: it starts, finds, and keeps what it has acknowledged."""

from __future__ import annotations

import httpx2


def test_the_shared_node_says_its_version(elastic_node: str) -> None:
    nodes = httpx2.get(f"{elastic_node}/_nodes/_local", timeout=10).json()["nodes"]
    assert [node["version"].split(".")[0] for node in nodes.values()] == ["9"]
