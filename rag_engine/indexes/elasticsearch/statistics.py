"""BM25 statistics of the searched knowledge bases alone, so nothing is revealed of others.

Words are counted first; exact scores are computed here.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_engine.errors import IndexUnavailable, first_error
from rag_engine.indexes.elasticsearch import spelling
from rag_engine.indexes.elasticsearch.errors import translate_errors
from rag_engine.indexes.elasticsearch.manifests import searched_chunks
from rag_engine.retrieval.ranking.bm25 import gain
from rag_engine.text.name_similarity import lacking, replacements, similar_words
from rag_engine.text.spelling import SHARE, corrections, to_correct

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from rag_engine.indexes.elasticsearch.cluster import Cluster
    from rag_engine.indexes.elasticsearch.found_chunks import WordCounts
    from rag_engine.indexes.elasticsearch.manifests import Manifest

_log = logging.getLogger(__name__)

_MOST_KNOWN = 64
_MOST_WORDS = 20_000
_MOST_CORRECTED = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    chunks: int
    tokens: int
    words: Mapping[str, int]
    """In how many chunks each occurs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LexicalWeights:
    worth: Mapping[str, float]
    average: float
    """Tokens of a visible chunk."""
    rarest: float = 0.0
    corrections: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    synonyms: Mapping[str, Mapping[str, float]] = field(default_factory=dict[str, "Mapping[str, float]"])
    """By the key of the knowledge base."""

    def words(self) -> set[str]:
        return {*self.worth, *(word for words in self.synonyms.values() for word in words)}

    def scores(self, counted: WordCounts) -> NDArray[np.float64]:
        """Of chunks in which at least `words` were counted."""
        own = self.words()
        rows = [row for row, word in enumerate(counted.words) if word in own]
        worth = np.array([[self.worth.get(counted.words[row], 0.0)] for row in rows])
        if self.synonyms:
            worth = np.repeat(worth, len(counted.bases), axis=1)
            for base, further in self.synonyms.items():
                columns = [column for column, name in enumerate(counted.bases) if name == base]
                for place, row in enumerate(rows):
                    if (word := counted.words[row]) not in self.worth:
                        worth[place, columns] = further.get(word, 0.0)
        return gain(worth, counted.counts[rows], counted.lengths, self.average).sum(axis=0)


def request_body(words: Sequence[str], visible: Mapping[str, Any]) -> dict[str, Any]:
    counted = (
        {"seen": {"filters": {"filters": [{"term": {"tokens": word}} for word in words]}}} if words else {}
    )
    return {
        "size": 0,
        "track_total_hits": True,
        "query": {"bool": visible},
        "aggs": {
            "tokens": {"sum": {"field": "length"}},
            **counted,
        },
    }


def statistics_of(response: Mapping[str, Any], words: Sequence[str]) -> Statistics:
    found = response["aggregations"]
    counts = zip(words, found["seen"]["buckets"], strict=True) if words else ()
    return Statistics(
        chunks=response["hits"]["total"]["value"],
        tokens=int(found["tokens"]["value"]),
        words={word: seen["doc_count"] for word, seen in counts},
    )


