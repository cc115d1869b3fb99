"""Every kind of vectors an operator may choose: the nearest are found, and scores are cosines."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

import numpy as np
import pytest

from rag_engine.indexes.elasticsearch.schema import VectorKind
from tests.contracts.indexing import IDENTITY, chunk, dense, document, lexical, put, vector
from tests.elastic.opening import bench

if TYPE_CHECKING:
    from rag_engine.types import Vector

WIDE = replace(IDENTITY, dimensions=64)


def wide(seed: int) -> Vector:
    return vector(seed, dimensions=64)


@pytest.mark.parametrize("kind", get_args(VectorKind))
async def test_the_nearest_are_found_with_their_cosines(elastic_node: str, kind: VectorKind) -> None:
    async with bench(elastic_node) as at, at.opened(WIDE, vectors=kind) as index:
        of = document("a")
        await index.put(of, [(chunk(of, "x", ordinal=i, name=f"{i:03}"), wide(i)) for i in range(200)])
        cosines = np.array([wide(number) for number in range(200)]) @ wide(1_000)
        (ranking,) = await index.search([dense(wide(1_000), limit=10)])
        assert [hit.score for hit in ranking.hits] == pytest.approx(np.sort(cosines)[::-1][:10], abs=1e-3)


async def test_hits_come_without_their_vectors(elastic_node: str) -> None:
    async with bench(elastic_node) as at, at.opened() as index:
        await put(index, document("a"), "red apple", "green pear")
        await index.search([lexical("apple"), dense(vector(0))])
        asked = at.proxy.seen("_msearch")[-1]
        searches = [json.loads(line) for line in asked.text.splitlines()]
        answer = await at.raw.msearch(searches=searches, index=asked.path.split("/")[1])
    sources = [hit["_source"] for found in answer["responses"] for hit in found["hits"]["hits"]]
    assert {source.get("text") for source in sources} >= {"red apple", "green pear"}
    assert not any("vector" in source for source in sources)
