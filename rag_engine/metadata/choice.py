"""The documents that meet filters, and what is done without any."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from rag_engine.errors import InvalidFilter
from rag_engine.metadata.comparison import folded, meets
from rag_engine.metadata.conditions import contradicts, described, written
from rag_engine.metadata.properties import DERIVED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rag_engine.metadata.filter_types import Condition, Filter, Properties
    from rag_engine.ports import Metadata
    from rag_engine.types import (
        DocumentId,
        Query,
    )

    Known = Mapping[DocumentId, Properties]

_ALWAYS: Final = frozenset({*DERIVED, "in", "date", "author", "created", "modified", "title"})
_MOST_DOCUMENTS: Final = 1_000
_MOST_VALUES: Final = 50
_MOST_CHARACTERS: Final = 4_000
_LONGEST_SHOWN: Final = 60
_SHORTEST_NAMED: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class AutomaticChoice:
    """By a model; `documents`: None for all."""

    filter: Filter | None = None
    documents: frozenset[DocumentId] | None = None
    left_out: tuple[str, ...] = ()
    """Conditions as people write them."""


async def chosen(query: Query, metadata: Metadata | None) -> frozenset[DocumentId] | None:
    """None without filters. Raises `InvalidFilter` for a contradiction, or an unknown property."""
    if not query.filters:
        return None
    if contradicts(query.filters):
        raise InvalidFilter(
            f"No file can meet this filter, which contradicts itself: {described(query.filters)}."
        )
    known = await filtered_properties(query, query.filters, metadata)
    needed = {condition.key for condition in _conditions(query.filters)} - _ALWAYS
    if known and metadata is not None and not all(_is_known(key, known) for key in needed):
        known = await metadata.properties(query.knowledge_bases, names=query.names)
    return await asyncio.to_thread(_chosen, query.filters, known)


async def filtered_properties(query: Query, filters: Iterable[Filter], metadata: Metadata | None) -> Known:
    if metadata is None:
        return {}
    keys = {condition.key for condition in _conditions(filters)}
    return await metadata.properties(query.knowledge_bases, names=query.names, keys=keys)


async def recent_properties(query: Query, metadata: Metadata | None) -> Known:
    if metadata is None:
        return {}
    return await metadata.properties(query.knowledge_bases, names=query.names, latest=_MOST_DOCUMENTS)


def _is_known(key: str, known: Known) -> bool:
    return any(key in each for each in known.values())


def automatic(
    filter_: Filter, known: Known, *, within: frozenset[DocumentId] | None = None
) -> AutomaticChoice:
    """Without a document the last condition is dropped, then all."""
    keys = {key for each in known.values() for key in each} | _ALWAYS
    usable = [condition for condition in filter_.conditions if condition.key in keys]
    left_out = [condition for condition in filter_.conditions if condition.key not in keys]
    for _ in range(2):
        if not usable:
            break
        tried = replace(filter_, conditions=tuple(usable))
        documents = frozenset(
            document
            for document, each in known.items()
            if (within is None or document in within) and meets(each, tried)
        )
        if documents:
            return AutomaticChoice(filter=tried, documents=documents, left_out=tuple(map(written, left_out)))
        left_out.append(usable.pop())
    return AutomaticChoice(left_out=tuple(map(written, [*left_out, *usable])))


def vocabulary(known: Known, *, keys: Sequence[str] = ()) -> str:
    """As JSON for a prompt; by default of all keys."""
    counts: dict[str, Counter[str]] = {}
    for each in known.values():
        for key, values in each.items():
            if key != "name" and (not keys or key in keys):
                counts.setdefault(key, Counter()).update(value[:_LONGEST_SHOWN] for value in values)
    shown: dict[str, list[str]] = {}
    room = _MOST_CHARACTERS
    for key in sorted(counts, key=lambda key: (key not in _ALWAYS, key)):
        values = [value for value, _ in counts[key].most_common(_MOST_VALUES)]
        while values and len(json.dumps({key: values}, ensure_ascii=False)) > room:
            values.pop()
        if values:
            shown[key] = values
            room -= len(json.dumps({key: values}, ensure_ascii=False))
    return json.dumps(shown, ensure_ascii=False) if shown else ""


def names_a_value(question: str, values: Iterable[str]) -> bool:
    """It may mean a filter."""
    asked = f" {folded(question)} "
    return any(len(value) >= _SHORTEST_NAMED and value in asked for value in map(folded, values))


def _chosen(filters: Sequence[Filter], known: Known) -> frozenset[DocumentId]:
    keys = {key for each in known.values() for key in each} | _ALWAYS
    unknown = sorted({condition.key for condition in _conditions(filters)} - keys)
    if unknown and known:
        raise InvalidFilter(
            f"No file here has the property {unknown[0]}; there are: {', '.join(sorted(keys - {'in', 'date'}))}."
        )
    found = frozenset(known)
    for filter_ in filters:
        found &= _meeting(filter_, known)
    return found


def _meeting(filter_: Filter, known: Known) -> frozenset[DocumentId]:
    found = frozenset(document for document, each in known.items() if meets(each, filter_))
    looser = tuple(
        replace(condition, operator="contains")
        if condition.key == "in" and condition.operator == "="
        else condition
        for condition in filter_.conditions
    )
    if found or looser == filter_.conditions:
        return found
    return frozenset(
        document for document, each in known.items() if meets(each, replace(filter_, conditions=looser))
    )


def _conditions(filters: Iterable[Filter]) -> Iterable[Condition]:
    return (condition for filter_ in filters for condition in filter_.conditions)