class WordStatistics:
    """Caches the versions searched last."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._known: OrderedDict[Hashable, Statistics] = OrderedDict()
        self._corrections: OrderedDict[Hashable, set[str]] = OrderedDict()

    async def weights(
        self,
        tokens: Mapping[str, int],
        manifests: Sequence[Manifest],
        target: Mapping[str, Any],
        *,
        literal: Collection[str] = (),
        synonyms: Mapping[str, Mapping[str, float]] = MappingProxyType({}),
    ) -> LexicalWeights | None:
        """None if no visible chunk contains a word. One that none contains is replaced by its corrections."""
        corrected: Mapping[str, Sequence[str]] = {}
        further = {word for words in synonyms.values() for word in words} - tokens.keys()
        statistics = await self._count([*tokens, *sorted(further)], manifests, target)
        seen = {word: statistics.words[word] for word in tokens}
        counts = {word: float(tokens[word]) for word, frequency in seen.items() if frequency}
        typed = to_correct(seen, literal) if statistics.chunks else []
        if typed:
            found = await self._corrected(typed, manifests, target)
            near = {word: spelling.by_edits(word, words) for word, words in found.items()}
            likely = {word for each in near.values() for words in each.values() for word in words}
            statistics = await self._count(
                [*tokens, *sorted((likely | further) - tokens.keys())], manifests, target
            )
            known = statistics.words
            corrected = corrections(
                seen,
                near=lambda word: near.get(word, {}),
                look_up=lambda words: {word: known.get(word, 0) for word in words},
                literal=literal,
            )
            for token, words in corrected.items():
                for word in words:
                    counts[word] = counts.get(word, 0.0) + SHARE * tokens[token]
        weights = _weights(counts, statistics, synonyms)
        said = {token: tuple(words) for token, words in corrected.items() if words}
        return weights and replace(weights, corrections=said)

    async def learn(
        self,
        words: Sequence[str],
        queries: Iterable[tuple[Iterable[str], Collection[str]]],
        manifests: Sequence[Manifest],
        target: Mapping[str, Any],
    ) -> None:
        """`queries`: tokens, and the literal ones."""
        known = await self._count(words, manifests, target)
        if not known.chunks:
            return
        missing = [
            to_correct({token: known.words[token] for token in tokens}, literal)
            for tokens, literal in queries
        ]
        if typed := list(dict.fromkeys(word for each in missing for word in each)):
            near = await self._corrected(typed, manifests, target)
            await self._count(sorted({word for each in near.values() for word in each}), manifests, target)

    async def similar(
        self, names: Sequence[tuple[str, ...]], manifests: Sequence[Manifest], target: Mapping[str, Any]
    ) -> dict[tuple[str, ...], dict[str, float]]:
        if not names or not manifests:
            return {}
        seen = (await self._count([form for forms in names for form in forms], manifests, target)).words
        missing = lacking(names, seen)
        if not missing:
            return {}
        forms = [form for name in missing for form in name]
        found, _ = await self._near(
            forms, manifests, target, query=spelling.similar_query, pick=spelling.similar_words
        )
        near = {
            name: similar_words(name, {word for form in name for word in found.get(form, ())})
            for name in missing
        }
        words = sorted({word for likely in near.values() for word in likely})
        counted = (await self._count(words, manifests, target)).words
        return {name: replacements(likely, counted) for name, likely in near.items()}

    async def _count(
        self, words: Sequence[str], manifests: Sequence[Manifest], target: Mapping[str, Any]
    ) -> Statistics:
        version = _version(manifests)
        known = self._known.get(version)
        new = [word for word in words if known is None or word not in known.words]
        if known is None or new:
            with translate_errors():
                answer = await self._cluster.reader.search(
                    **target, **request_body(new, searched_chunks(manifests))
                )
            is_whole = not (answer["timed_out"] or answer["_shards"]["failed"])
            counted = statistics_of(answer.body, new)
            known = replace(counted, words={**(known.words if known else {}), **counted.words})
            # What a part of the shards says serves this question alone.
            if is_whole and len(known.words) <= _MOST_WORDS:
                self._known[version] = known
        if version in self._known:
            self._known.move_to_end(version)
        while len(self._known) > _MOST_KNOWN:
            self._known.popitem(last=False)
        return known

    async def _corrected(
        self, typed: Sequence[str], manifests: Sequence[Manifest], target: Mapping[str, Any]
    ) -> Mapping[str, Collection[str]]:
        version = _version(manifests)
        known = {
            word: self._corrections[version, word] for word in typed if (version, word) in self._corrections
        }
        new = [word for word in typed if word not in known]
        found, is_whole = await self._near(
            new, manifests, target, query=spelling.near_query, pick=spelling.near_words
        )
        if is_whole:
            self._corrections.update({(version, word): words for word, words in found.items()})
        while len(self._corrections) > _MOST_CORRECTED:
            self._corrections.popitem(last=False)
        return known | found

    async def _near(
        self,
        words: Sequence[str],
        manifests: Sequence[Manifest],
        target: Mapping[str, Any],
        *,
        query: Callable[[str], Mapping[str, Any]],
        pick: Callable[[str, Sequence[str]], set[str]],
    ) -> tuple[dict[str, set[str]], bool]:
        """False if part of the index did not answer."""
        is_whole = True
        found: dict[str, set[str]] = {word: set() for word in words}
        left = list(words)
        try:
            for _ in range(spelling.ROUNDS):
                # It would reopen the connection after the index is closed.
                with first_error():
                    async with asyncio.TaskGroup() as group:
                        requests = [
                            group.create_task(self._texts(query(word), found[word], manifests, target))
                            for word in left
                        ]
                texts = [request.result()[0] for request in requests]
                is_whole = is_whole and all(request.result()[1] for request in requests)
                for word, read in zip(left, texts, strict=True):
                    found[word] |= pick(word, read)
                left = [word for word, read in zip(left, texts, strict=True) if len(read) == spelling.PAGE]
                if not left:
                    break
        except IndexUnavailable as error:
            _log.info("the spelling of a question was not corrected: %s", error)
            return {}, False
        return found, is_whole

    async def _texts(
        self,
        near: Mapping[str, Any],
        known: Collection[str],
        manifests: Sequence[Manifest],
        target: Mapping[str, Any],
    ) -> tuple[list[str], bool]:
        body = spelling.near_request(near, searched_chunks(manifests), known)
        with translate_errors():
            answer = await self._cluster.reader.search(**target, **body)
        is_whole = not (answer["timed_out"] or answer["_shards"]["failed"])
        return [hit["_source"]["tokens"] for hit in answer["hits"]["hits"]], is_whole


def _version(manifests: Sequence[Manifest]) -> Hashable:
    return tuple(
        sorted((manifest.base, manifest.commits, *sorted(manifest.hidden)) for manifest in manifests)
    )


def _weights(
    counts: Mapping[str, float], statistics: Statistics, synonyms: Mapping[str, Mapping[str, float]]
) -> LexicalWeights | None:
    worth = _worth(counts, statistics)
    further = {
        base: _worth({word: weight for word, weight in words.items() if word not in counts}, statistics)
        for base, words in synonyms.items()
    }
    if not worth and not any(further.values()):
        return None
    average = statistics.tokens / statistics.chunks
    return LexicalWeights(
        worth=worth, average=average, rarest=_inverse(1, statistics.chunks), synonyms=further
    )


def _worth(counts: Mapping[str, float], statistics: Statistics) -> dict[str, float]:
    return {
        word: count * _inverse(statistics.words[word], statistics.chunks)
        for word, count in counts.items()
        if statistics.words[word]
    }


def _inverse(frequency: int, chunks: int) -> float:
    return math.log(1 + (max(chunks - frequency, 0) + 0.5) / (frequency + 0.5))
