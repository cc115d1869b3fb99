"""Queries of a reply that is still being written are embedded already."""

from __future__ import annotations

import asyncio
import json

import numpy as np
import pytest

from rag_engine.errors import EmbedderUnavailable
from rag_engine.retrieval.queries.early_vectors import EarlyVectors, written_strings
from tests.unit.steps.test_retrieve import OneVector

_REPLY = json.dumps(
    {
        "route": "search",
        "question": 'The "office" hours\nin London?',
        "queries": ["London hours", "opening times"],
        "keywords": ["London"],
        "translations": {"de": "Öffnungszeiten in London?"},
    },
    ensure_ascii=True,
)


def test_finished_strings_are_read_at_every_cut() -> None:
    whole = ['The "office" hours\nin London?', "London hours", "opening times", "Öffnungszeiten in London?"]
    assert written_strings(_REPLY) == whole

    for cut in range(len(_REPLY)):
        found = written_strings(_REPLY[:cut])
        assert found == whole[: len(found)]


@pytest.mark.parametrize(
    "reply", ["", "no JSON", '{"queries": 7}', '{"queries": [1, "a"]}', '{"question": null, "queries": [[]]}']
)
def test_other_replies_have_none(reply: str) -> None:
    assert written_strings(reply) == []


async def test_each_query_is_embedded_once() -> None:
    embedder = OneVector()
    early = EarlyVectors(embedder)
    for cut in range(len(_REPLY)):
        early.follow(_REPLY[:cut])
        await asyncio.sleep(0)
    before = [text for texts, _ in embedder.asked for text in texts]
    found = await early.embed(["opening times", "another", "London hours", "another"])

    assert before[1:] == ["London hours", "opening times", "Öffnungszeiten in London?"]
    assert [text for texts, _ in embedder.asked for text in texts] == [*before, "another"]
    assert np.array_equal(found, np.tile([1, 0], (4, 1)))


async def test_a_long_reply_embeds_few() -> None:
    embedder = OneVector()
    early = EarlyVectors(embedder)
    early.follow(json.dumps({"queries": [f"query {number}" for number in range(100)]}))
    early.follow(json.dumps({"queries": ["x" * 9_000]}))
    await asyncio.sleep(0)

    assert len(embedder.asked) == 8


async def test_a_failure_is_raised_where_the_vector_is_needed() -> None:
    early = EarlyVectors(OneVector(failure=EmbedderUnavailable("It is closed.")))
    early.follow('{"question": "London?"}')
    await asyncio.sleep(0)

    with pytest.raises(EmbedderUnavailable):
        await early.embed(["London?"])
