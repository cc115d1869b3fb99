"""By words (lexical) and meaning (dense): at once for the question, then for what the model understood."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias, TypedDict

from pydantic import BaseModel, ConfigDict, Field

from rag_engine.errors import EmbedderUnavailable, Unavailable
from rag_engine.generation.phrases import phrase
from rag_engine.retrieval.queries.document_filters import with_automatic_filter
from rag_engine.retrieval.queries.query_variants import (
    QueryVariant,
    further_variants,
    is_same,
    own_words,
    readings,
)
from rag_engine.retrieval.queries.similar_names import names
from rag_engine.retrieval.queries.spelling_corrections import (
    corrected_question,
    corrected_words,
    held_respellings,
    listed_tokens,
    respelled,
    respellings,
    sentences,
    similar_tokens,
)
from rag_engine.retrieval.queries.synonyms import Synonyms, synonyms_for
from rag_engine.retrieval.queries.understood_message import Understanding
from rag_engine.retrieval.ranking.language_familiarity import word_check
from rag_engine.steps.understand import joined
from rag_engine.text.analyzer import query_words
from rag_engine.text.language import detect, question_language
from rag_engine.types import Expansion, Layer, Leg, Query, Ranking, Search

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

    from rag_engine.pipeline import Inquiry
    from rag_engine.ports import Embedder, Index, Ports, Step, SynonymEntries
    from rag_engine.retrieval.queries.early_vectors import EarlyVectors
    from rag_engine.retrieval.queries.similar_names import Names
    from rag_engine.types import ChunkId, DocumentId, KnowledgeBaseId, Vector

PHASE = "search"
POSITION = 20
STATUS = "Searching…"

PART_MISSING = (
    "Part of the search index did not answer, so something may be missing here; ask again in a moment."
)

_WITHOUT_PASSAGES = frozenset({"chat", "clarify"})

_NO_SYNONYMS: Mapping[KnowledgeBaseId, Sequence[Sequence[str]]] = MappingProxyType({})

_NO_LAYERS: Mapping[Layer, frozenset[KnowledgeBaseId]] = MappingProxyType({})

_log = logging.getLogger(__name__)


def _every_word(_: str) -> bool:
    return True


class Settings(BaseModel):
    """Searches the index by words and by meaning."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    candidates: int = Field(default=100, ge=1, le=1000)
    """Hits of each search."""
    further_candidates: int = Field(default=20, ge=1, le=1000)
    """Of further wordings, which count less."""
    timeout: float = Field(default=10.0, gt=0)
    """Time limit for embedding the question."""
    legs: tuple[Leg, ...] = ("lexical", "dense")
    """What is searched: words, meaning or both; by default both, but none that `fuse` gives no share."""
    expansions: tuple[Expansion, ...] = ("summary", "question")
    """What is searched by meaning too, in knowledge bases that have it: `[]` for passages alone."""
    expansion_weight: float = Field(default=0.25, gt=0, le=2)
    """How much a hit of a summary or made-up question counts beside one of the passage itself."""
    names_weight: float = Field(default=0.5, gt=0, le=2)
    """How much similar names and codes count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    rankings: tuple[Ranking, ...]
    variants: tuple[QueryVariant, ...]
    """What was searched for, by ranking."""
    fallbacks: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


_Asked: TypeAlias = "tuple[QueryVariant, Search]"
_Searching: TypeAlias = "Callable[[Inquiry, Sequence[QueryVariant]], Awaitable[Found]]"


def build(settings: Settings, ports: Ports) -> Step:
    is_word = word_check(ports.embedder.count_tokens)

    async def search(inquiry: Inquiry, queries: Sequence[QueryVariant]) -> Found:
        return await search_variants(
            queries,
            inquiry.query,
            documents=inquiry.documents,
            embedder=ports.embedder,
            index=ports.index,
            settings=settings,
            entries=inquiry.synonyms,
            layers=inquiry.layers,
            is_word=is_word,
            early=inquiry.understanding.early if inquiry.understanding else None,
        )

    async def retrieve(inquiry: Inquiry) -> Inquiry:
        inquiry = await _searched(inquiry, search, ports)
        found = _found_by_leg(inquiry.rankings)
        inquiry = replace(inquiry, found=found).noting(found=found)
        return await asyncio.to_thread(_completed, inquiry, is_word) if inquiry.rankings else inquiry

    return retrieve


async def _searched(inquiry: Inquiry, search: _Searching, ports: Ports) -> Inquiry:
    inquiry = await _with_synonyms(inquiry, ports.synonyms)
    if ports.layers is not None:
        inquiry = replace(inquiry, layers=await ports.layers.layers(inquiry.query.knowledge_bases))
    asked = readings(inquiry.question, inquiry.beside, inquiry.query.text)
    at_once = asked[:1] if inquiry.pending else asked
    found = await search(inquiry, at_once)
    inquiry = _with(inquiry, found)
    if inquiry.pending is None:
        return inquiry
    inquiry = await joined(inquiry)
    if inquiry.route in _WITHOUT_PASSAGES:
        return replace(inquiry, rankings=())
    understood = inquiry.understanding or Understanding()
    further = further_variants(understood, asked)
    before, inquiry = inquiry.documents, await with_automatic_filter(inquiry, ports.metadata)
    inquiry = _saying_what_was_left_out(inquiry)
    if inquiry.documents != before:
        own = [own_words(variant, understood) for variant in at_once]
        return _with(replace(inquiry, rankings=()), await search(inquiry, [*own, *further]))
    weighed = [own_words(variant, understood) for variant in found.variants]
    inquiry = _with(replace(inquiry, rankings=()), replace(found, variants=tuple(weighed)))
    return _with(inquiry, await search(inquiry, further)) if further else inquiry


def _found_by_leg(rankings: Sequence[Ranking]) -> dict[Leg, int]:
    found: dict[Leg, set[ChunkId]] = {}
    for ranking in rankings:
        found.setdefault(ranking.leg, set()).update(hit.chunk.id for hit in ranking.hits)
    return {leg: len(chunks) for leg, chunks in found.items()}


async def _with_synonyms(inquiry: Inquiry, synonyms: SynonymEntries | None) -> Inquiry:
    if synonyms is None or inquiry.query.as_asked:
        return inquiry
    return replace(inquiry, synonyms=await synonyms.read(inquiry.query.knowledge_bases))


def _completed(inquiry: Inquiry, is_word: Callable[[str], bool]) -> Inquiry:
    if inquiry.synonyms:
        wordings = synonyms_for(inquiry.question, inquiry.synonyms).wordings
        inquiry = replace(inquiry, wordings=wordings)
        inquiry = inquiry.noting(synonyms=list(wordings)) if wordings else inquiry
    if not inquiry.query.as_asked:
        held = held_respellings(respellings(inquiry.question, is_word), inquiry.rankings)
        inquiry = replace(inquiry, wordings=(*inquiry.wordings, *respelled(inquiry.question, held)))
    found: dict[str, str] = {}
    for ranking in inquiry.rankings:
        if not ranking.query:
            found = corrected_words(inquiry.question, ranking, is_word=is_word) | found
    if not found:
        return inquiry
    corrected = corrected_question(inquiry.question, found)
    inquiry = replace(
        inquiry,
        corrections=found,
        wordings=(*inquiry.wordings, corrected),
        wording=corrected,
        notices=(*inquiry.notices, sentences(found)),
    )
    return inquiry.noting(corrections=found)


def _saying_what_was_left_out(inquiry: Inquiry) -> Inquiry:
    left_out = ", ".join(inquiry.filter_left_out)
    if not left_out:
        return inquiry
    language = question_language(inquiry.query.text, chosen=inquiry.query.language)
    notice = phrase("filter_left_out", language=language, filter=left_out)
    return replace(inquiry, notices=(*inquiry.notices, notice))


def _with(inquiry: Inquiry, found: Found) -> Inquiry:
    notices = [notice for notice in found.notices if notice not in inquiry.notices]
    fallbacks = [name for name in found.fallbacks if name not in inquiry.fallbacks]
    named = [
        replace(
            ranking,
            query="" if is_same(variant.text, inquiry.question) else variant.text,
            weight=variant.weight * ranking.weight,
        )
        for variant, ranking in zip(found.variants, found.rankings, strict=True)
    ]
    return replace(
        inquiry,
        rankings=(*inquiry.rankings, *named),
        notices=(*inquiry.notices, *notices),
        fallbacks=(*inquiry.fallbacks, *fallbacks),
    )


async def search_legs(
    question: str, query: Query, *, embedder: Embedder, index: Index, settings: Settings
) -> Found:
    variant = QueryVariant(text=question, weight=1.0)
    return await search_variants([variant], query, embedder=embedder, index=index, settings=settings)


async def search_variants(
    queries: Sequence[QueryVariant],
    query: Query,
    *,
    documents: frozenset[DocumentId] | None = None,
    embedder: Embedder,
    index: Index,
    settings: Settings,
    entries: Mapping[KnowledgeBaseId, Sequence[Sequence[str]]] = _NO_SYNONYMS,
    layers: Mapping[Layer, frozenset[KnowledgeBaseId]] = _NO_LAYERS,
    is_word: Callable[[str], bool] = _every_word,
    early: EarlyVectors | None = None,
) -> Found:
    """By words alone without the embedder, unless the query wants only the dense leg; raises index errors."""
    most = max(settings.candidates, query.limit)
    search = partial(Search, knowledge_bases=query.knowledge_bases, documents=documents, limit=most)
    legs = set(query.legs).intersection(settings.legs) or set(query.legs)
    worded = [each for each in queries if "lexical" in query.legs and "lexical" in each.legs]
    dense = [each for each in queries if "dense" in legs and "dense" in each.legs]
    analysed, vectors = await asyncio.gather(
        asyncio.to_thread(lambda: [(each, _words(each.text, entries, query, is_word)) for each in worded]),
        _embed([each.text for each in dense], embedder, early, seconds=settings.timeout),
        return_exceptions=True,
    )
    if isinstance(analysed, BaseException):
        raise analysed
    lexical = [(variant, search(leg="lexical", **words)) for variant, words in _by_words(analysed)]
    searches, fallbacks = [*lexical] if "lexical" in legs else [], list[str]()
    if isinstance(vectors, BaseException):
        if not isinstance(vectors, Unavailable) or not (searches := lexical):
            raise vectors
        _log.warning("the question could not be embedded, searching by words alone: %s", vectors)
        fallbacks = ["dense_unavailable"]
    else:
        for variant, vector in zip(dense, vectors, strict=True):
            one = search(leg="dense", vector=vector)
            searches += [(variant, each) for each in _expanded(one, layers, settings)]
    found = await index.search(_limited(searches, query, settings)) if searches else []
    return _found(_marked(found, searches, settings), fallbacks)


def _limited(
    searches: Sequence[tuple[QueryVariant, Search]], query: Query, settings: Settings
) -> list[Search]:
    fewer = max(settings.further_candidates, query.limit)
    return [
        replace(search, limit=min(search.limit, fewer)) if variant.weight < 1 else search
        for variant, search in searches
    ]


def _expanded(
    one: Search, layers: Mapping[Layer, frozenset[KnowledgeBaseId]], settings: Settings
) -> list[Search]:
    further = [
        replace(one, expansion=kind, knowledge_bases=layers[kind])
        for kind in settings.expansions
        if kind in layers
    ]
    return [one, *further]


def _marked(
    found: Sequence[Ranking], searches: Sequence[_Asked], settings: Settings
) -> list[tuple[QueryVariant, Ranking]]:
    pairs: list[tuple[QueryVariant, Ranking]] = []
    for ranking, (variant, search) in zip(found, searches, strict=True):
        origin = "letters" if search.names else search.expansion
        weight = settings.names_weight if search.names else settings.expansion_weight
        if origin is None:
            pairs.append((variant, ranking))
        elif ranking.hits or not search.names:
            pairs.append((variant, replace(ranking, expansion=origin, is_hypothetical=True, weight=weight)))
    return pairs


def _found(found: Sequence[tuple[QueryVariant, Ranking]], fallbacks: Sequence[str]) -> Found:
    incomplete = [f"{ranking.leg}_incomplete" for _, ranking in found if not ranking.complete]
    return Found(
        rankings=tuple(ranking for _, ranking in found),
        variants=tuple(variant for variant, _ in found),
        fallbacks=tuple(dict.fromkeys((*fallbacks, *incomplete))),
        notices=(PART_MISSING,) if incomplete else (),
    )


def _by_words(
    analysed: Sequence[tuple[QueryVariant, tuple[_Words, Names]]],
) -> Iterator[tuple[QueryVariant, _Words]]:
    yield from ((variant, words) for variant, (words, _) in analysed if words.get("tokens"))
    yield from ((variant, _Words(names=named)) for variant, (_, named) in analysed[:1] if named)


class _Words(TypedDict, total=False):
    tokens: tuple[str, ...]
    literal: frozenset[str]
    synonyms: Mapping[KnowledgeBaseId, Mapping[str, float]]
    names: Names


def _words(
    text: str,
    entries: Mapping[KnowledgeBaseId, Sequence[Sequence[str]]],
    query: Query,
    is_word: Callable[[str], bool],
) -> tuple[_Words, Names]:
    asked, language = query_words(text), detect(text)
    tokens = tuple(token for _, forms in asked for token in forms)
    if query.as_asked:
        return _Words(tokens=tokens, literal=frozenset(tokens), synonyms={}), ()
    own = synonyms_for(text, entries) if entries else Synonyms()
    synonyms, similar = own.tokens, similar_tokens(respellings(text, is_word))
    if similar := {token: weight for token, weight in similar.items() if token not in tokens}:
        synonyms = {base: {**similar, **own.tokens.get(base, {})} for base in query.knowledge_bases}
    literal = own.known | listed_tokens(asked, language)
    return _Words(tokens=tokens, literal=literal, synonyms=synonyms), names(asked, language)


async def _embed(
    questions: Sequence[str], embedder: Embedder, early: EarlyVectors | None, *, seconds: float
) -> Sequence[Vector]:
    if not questions:
        return ()
    try:
        async with asyncio.timeout(seconds):
            return [*await (early.embed(questions) if early else embedder.embed(questions, side="query"))]
    except TimeoutError as error:
        raise EmbedderUnavailable(f"The embedding model took longer than {seconds:g} s.") from error
