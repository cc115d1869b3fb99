"""The nearest vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rag_engine.indexes.elasticsearch.found_chunks import BY_KEY
from rag_engine.indexes.elasticsearch.schema import EXPANSIONS
from rag_engine.retrieval.ranking.near_wordings import are_near_first

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rag_engine.indexes.elasticsearch.found_chunks import FoundPart
    from rag_engine.indexes.elasticsearch.search import LegHits
    from rag_engine.types import Search

MOST_CANDIDATES = 10_000
_CANDIDATES_A_HIT = 10
"""With fewer, filters that keep a tenth of the chunks lose hits."""
_FURTHER_CANDIDATES_A_HIT = 2
_FEWEST, _FEWEST_OF_FURTHER = 100, 20
_SHARED, _SHARED_PER_HIT = 150, 5

NO_COSINE = -2.0

BEST: Mapping[str, Any] = {"sort": [{"_score": "desc"}, *BY_KEY], "track_total_hits": False}


def near_wordings(searches: Sequence[Search]) -> dict[int, int]:
    """By number of the search, the one whose candidates it takes."""
    groups: dict[object, list[int]] = {}
    for number, search in enumerate(searches):
        if search.vector is not None and not search.expansion:
            groups.setdefault((search.knowledge_bases, search.documents), []).append(number)
    return {
        number: numbers[0]
        for numbers in groups.values()
        if len(numbers) > 1
        for number, is_near in zip(
            numbers, are_near_first(np.array([searches[each].vector for each in numbers])), strict=True
        )
        if is_near
        and number != numbers[0]
        and _SHARED_PER_HIT * searches[number].limit <= max(searches[numbers[0]].limit, _SHARED)
    }


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
