from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from bot.resilience.retry import RetryingEmbedder, RetryingIndex
from rag_engine.wrappers.cached_embedder import CachedEmbedder
from rag_engine.wrappers.hidden_documents import HiddenDocumentsIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bot.observability import Observers
    from bot.resilience.circuit_breakers import Breakers
    from rag_engine.ports import (
        Answerer,
        Embedder,
        LanguageModel,
        Reranker,
        StoredIndex,
        Unfinished,
        VectorCache,
    )

_Part = TypeVar("_Part")

Wrappers: TypeAlias = "Sequence[Callable[[_Part], _Part]]"


def wrapped(part: _Part, wrappers: Wrappers[_Part]) -> _Part:
    for wrap in wrappers:
        part = wrap(part)
    return part


def of_index(observers: Observers, breakers: Breakers, *, is_local: bool) -> Wrappers[StoredIndex]:
    return [observers.index, partial(breakers.index, is_local=is_local), RetryingIndex]


def of_searched_index(unfinished: Unfinished) -> Wrappers[StoredIndex]:
    return [partial(HiddenDocumentsIndex, unfinished=unfinished)]


def of_embedder(observers: Observers, breakers: Breakers, *, is_local: bool) -> Wrappers[Embedder]:
    return [observers.embedder, partial(breakers.embedder, is_local=is_local)]


def of_ingesting_embedder(cache: VectorCache) -> Wrappers[Embedder]:
    return [RetryingEmbedder, partial(CachedEmbedder, cache=cache)]


def of_model(observers: Observers, breakers: Breakers, *, is_local: bool) -> Wrappers[LanguageModel]:
    return [observers.model, partial(breakers.model, is_local=is_local)]


def of_answerer(observers: Observers) -> Wrappers[Answerer]:
    return [observers.answerer]


def of_reranker(observers: Observers, breakers: Breakers, *, is_local: bool) -> Wrappers[Reranker]:
    return [observers.reranker, partial(breakers.reranker, is_local=is_local)]
