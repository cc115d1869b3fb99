"""The legs of a question in one request, checked against manifests read after them."""

from __future__ import annotations

import math
import zlib
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from rag_engine.indexes.elasticsearch.dense import (
    BEST,
    MOST_CANDIDATES,
    NO_COSINE,
    dense_body,
    near_scores,
    near_wordings,
)
from rag_engine.indexes.elasticsearch.errors import kind_of, reason_of, unavailable
from rag_engine.indexes.elasticsearch.found_chunks import key_of, word_counts
from rag_engine.indexes.elasticsearch.manifests import key_of as manifest_key
from rag_engine.indexes.elasticsearch.manifests import searched_chunks
from rag_engine.indexes.elasticsearch.schema import FREQUENCIES
from rag_engine.text.surrogates import encodable
from rag_engine.types import Hit, Ranking

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from rag_engine.errors import IndexUnavailable
    from rag_engine.indexes.elasticsearch.found_chunks import ChunkKey, FoundPart, WordCounts
    from rag_engine.indexes.elasticsearch.lifecycle import IndexNames
    from rag_engine.indexes.elasticsearch.manifests import Manifest
    from rag_engine.indexes.elasticsearch.statistics import LexicalWeights
    from rag_engine.types import KnowledgeBaseId, Search

    Manifests = Mapping[KnowledgeBaseId, Manifest]
    SharedWords = tuple[list[str], list[tuple[Mapping[str, int], Collection[str]]], list[Manifest]]

_MANIFESTS_A_SEARCH = 5_000
_MOST_TOKENS = 1_000
"""Lucene allows at least 1,024."""
_MOST_TERMS = 60_000
"""Of one condition; the server's limit is 65,536."""
_SHARE_OF_TIME = 0.4
"""Beyond it the answer is degraded, not failed."""
_VIEW_LIFETIME = "1m"
_SHARED_WORTH = 0.5
_FEWEST_OF_FURTHER = 20
_LEXICAL_CANDIDATES_A_HIT = 1.5
_FEWEST_LEXICAL_CANDIDATES, _FEWEST_LEXICAL_OF_FURTHER = 150, 60
"""They hold the exact best ten (average lengths 15 to 400 tokens)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """`places`: the leg of a search; `near`: ranked by vectors."""

    lines: list[bytes]
    legs: int
    places: Mapping[int, int]
    near: Collection[int]


def search_request(
    searches: Sequence[Search],
    known: Manifests,
    names: IndexNames,
    *,
    weights: Mapping[int, LexicalWeights],
    seconds: float,
    keys_only: bool,
    mean: NDArray[np.float32] | None,
    moment: str = "",
) -> SearchRequest:
    """`weights` by number of the search; one without matches nothing. `moment`: a frozen view."""
    near = near_wordings(searches, mean) if keys_only and mean is not None else {}
    bodies, places = _bodies(searches, known, weights, near)
    preference = _preference(searches)
    header: dict[str, Any] = {} if moment else {"index": names.chunks, "preference": preference}
    lines: list[bytes] = []
    for body in bodies:
        if keys_only:
            # Reading stored fields takes longer than the search.
            body["stored_fields"] = "_none_"
        body["timeout"] = server_timeout(seconds)
        if moment:
            body["pit"] = {"id": moment, "keep_alive": _VIEW_LIFETIME}
        lines += (orjson.dumps(header), orjson.dumps(body, option=orjson.OPT_SERIALIZE_NUMPY))
    for part in _parts([] if moment else sorted(known)):
        body = {
            "query": {"ids": {"values": [manifest_key(base) for base in part]}},
            "size": len(part),
            "seq_no_primary_term": True,
            "track_total_hits": False,
        }
        header = {"index": names.manifests, "preference": preference}
        lines += (orjson.dumps(header), orjson.dumps(body))
    return SearchRequest(lines=lines, legs=len(bodies), places=places, near=near.keys())


def _bodies(
    searches: Sequence[Search],
    known: Manifests,
    weights: Mapping[int, LexicalWeights],
    near: Mapping[int, int],
) -> tuple[list[dict[str, Any]], dict[int, int]]:
    """Lexical searches with most words in common are one leg."""
    bodies: list[dict[str, Any]] = []
    places: dict[int, int] = {}
    groups: list[list[int]] = []
    dense = 0
    for number, search in enumerate(searches):
        visible = _visible(search, known)
        if visible is None:
            continue
        if number in near:
            places[number] = places[near[number]]
        elif search.leg == "dense":
            places[number] = len(bodies)
            bodies.append(dense_body(search, visible, is_first=not dense, is_shared=number in near.values()))
            dense += 1
        elif number in weights:
            for group in groups:
                if _may_share(number, group, searches, weights):
                    group.append(number)
                    break
            else:
                groups.append([number])
    for group in groups:
        fewest = _FEWEST_LEXICAL_OF_FURTHER if group is not groups[0] else _FEWEST_LEXICAL_CANDIDATES
        places |= dict.fromkeys(group, len(bodies))
        visible = _visible(searches[group[0]], known) or {}
        limits = [searches[number].limit for number in group]
        bodies.append(_lexical(visible, [weights[number] for number in group], limits, fewest))
    return bodies, places


def _may_share(
    number: int, group: Sequence[int], searches: Sequence[Search], weights: Mapping[int, LexicalWeights]
) -> bool:
    """Others would take each other's candidates."""
    one, other = searches[number], searches[group[0]]
    if (one.knowledge_bases, one.documents) != (other.knowledge_bases, other.documents):
        return False
    if sum(len(weights[each].words()) for each in (number, *group)) > _MOST_TOKENS:
        return False
    mine, theirs = weights[number].worth, weights[group[0]].worth
    shared = math.fsum(worth for word, worth in mine.items() if word in theirs)
    return shared >= _SHARED_WORTH * max(math.fsum(mine.values()), math.fsum(theirs.values()))


