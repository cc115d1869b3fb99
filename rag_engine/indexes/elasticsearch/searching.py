"""The legs of a question in one request, checked against the manifests read after them."""

from __future__ import annotations

import zlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from rag_engine.indexes.elasticsearch.documents import chunk_of
from rag_engine.indexes.elasticsearch.faults import kind_of, reason_of, unavailable
from rag_engine.indexes.elasticsearch.manifests import key_of
from rag_engine.indexes.elasticsearch.schema import K1
from rag_engine.spelling import SHARE
from rag_engine.types import Hit, Ranking

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rag_engine.errors import IndexUnavailable
    from rag_engine.indexes.elasticsearch.lifecycle import Names
    from rag_engine.indexes.elasticsearch.manifests import Manifest
    from rag_engine.types import KnowledgeBaseId, Search

    Manifests = Mapping[KnowledgeBaseId, Manifest]

_MANIFESTS_A_SEARCH = 5_000
_MOST_TOKENS = 1_000
"""Distinct words of one search; Lucene takes 1,024 and more, by the memory it has."""
_MOST_CANDIDATES = 10_000
"""The server takes no more."""
_SHARE_OF_TIME = 0.4
"""What each leg may take of the time for a question: then it answers with what it has, which is a degraded answer and no failure."""
_KEPT = "1m"
_CANDIDATES_A_HIT = 10
"""Looked at for each hit asked for; with fewer, filters that keep a tenth of the chunks lose some (benchmarks.vector_index_options)."""
_FEWEST = 100
"""Hits asked for, at least: among them the nearest are certain, and ties can be broken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question to the cluster: the lines of the request, and which searches it asks; the others have nothing to find."""

    lines: list[bytes]
    asked: tuple[int, ...]


def request(
    searches: Sequence[Search],
    known: Manifests,
    names: Names,
    *,
    corrected: Mapping[str, Sequence[str]],
    seconds: float,
    moment: str = "",
) -> Asked:
    """What to send: a search for each leg, in order, and last of all one for the manifests that were relied on.

    They are run one after the other, so that the manifests are read when the legs are done. `corrected`: words of the question
    that no chunk has, and what they were probably meant to be. `moment`: a view of the index that `known` belongs to; nothing need be
    checked then.
    """
    lines: list[bytes] = []
    asked: list[int] = []
    preference = _preference(searches)
    for number, search in enumerate(searches):
        visible = _visible(search, known)
        if visible is None or (search.leg == "lexical" and not search.tokens):
            continue
        header: dict[str, Any] = {} if moment else {"index": names.chunks, "preference": preference}
        if names.shards > 1 and search.leg == "lexical":
            header["search_type"] = "dfs_query_then_fetch"  # one shard's word frequencies are not the index's
        body = _lexical(search, visible, corrected) if search.leg == "lexical" else _dense(search, visible)
        body["timeout"] = f"{int(_SHARE_OF_TIME * seconds * 1000)}ms"
        if moment:
            body["pit"] = {"id": moment, "keep_alive": _KEPT}
        lines += (orjson.dumps(header), orjson.dumps(body, option=orjson.OPT_SERIALIZE_NUMPY))
        asked.append(number)
    for part in _parts([] if moment else sorted(known)):
        body = {
            "query": {"ids": {"values": [key_of(base) for base in part]}},
            "size": len(part),
            "seq_no_primary_term": True,
            "track_total_hits": False,
        }
        lines += (
            orjson.dumps({"index": names.manifests, "preference": preference}),
            orjson.dumps(body),
        )
    return Asked(lines=lines, asked=tuple(asked))


def fault_of(responses: Sequence[Mapping[str, Any]]) -> IndexUnavailable | None:
    """The first search that failed as a whole, if any."""
    for response in responses:
        if "error" in response:
            reason = reason_of(int(response.get("status", 500)), response["error"])
            return unavailable(reason, kind_of(response["error"]))
    return None


def manifest_hits(responses: Sequence[Mapping[str, Any]], asked: Asked) -> Iterator[Mapping[str, Any]]:
    """The hits of the searches for manifests."""
    for response in responses[len(asked.asked) :]:
        yield from response["hits"]["hits"]


def is_settled(
    responses: Sequence[Mapping[str, Any]], asked: Asked, before: Manifests, after: Manifests
) -> bool:
    """Whether what the legs found is one version of each knowledge base: nothing was published or withdrawn meanwhile."""
    if not all(after[base].shows_what(manifest) for base, manifest in before.items()):
        return False
    hidden = {generation for manifest in after.values() for generation in manifest.hidden}
    return not any(
        hit["_source"]["generation"] in hidden
        for response in responses[: len(asked.asked)]
        for hit in response["hits"]["hits"]
    )


