"""The legs of a question in one request, checked against manifests read after them."""

from __future__ import annotations

import zlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from rag_engine.indexes.elasticsearch.documents import chunk_of
from rag_engine.indexes.elasticsearch.errors import kind_of, reason_of, unavailable
from rag_engine.indexes.elasticsearch.manifests import key_of, searched_chunks
from rag_engine.indexes.elasticsearch.schema import EXPANSIONS, FREQUENCIES
from rag_engine.text.surrogates import encodable
from rag_engine.types import Hit, Ranking

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rag_engine.errors import IndexUnavailable
    from rag_engine.indexes.elasticsearch.lifecycle import IndexNames
    from rag_engine.indexes.elasticsearch.manifests import Manifest
    from rag_engine.indexes.elasticsearch.statistics import LexicalWeights
    from rag_engine.types import Chunk, KnowledgeBaseId, Search

    Manifests = Mapping[KnowledgeBaseId, Manifest]

_MANIFESTS_A_SEARCH = 5_000
_MOST_TOKENS = 1_000
"""Lucene allows at least 1,024."""
_MOST_TERMS = 60_000
"""Of one condition; the server's limit is 65,536."""
_MOST_CANDIDATES = 10_000
_SHARE_OF_TIME = 0.4
"""Beyond it the answer is degraded, not failed."""
_VIEW_LIFETIME = "1m"
_CANDIDATES_A_HIT = 10
"""With fewer, filters that keep a tenth of the chunks lose hits."""
_FEWEST = 100
_LEXICAL_CANDIDATES_A_HIT = 1.5
_FEWEST_LEXICAL_CANDIDATES = 150
"""They hold the exact best ten for average lengths from 15 to 400 tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    lines: list[bytes]
    asked: tuple[int, ...]


def search_request(
    searches: Sequence[Search],
    known: Manifests,
    names: IndexNames,
    *,
    weights: Mapping[int, LexicalWeights],
    seconds: float,
    moment: str = "",
) -> SearchRequest:
    """One search per leg, then the manifests. `weights` by number of the search; one without matches nothing. `moment`:
    a frozen view.
    """
    lines: list[bytes] = []
    asked: list[int] = []
    preference = _preference(searches)
    for number, search in enumerate(searches):
        visible = _visible(search, known)
        if visible is None or (search.leg == "lexical" and number not in weights):
            continue
        header: dict[str, Any] = {} if moment else {"index": names.chunks, "preference": preference}
        lexical = weights.get(number)
        body = _lexical(search, visible, lexical) if lexical else _dense(search, visible)
        body["timeout"] = f"{int(_SHARE_OF_TIME * seconds * 1000)}ms"
        if moment:
            body["pit"] = {"id": moment, "keep_alive": _VIEW_LIFETIME}
        lines += (orjson.dumps(header), orjson.dumps(body, option=orjson.OPT_SERIALIZE_NUMPY))
        asked.append(number)
    for part in _parts([] if moment else sorted(known)):
        body = {
            "query": {"ids": {"values": [key_of(base) for base in part]}},
            "size": len(part),
            "seq_no_primary_term": True,
            "track_total_hits": False,
        }
        header = {"index": names.manifests, "preference": preference}
        lines += (orjson.dumps(header), orjson.dumps(body))
    return SearchRequest(lines=lines, asked=tuple(asked))


def fault_of(responses: Sequence[Mapping[str, Any]]) -> IndexUnavailable | None:
    for response in responses:
        if "error" in response:
            reason = reason_of(int(response.get("status", 500)), response["error"])
            return unavailable(reason, kind_of(response["error"]))
    return None


def manifest_hits(
    responses: Sequence[Mapping[str, Any]], asked: SearchRequest
) -> Iterator[Mapping[str, Any]]:
    for response in responses[len(asked.asked) :]:
        yield from response["hits"]["hits"]


def is_settled(
    responses: Sequence[Mapping[str, Any]], asked: SearchRequest, before: Manifests, after: Manifests
) -> bool:
    if not all(after[base].shows_what(manifest) for base, manifest in before.items()):
        return False
    hidden = {generation for manifest in after.values() for generation in manifest.hidden}
    return not any(
        hit["_source"]["generation"] in hidden
        for response in responses[: len(asked.asked)]
        for hit in response["hits"]["hits"]
    )


def rankings(
    searches: Sequence[Search],
    responses: Sequence[Mapping[str, Any]],
    asked: SearchRequest,
    known: Manifests,
    weights: Mapping[int, LexicalWeights],
) -> list[Ranking]:
    found = _FoundChunks(
        bases={manifest.base: base for base, manifest in known.items()},
        words={word for each in weights.values() for word in each.words()},
    )
    by_number = dict(zip(asked.asked, responses, strict=False))
    return [
        _ranking(search, by_number.get(number), found, weights.get(number))
        for number, search in enumerate(searches)
    ]


def _ranking(
    search: Search,
    response: Mapping[str, Any] | None,
    found: _FoundChunks,
    weights: LexicalWeights | None,
) -> Ranking:
    if response is None:
        return Ranking(leg=search.leg, hits=())
    hits = response["hits"]["hits"]
    if weights:
        scores = [weights.score(*found.counts(hit), hit["_source"]["base"]) for hit in hits]
    else:
        # Elasticsearch returns (1 + cosine) / 2.
        scores = [min(1.0, 2 * hit["_score"] - 1) for hit in hits]
    scored = sorted(
        (
            (-score, hit["_source"]["chunk"], place)
            for place, (score, hit) in enumerate(zip(scores, hits, strict=True))
        )
    )[: search.limit]
    return Ranking(
        leg=search.leg,
        hits=tuple(
            Hit(chunk=found.chunk(hits[place]), score=-score, rank=rank)
            for rank, (score, _, place) in enumerate(scored, start=1)
        ),
        complete=not response["timed_out"] and not response["_shards"]["failed"],
        corrections=weights.corrections if weights else {},
    )


class _FoundChunks:
    """Each is made once, whichever queries find it."""

    def __init__(self, *, bases: Mapping[str, KnowledgeBaseId], words: set[str]) -> None:
        self._bases = bases
        self._is_asked = words.__contains__
        self._chunks: dict[str, Chunk] = {}
        self._counts: dict[str, tuple[Mapping[str, int], int]] = {}

    def chunk(self, hit: Mapping[str, Any]) -> Chunk:
        made = self._chunks.get(hit["_id"])
        if made is None:
            source = hit["_source"]
            made = self._chunks[hit["_id"]] = chunk_of(source, self._bases[source["base"]])
        return made

    def counts(self, hit: Mapping[str, Any]) -> tuple[Mapping[str, int], int]:
        """Of the asked words, and of all tokens."""
        counted = self._counts.get(hit["_id"])
        if counted is None:
            tokens: list[str] = hit["_source"]["tokens"].split(" ")
            counts: dict[str, int] = {}
            for token in filter(self._is_asked, tokens):
                counts[token] = counts.get(token, 0) + 1
            counted = self._counts[hit["_id"]] = (counts, len(tokens))
        return counted


def target(searches: Sequence[Search], names: IndexNames, moment: str) -> dict[str, Any]:
    if moment:
        return {"pit": {"id": moment, "keep_alive": _VIEW_LIFETIME}}
    return {"index": names.chunks, "preference": _preference(searches)}


def words_of(search: Search) -> dict[str, int]:
    room = _MOST_TOKENS - sum(1 + len(words) for words in search.synonyms.values())
    return dict(list(Counter(token for token in search.tokens if token.strip()).items())[: max(room, 1)])


def manifests_of(search: Search, known: Manifests) -> list[Manifest]:
    return [known[base] for base in sorted(search.knowledge_bases) if known[base].base]


def _visible(search: Search, known: Manifests) -> dict[str, Any] | None:
    manifests = manifests_of(search, known)
    if not manifests or search.documents == frozenset():
        return None
    visible = searched_chunks(manifests)
    if search.documents is not None:
        visible["filter"].append(_of_documents(sorted(map(encodable, search.documents))))
    return visible


def _of_documents(documents: Sequence[str]) -> dict[str, Any]:
    parts = [documents[start : start + _MOST_TERMS] for start in range(0, len(documents), _MOST_TERMS)]
    wanted = [{"terms": {"document": part}} for part in parts]
    return wanted[0] if len(wanted) == 1 else {"bool": {"should": wanted}}


def _lexical(search: Search, visible: Mapping[str, Any], weights: LexicalWeights) -> dict[str, Any]:
    terms = _terms(weights.worth)
    for base, words in weights.synonyms.items():
        own = {"filter": [{"term": {"base": base}}], "should": _terms(words), "minimum_should_match": 1}
        terms += [{"bool": own}] if words else []
    candidates = max(_FEWEST_LEXICAL_CANDIDATES, int(_LEXICAL_CANDIDATES_A_HIT * search.limit))
    return {
        "query": {"bool": {"must": [{"bool": {"should": terms}}], **visible}},
        "sort": [{"_score": "desc"}, {"chunk": "asc"}],
        "size": min(_MOST_CANDIDATES, candidates),
        "track_total_hits": False,
    }


def _terms(worth: Mapping[str, float]) -> list[dict[str, Any]]:
    return [{"term": {FREQUENCIES: {"value": word, "boost": boost}}} for word, boost in worth.items()]


def _dense(search: Search, visible: Mapping[str, Any]) -> dict[str, Any]:
    nearest = min(_MOST_CANDIDATES, max(search.limit, _FEWEST))
    return {
        "knn": {
            "field": f"{EXPANSIONS[search.expansion]}.vector" if search.expansion else "vector",
            "query_vector": np.ascontiguousarray(search.vector, dtype=np.float32),
            "k": nearest,
            "num_candidates": min(_MOST_CANDIDATES, _CANDIDATES_A_HIT * nearest),
            "filter": {"bool": visible},
        },
        "sort": [{"_score": "desc"}, {"chunk": "asc"}],
        "size": search.limit,
        "_source": {"excludes": ["tokens", *EXPANSIONS.values()]},
        "track_total_hits": False,
    }


def _preference(searches: Sequence[Search]) -> str:
    """The same shard copies keep a question's answer stable."""
    digest = 0
    for search in searches:
        digest = zlib.crc32(" ".join(search.tokens).encode("utf-8", "replace"), digest)
        if search.vector is not None:
            digest = zlib.crc32(search.vector.tobytes(), digest)
    return f"q{digest:08x}"


def _parts(bases: Sequence[KnowledgeBaseId]) -> Iterator[Sequence[KnowledgeBaseId]]:
    for start in range(0, len(bases), _MANIFESTS_A_SEARCH):
        yield bases[start : start + _MANIFESTS_A_SEARCH]
