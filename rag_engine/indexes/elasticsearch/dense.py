"""The nearest vectors."""

from __future__ import annotations

import logging
import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_engine.errors import IndexUnavailable
from rag_engine.indexes.elasticsearch.errors import translate_errors
from rag_engine.indexes.elasticsearch.found_chunks import BY_KEY, vector_field, vector_of
from rag_engine.indexes.elasticsearch.schema import EXPANSIONS
from rag_engine.retrieval.ranking.near_wordings import are_near_first

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rag_engine.indexes.elasticsearch.cluster import Cluster
    from rag_engine.indexes.elasticsearch.found_chunks import FoundPart
    from rag_engine.indexes.elasticsearch.lifecycle import IndexNames
    from rag_engine.indexes.elasticsearch.search import LegHits
    from rag_engine.types import Search

_log = logging.getLogger(__name__)

MOST_CANDIDATES = 10_000
_CANDIDATES_A_HIT = 10
"""With fewer, narrow filters lose hits."""
_FURTHER_CANDIDATES_A_HIT = 2
_FEWEST, _FEWEST_OF_FURTHER = 100, 20
_SHARED, _SHARED_PER_HIT = 150, 5

NO_COSINE = -2.0

_SAMPLE = 256
_SAMPLED_AGAIN_SECONDS = 60.0

BEST: Mapping[str, Any] = {"sort": [{"_score": "desc"}, *BY_KEY], "track_total_hits": False}


class MeanVector:
    """Of sampled passages, alike in some models."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._names: IndexNames | None = None
        self._mean: NDArray[np.float32] | None = None
        self._again_at = 0.0

    async def of(self, searches: Sequence[Search], names: IndexNames) -> NDArray[np.float32] | None:
        """None if unknown or not needed."""
        if not _wordings(searches):
            return None
        if names != self._names or time.monotonic() >= self._again_at:
            try:
                self._mean, is_whole = await self._sampled(names)
            except IndexUnavailable as error:
                _log.info("the mean of the passages is unknown: %s", error)
                self._mean, is_whole = None, False
            self._names = names
            self._again_at = math.inf if is_whole else time.monotonic() + _SAMPLED_AGAIN_SECONDS
        return self._mean

    async def _sampled(self, names: IndexNames) -> tuple[NDArray[np.float32] | None, bool]:
        drawn = {"query": {"exists": {"field": "vector"}}, "random_score": {"seed": 0, "field": "_seq_no"}}
        with translate_errors():
            answer = await self._cluster.reader.search(
                index=names.chunks,
                query={"function_score": drawn},
                size=_SAMPLE,
                stored_fields="_none_",
                docvalue_fields=[vector_field()],
                track_total_hits=False,
            )
        found = [np.frombuffer(vector_of(hit), dtype=np.float32) for hit in answer["hits"]["hits"]]
        return (np.mean(found, axis=0) if found else None), len(found) == _SAMPLE


def near_wordings(searches: Sequence[Search], mean: NDArray[np.float32]) -> dict[int, int]:
    """By number of the search, the one whose candidates it takes."""
    return {
        number: numbers[0]
        for numbers in _wordings(searches)
        for number, is_near in zip(
            numbers, are_near_first(np.array([searches[each].vector for each in numbers]), mean), strict=True
        )
        if is_near
        and number != numbers[0]
        and _SHARED_PER_HIT * searches[number].limit <= max(searches[numbers[0]].limit, _SHARED)
    }


def _wordings(searches: Sequence[Search]) -> list[list[int]]:
    groups: dict[object, list[int]] = {}
    for number, search in enumerate(searches):
        if search.vector is not None and not search.expansion:
            groups.setdefault((search.knowledge_bases, search.documents), []).append(number)
    return [numbers for numbers in groups.values() if len(numbers) > 1]


def dense_body(
    search: Search, visible: Mapping[str, Any], *, is_first: bool, is_shared: bool
) -> dict[str, Any]:
    own = max(search.limit, _FEWEST if is_first else _FEWEST_OF_FURTHER)
    nearest = min(MOST_CANDIDATES, max(own, _SHARED) if is_shared else own)
    examined = own * (_CANDIDATES_A_HIT if is_first else _FURTHER_CANDIDATES_A_HIT)
    knn = {
        "field": f"{EXPANSIONS[search.expansion]}.vector" if search.expansion else "vector",
        "query_vector": np.ascontiguousarray(search.vector, dtype=np.float32),
        "k": nearest,
        "num_candidates": min(MOST_CANDIDATES, max(examined, nearest, _FEWEST)),
        "filter": {"bool": visible},
    }
    # As a query it takes one phase less, but finds no nested vectors by itself.
    asked = {"knn": knn} if search.expansion else {"query": {"knn": knn}}
    return {**asked, "size": nearest if is_shared else search.limit, **BEST}


def near_scores(
    searches: Sequence[Search], legs: Mapping[int, LegHits], found: FoundPart
) -> dict[int, NDArray[np.float64]]:
    """By number of the search."""
    groups: dict[int, list[int]] = {}
    for number, leg in legs.items():
        if leg.is_near:
            groups.setdefault(id(leg.keys), []).append(number)
    scored: dict[int, NDArray[np.float64]] = {}
    for numbers in groups.values():
        vectors = [found.chunks[key].vector for key in legs[numbers[0]].keys if key in found.chunks]
        wanted = np.array([searches[number].vector for number in numbers], dtype=np.float32)
        scored |= zip(numbers, _cosines(vectors, wanted), strict=True)
    return scored


def _cosines(vectors: Sequence[bytes | None], wanted: NDArray[np.float32]) -> NDArray[np.float64]:
    found = np.full((len(wanted), len(vectors)), NO_COSINE)
    places = [place for place, vector in enumerate(vectors) if vector]
    matrix = np.frombuffer(b"".join([vector for vector in vectors if vector]), dtype=np.float32)
    lengths = np.linalg.norm(wanted, axis=1, keepdims=True)
    found[:, places] = wanted @ matrix.reshape(-1, wanted.shape[1]).T / lengths
    return found
