"""Elasticsearch's suggester knows whole indexes only, not the searched knowledge bases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rag_engine.text.spelling import edits, most_edits

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

PAGE = 100
"""Chunks read at a time."""
ROUNDS = 4
"""Each leaves out chunks with known words."""


def near_request(word: str, visible: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    near = {
        "value": word,
        "fuzziness": most_edits(word),
        "prefix_length": 1,
        "rewrite": "constant_score",
    }
    return {
        "query": {
            "bool": {
                "filter": [{"bool": visible}, {"fuzzy": {"tokens": near}}],
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
    words = {found for tokens in texts for found in tokens.split(" ") if found[:1] == word[:1]}
    return {found for found in words if 0 < edits(word, found, most=most) <= most}


def by_edits(word: str, found: Iterable[str]) -> Mapping[int, Sequence[str]]:
    near: dict[int, list[str]] = {}
    for other in sorted(found):
        near.setdefault(edits(word, other, most=most_edits(word)), []).append(other)
    return near
