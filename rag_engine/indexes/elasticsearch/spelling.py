"""Elasticsearch's suggester knows whole indexes only, not the searched knowledge bases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rag_engine.text import name_similarity
from rag_engine.text.spelling import edits, most_edits

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

PAGE = 100
"""Chunks read at a time."""
ROUNDS = 4
"""Each leaves out chunks with known words."""


def near_query(word: str) -> dict[str, Any]:
    return _fuzzy(word, fuzziness=most_edits(word), prefix_length=1)


def similar_query(name: str) -> dict[str, Any]:
    near = _fuzzy(name, fuzziness=min(2, name_similarity.most_edits(name) + 1), prefix_length=0)
    return {"bool": {"should": [near, {"prefix": {"tokens": {"value": name, "rewrite": "constant_score"}}}]}}


def _fuzzy(word: str, *, fuzziness: int, prefix_length: int) -> dict[str, Any]:
    near = {
        "value": word,
        "fuzziness": fuzziness,
        "prefix_length": prefix_length,
        "rewrite": "constant_score",
    }
    return {"fuzzy": {"tokens": near}}


def near_request(
    near: Mapping[str, Any], visible: Mapping[str, Any], known: Collection[str]
) -> dict[str, Any]:
    return {
        "query": {
            "bool": {
                "filter": [{"bool": visible}, near],
                "must_not": [{"terms": {"tokens": sorted(known)}}],
            }
        },
        "sort": [{"chunk": "asc"}],
        "size": PAGE,
        "source_includes": ["tokens"],
        "track_total_hits": False,
    }


def near_words(word: str, texts: Iterable[str]) -> set[str]:
    most = most_edits(word)
    words = {found for found in _words(texts) if found[:1] == word[:1]}
    return {found for found in words if 0 < edits(word, found, most=most) <= most}


def similar_words(name: str, texts: Iterable[str]) -> set[str]:
    return {found for found in _words(texts) if name_similarity.similarity(name, found)}


def _words(texts: Iterable[str]) -> set[str]:
    return {word for tokens in texts for word in tokens.split(" ")}


def by_edits(word: str, found: Iterable[str]) -> Mapping[int, Sequence[str]]:
    near: dict[int, list[str]] = {}
    for other in sorted(found):
        near.setdefault(edits(word, other, most=most_edits(word)), []).append(other)
    return near