def server_timeout(seconds: float) -> str:
    return f"{int(_SHARE_OF_TIME * seconds * 1000)}ms"


def fault_of(responses: Sequence[Mapping[str, Any]]) -> IndexUnavailable | None:
    for response in responses:
        if "error" in response:
            reason = reason_of(int(response.get("status", 500)), response["error"])
            return unavailable(reason, kind_of(response["error"]))
    return None


def manifest_hits(
    responses: Sequence[Mapping[str, Any]], asked: SearchRequest
) -> Iterator[Mapping[str, Any]]:
    for response in responses[asked.legs :]:
        yield from response["hits"]["hits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LegHits:
    hits: Sequence[Mapping[str, Any]]
    keys: Sequence[ChunkKey]
    is_whole: bool
    is_near: bool = False


def leg_hits(responses: Sequence[Mapping[str, Any]], asked: SearchRequest) -> dict[int, LegHits]:
    """By number of the search."""
    found = [
        LegHits(
            hits=(hits := response["hits"]["hits"]),
            keys=[key_of(hit) for hit in hits],
            is_whole=not response["timed_out"] and not response["_shards"]["failed"],
        )
        for response in responses[: asked.legs]
    ]
    return {
        number: replace(found[place], is_near=True) if number in asked.near else found[place]
        for number, place in asked.places.items()
    }


def wanted_hits(legs: Mapping[int, LegHits]) -> dict[ChunkKey, Mapping[str, Any]]:
    own = [leg for leg in legs.values() if not leg.is_near]
    return {key: hit for leg in own for key, hit in zip(leg.keys, leg.hits, strict=True)}


def is_settled(legs: Mapping[int, LegHits], before: Manifests, after: Manifests) -> bool:
    if not all(after[base].shows_what(manifest) for base, manifest in before.items()):
        return False
    hidden = {generation for manifest in after.values() for generation in manifest.hidden}
    own = [leg for leg in legs.values() if not leg.is_near]
    return all(hidden.isdisjoint([generation for _, generation in leg.keys]) for leg in own)


def rankings(
    searches: Sequence[Search],
    legs: Mapping[int, LegHits],
    found: FoundPart,
    weights: Mapping[int, LexicalWeights],
) -> list[Ranking]:
    counted = _word_counts(legs, found, weights)
    scored = {
        number: weights[number].scores(counted[id(legs[number])])
        for number in weights
        if number in legs and id(legs[number]) in counted
    }
    scored |= near_scores(searches, legs, found)
    return [
        _ranking(search, legs.get(number), found, scored.get(number), weights.get(number))
        for number, search in enumerate(searches)
    ]


def _word_counts(
    legs: Mapping[int, LegHits], found: FoundPart, weights: Mapping[int, LexicalWeights]
) -> dict[int, WordCounts]:
    """Once for all queries of a leg, by its identity."""
    words: dict[int, set[str]] = {}
    for number, each in weights.items():
        if number in legs:
            words.setdefault(id(legs[number]), set()).update(each.words())
    keys = {id(leg): leg.keys for leg in legs.values()}
    return {
        leg: word_counts(chunks, sorted(wanted))
        for leg, wanted in words.items()
        if (chunks := [found.chunks[key] for key in keys[leg] if key in found.chunks])
    }


def _ranking(
    search: Search,
    leg: LegHits | None,
    found: FoundPart,
    scores: NDArray[np.float64] | None,
    weights: LexicalWeights | None,
) -> Ranking:
    if leg is None:
        return Ranking(leg=search.leg, hits=())
    keys = [key for key in leg.keys if key in found.chunks]
    if scores is not None:
        places = np.flatnonzero(scores > (NO_COSINE if leg.is_near else 0))
    else:
        there = zip(leg.keys, leg.hits, strict=True)
        # Elasticsearch returns (1 + cosine) / 2.
        cosines = [min(1.0, 2 * hit["sort"][0] - 1) for key, hit in there if key in found.chunks]
        scores, places = np.array(cosines), np.arange(len(cosines))
    if len(places) > search.limit:
        least = np.partition(scores[places], -search.limit)[-search.limit]
        places = places[scores[places] >= least]
    best = sorted(zip((-scores[places]).tolist(), [keys[place] for place in places], strict=True))
    return Ranking(
        leg=search.leg,
        hits=tuple(
            Hit(chunk=found.chunks[key].chunk, score=-score, rank=rank)
            for rank, (score, key) in enumerate(best[: search.limit], start=1)
        ),
        complete=found.is_whole and leg.is_whole,
        corrections=weights.corrections if weights else {},
        rarest=weights.rarest if weights else 0.0,
    )


def target(searches: Sequence[Search], names: IndexNames, moment: str) -> dict[str, Any]:
    if moment:
        return {"pit": {"id": moment, "keep_alive": _VIEW_LIFETIME}}
    return {"index": names.chunks, "preference": _preference(searches)}


def words_of(search: Search) -> dict[str, int]:
    room = _MOST_TOKENS - sum(1 + len(words) for words in search.synonyms.values())
    return dict(list(Counter(token for token in search.tokens if token.strip()).items())[: max(room, 1)])


def shared_words(searches: Iterable[Search], known: Manifests) -> list[SharedWords]:
    """Of lexical searches with one audience."""
    groups: dict[frozenset[KnowledgeBaseId], list[Search]] = {}
    for search in searches:
        groups.setdefault(search.knowledge_bases, []).append(search)
    found: list[SharedWords] = []
    for group in groups.values():
        words = {word for search in group for word in _all_words(search)}
        if len(group) > 1 and len(words) <= _MOST_TOKENS and (manifests := manifests_of(group[0], known)):
            found.append((sorted(words), [(words_of(search), search.literal) for search in group], manifests))
    return found


def _all_words(search: Search) -> Iterator[str]:
    yield from words_of(search)
    for base in search.synonyms.keys() & search.knowledge_bases:
        yield from search.synonyms[base]
    for forms in search.names:
        yield from forms


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


def _lexical(
    visible: Mapping[str, Any], weights: Sequence[LexicalWeights], limits: Sequence[int], fewest: int
) -> dict[str, Any]:
    terms = _terms(_greatest([each.worth for each in weights]))
    for base in {base for each in weights for base in each.synonyms}:
        words = _greatest([each.synonyms.get(base, {}) for each in weights])
        own = {"filter": [{"term": {"base": base}}], "should": _terms(words), "minimum_should_match": 1}
        terms += [{"bool": own}] if words else []
    most, *further = sorted(limits, reverse=True)
    candidates = max(fewest, int(_LEXICAL_CANDIDATES_A_HIT * most))
    candidates += sum(max(_FEWEST_OF_FURTHER, limit // 2) for limit in further) * 3 // 2
    return {
        "query": {"bool": {"must": [{"bool": {"should": terms}}], **visible}},
        "size": min(MOST_CANDIDATES, candidates),
        **BEST,
    }


def _greatest(worths: Sequence[Mapping[str, float]]) -> dict[str, float]:
    greatest: dict[str, float] = {}
    for worth in worths:
        for word, boost in worth.items():
            greatest[word] = max(boost, greatest.get(word, 0.0))
    return greatest


def _terms(worth: Mapping[str, float]) -> list[dict[str, Any]]:
    return [{"term": {FREQUENCIES: {"value": word, "boost": boost}}} for word, boost in worth.items()]


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