def rankings(
    searches: Sequence[Search], responses: Sequence[Mapping[str, Any]], asked: Asked, known: Manifests
) -> list[Ranking]:
    """What each search found, in order."""
    bases = {manifest.base: base for base, manifest in known.items()}
    by_number = dict(zip(asked.asked, responses, strict=False))
    return [_ranking(search, by_number.get(number), bases) for number, search in enumerate(searches)]


def _ranking(
    search: Search, response: Mapping[str, Any] | None, bases: Mapping[str, KnowledgeBaseId]
) -> Ranking:
    if response is None:
        return Ranking(leg=search.leg, hits=())
    hits = [
        (_score(search, hit["_score"]), chunk_of(hit["_source"], bases[hit["_source"]["base"]]))
        for hit in response["hits"]["hits"]
    ]
    hits.sort(key=lambda hit: (-hit[0], hit[1].id))
    return Ranking(
        leg=search.leg,
        hits=tuple(
            Hit(chunk=chunk, score=score, rank=rank) for rank, (score, chunk) in enumerate(hits, start=1)
        ),
        complete=not response["timed_out"] and not response["_shards"]["failed"],
    )


def _score(search: Search, score: float) -> float:
    """Elasticsearch gives (1 + cosine) / 2, and BM25 times the k1 + 1 that Lucene has left out since version 8."""
    return min(1.0, 2 * score - 1) if search.leg == "dense" else score / (K1 + 1)


def _visible(search: Search, known: Manifests) -> dict[str, Any] | None:
    """The filter of what a search may see; None when that is nothing."""
    bases = sorted(known[base].base for base in search.knowledge_bases if known[base].base)
    if not bases:
        return None
    hidden = sorted({name for base in search.knowledge_bases for name in known[base].hidden})
    seen: dict[str, Any] = {"filter": [{"terms": {"base": bases}}]}
    if hidden:
        seen["must_not"] = [{"terms": {"generation": hidden}}]
    return seen


def _lexical(
    search: Search, visible: Mapping[str, Any], corrected: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    counts = Counter(token for token in search.tokens if token.strip())
    words: dict[int, list[str]] = {1: []}  # no words find nothing, no clauses everything
    for word, count in list(counts.items())[:_MOST_TOKENS]:
        words.setdefault(count, []).append(word)
    clauses: list[dict[str, Any]] = [
        {"match": {"tokens": {"query": " ".join(alike), "boost": count}}} for count, alike in words.items()
    ]
    for word in corrected.keys() & counts:  # others are another search's
        boost = SHARE * counts[word]
        clauses += [{"term": {"tokens": {"value": each, "boost": boost}}} for each in corrected[word]]
    return {
        "query": {"bool": {"must": [{"bool": {"should": clauses}}], **visible}},
        "sort": [{"_score": "desc"}, {"chunk": "asc"}],
        "size": search.limit,
        "track_total_hits": False,
    }


def _dense(search: Search, visible: Mapping[str, Any]) -> dict[str, Any]:
    nearest = min(_MOST_CANDIDATES, max(search.limit, _FEWEST))
    return {
        "knn": {
            "field": "vector",
            "query_vector": np.ascontiguousarray(search.vector, dtype=np.float32),
            "k": nearest,
            "num_candidates": min(_MOST_CANDIDATES, _CANDIDATES_A_HIT * nearest),
            "filter": {"bool": visible},
        },
        "sort": [{"_score": "desc"}, {"chunk": "asc"}],
        "size": search.limit,
        "track_total_hits": False,
    }


def _preference(searches: Sequence[Search]) -> str:
    """The same question goes to the same copies of the shards, which is why it gets the same answer; others to others."""
    digest = 0
    for search in searches:
        digest = zlib.crc32(" ".join(search.tokens).encode("utf-8", "replace"), digest)
        if search.vector is not None:
            digest = zlib.crc32(search.vector.tobytes(), digest)
    return f"q{digest:08x}"


def _parts(bases: Sequence[KnowledgeBaseId]) -> Iterator[Sequence[KnowledgeBaseId]]:
    for start in range(0, len(bases), _MANIFESTS_A_SEARCH):
        yield bases[start : start + _MANIFESTS_A_SEARCH]
