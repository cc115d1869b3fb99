"""A cluster of three in the tests: green, one lost by kill -9, still answering, and whole again."""

from __future__ import annotations

from tests.elastic.node import running_cluster
from tests.elastic.test_node import call, found, index_words


def test_a_cluster_loses_a_node_answers_and_becomes_whole_again() -> None:
    settings = {
        "number_of_shards": 1,
        "number_of_replicas": 2,
        "index.unassigned.node_left.delayed_timeout": "0",
    }
    with running_cluster() as nodes:
        first, second, third = nodes
        call(first.url, "PUT", "/words", {"settings": settings})
        first.wait_for(status="green", nodes=3)
        assert index_words(first.url, "words", ["ebb", "flood"])["errors"] is False
        first.kill()  # the holder of what it was just given, or the master: either way the others go on
        assert found(second.url, "words", "flood") == ["1"]
        assert index_words(third.url, "words", ["neap", "spring"])["errors"] is False
        assert found(second.url, "words", "spring") == ["1"]
        second.wait_for(nodes=2)
        first.start()
        first.wait_for(nodes=3, status="green")
        assert found(first.url, "words", "neap") == ["0"]
