"""All searches of one call see one version."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_engine.indexes.embedded.database.rows import CHUNK_COLUMNS, chunk_of, key, knowledge_base_of
from rag_engine.indexes.embedded.postings.best_matches import AudienceTerms, best_matches
from rag_engine.indexes.embedded.vectors.dense import nearest
from rag_engine.indexes.embedded.vectors.expansions import nearest_origins
from rag_engine.retrieval.queries.similar_names import misspelt, with_similar
from rag_engine.types import Hit, Ranking

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

    from rag_engine.indexes.embedded.memory import Ids, Mask, Memory, SearchAudience, Snapshot
    from rag_engine.indexes.embedded.postings.best_matches import Corrections, Scores
    from rag_engine.types import Chunk, DocumentId, KnowledgeBaseId, Search

_Scored = dict[int, float]
_Found = tuple[_Scored, "Corrections"]
_Terms = dict["frozenset[KnowledgeBaseId]", "AudienceTerms"]
_MOST_PARAMETERS = 500
_MOST_AUDIENCES = 64
_MOST_SELECTIONS = 8


def run(connection: sqlite3.Connection, memory: Memory, searches: Sequence[Search]) -> list[Ranking]:
    while True:
        connection.execute("BEGIN")
        try:
            snapshot = memory.at(connection)
            if snapshot is not None:
                return _rankings(connection, memory, snapshot, searches)
        finally:
            connection.execute("ROLLBACK")


def refresh(connection: sqlite3.Connection, memory: Memory) -> None:
    connection.execute("BEGIN")
    try:
        memory.at(connection)
    finally:
        connection.execute("ROLLBACK")


def _rankings(
    connection: sqlite3.Connection, memory: Memory, snapshot: Snapshot, searches: Sequence[Search]
) -> list[Ranking]:
    terms = _terms(connection, snapshot, searches)
    near = _near(connection, snapshot, searches)
    found = [
        near[number] if number in near else _search(connection, memory, snapshot, search, terms)
        for number, search in enumerate(searches)
    ]
    for (scored, _), search in zip(found, searches, strict=True):
        if len(scored) > search.limit:
            _cut_tie(connection, scored, search.limit)
    chunks = _chunks(connection, snapshot, sorted({place for scored, _ in found for place in scored}))
    rarest = {names: each.weight(1) for names, each in terms.items()}
    return [
        _ranking(scored, chunks, search, corrections, rarest)
        for (scored, corrections), search in zip(found, searches, strict=True)
    ]


def _near(
    connection: sqlite3.Connection, snapshot: Snapshot, searches: Sequence[Search]
) -> dict[int, _Found]:
    groups: dict[tuple[frozenset[KnowledgeBaseId], frozenset[DocumentId] | None], list[int]] = {}
    for number, search in enumerate(searches):
        if search.leg == "dense" and not search.expansion:
            groups.setdefault((search.knowledge_bases, search.documents), []).append(number)
    found: dict[int, _Found] = {}
    for (names, documents), numbers in groups.items():
        audience = _audience(connection, snapshot, names)
        if audience is None:
            found |= {number: ({}, {}) for number in numbers}
            continue
        wanted = None if documents is None else _wanted(connection, snapshot, searches[numbers[0]])
        asked = [
            (vector, searches[number].limit)
            for number in numbers
            if (vector := searches[number].vector) is not None
        ]
        nearby = nearest(connection, snapshot, asked, visible=_visible(audience, wanted))
        for number, (ids, scores) in zip(numbers, nearby, strict=True):
            found[number] = dict(zip(ids.tolist(), scores.tolist(), strict=True)), {}
    return found


def _search(
    connection: sqlite3.Connection, memory: Memory, snapshot: Snapshot, search: Search, terms: _Terms
) -> _Found:
    audience = _audience(connection, snapshot, search.knowledge_bases)
    if audience is None:
        return {}, {}
    wanted = None if search.documents is None else _wanted(connection, snapshot, search)
    if search.expansion and search.vector is not None:
        visible = audience.visible[:-1] if wanted is None else wanted & audience.visible[:-1]
        table = memory.expansions.at(connection, snapshot)
        return nearest_origins(connection, table, snapshot, search, search.vector, visible=visible), {}
    ids, scores, corrections = _by_words(connection, search, terms[search.knowledge_bases], wanted)
    return dict(zip(ids.tolist(), scores.tolist(), strict=True)), corrections


def _by_words(
    connection: sqlite3.Connection, search: Search, terms: AudienceTerms, wanted: Mask | None
) -> tuple[Ids, Scores, Corrections]:
    similar = terms.similar(search.names)
    ids, scores, corrections = best_matches(
        terms,
        search.tokens,
        wanted=wanted,
        limit=search.limit,
        literal=search.literal,
        synonyms=_synonyms(connection, with_similar(search, similar)),
    )
    return ids, scores, corrections or misspelt(similar)


def _terms(connection: sqlite3.Connection, snapshot: Snapshot, searches: Sequence[Search]) -> _Terms:
    terms: _Terms = {}
    asked: dict[frozenset[KnowledgeBaseId], dict[str, None]] = {}
    for search in searches:
        if search.leg == "lexical":
            asked.setdefault(search.knowledge_bases, {}).update(dict.fromkeys(search.tokens))
    for names, tokens in asked.items():
        if (audience := _audience(connection, snapshot, names)) is not None:
            terms[names] = AudienceTerms(connection, snapshot, audience)
            terms[names].postings([token for token in tokens if token.strip()])
    return terms


def _synonyms(connection: sqlite3.Connection, search: Search) -> dict[int, Mapping[str, float]]:
    return {
        place: tokens
        for name, tokens in search.synonyms.items()
        if name in search.knowledge_bases
        for place in _bases(connection, frozenset({name}))
    }


def _audience(
    connection: sqlite3.Connection, snapshot: Snapshot, names: frozenset[KnowledgeBaseId]
) -> SearchAudience | None:
    known = snapshot.audiences.get(names)
    if known is None and (bases := _bases(connection, names)):
        known = snapshot.audience(bases)
        if len(snapshot.audiences) < _MOST_AUDIENCES:
            snapshot.audiences[names] = known
    return known if known and known.chunks else None


def _visible(audience: SearchAudience, wanted: Mask | None) -> Mask | None:
    if wanted is not None:
        return wanted & audience.visible[:-1]
    return None if audience.is_everything else audience.visible[:-1]


def _wanted(connection: sqlite3.Connection, snapshot: Snapshot, search: Search) -> Mask:
    documents = search.documents or frozenset()
    known = snapshot.selections.get((search.knowledge_bases, documents))
    if known is not None:
        return known
    bases, keys = json.dumps(_bases(connection, search.knowledge_bases)), [key(name) for name in documents]
    ids: list[int] = []
    for start in range(0, len(keys), _MOST_PARAMETERS):
        part = keys[start : start + _MOST_PARAMETERS]
        marks = ",".join("?" * len(part))
        rows = connection.execute(
            f"SELECT id FROM chunk WHERE base IN (SELECT value FROM json_each(?)) AND document IN ({marks})",  # noqa: S608
            (bases, *part),
        )
        ids.extend(place for (place,) in rows)
    positions = snapshot.positions(np.array(ids, dtype=np.int64))
    wanted = np.zeros(snapshot.ids.size, dtype=np.bool_)
    wanted[positions[positions >= 0]] = True
    if len(snapshot.selections) >= _MOST_SELECTIONS:
        snapshot.selections.clear()
    snapshot.selections[search.knowledge_bases, documents] = wanted
    return wanted


def _bases(connection: sqlite3.Connection, names: frozenset[KnowledgeBaseId]) -> tuple[int, ...]:
    found: list[int] = []
    keys = [key(name) for name in names]
    for start in range(0, len(keys), _MOST_PARAMETERS):
        part = keys[start : start + _MOST_PARAMETERS]
        marks = ",".join("?" * len(part))
        rows = connection.execute(f"SELECT id FROM base WHERE name IN ({marks})", part)  # noqa: S608
        found.extend(place for (place,) in rows)
    return tuple(sorted(found))


def _cut_tie(connection: sqlite3.Connection, scored: _Scored, limit: int) -> None:
    last = min(scored.values())
    tied = [place for place, score in scored.items() if score == last]
    rows = connection.execute(
        "SELECT id FROM chunk WHERE id IN (SELECT value FROM json_each(?)) ORDER BY cid, id",
        (json.dumps(tied),),
    )
    for (place,) in rows.fetchall()[limit - (len(scored) - len(tied)) :]:
        del scored[place]


def _chunks(connection: sqlite3.Connection, snapshot: Snapshot, places: Sequence[int]) -> Mapping[int, Chunk]:
    rows: list[tuple[Any, ...]] = connection.execute(
        f"SELECT chunk.id, chunk.base, {CHUNK_COLUMNS} FROM json_each(?) AS wanted"  # noqa: S608
        " CROSS JOIN chunk ON chunk.id = wanted.value",
        (json.dumps(places),),
    ).fetchall()
    names = snapshot.names
    if unknown := {row[1] for row in rows} - names.keys():
        named = connection.execute(
            "SELECT id, name FROM base WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(unknown)),),
        )
        names.update((base, knowledge_base_of(name)) for base, name in named)
    return {row[0]: chunk_of(row[2:], names[row[1]]) for row in rows}


def _ranking(
    scored: _Scored,
    chunks: Mapping[int, Chunk],
    search: Search,
    corrections: Corrections,
    rarest: Mapping[frozenset[KnowledgeBaseId], float],
) -> Ranking:
    hits = [(-score, chunks[place].id, place) for place, score in scored.items()]
    hits.sort()
    return Ranking(
        leg=search.leg,
        hits=tuple(
            [_hit(chunks[place], -score, rank) for rank, (score, _, place) in enumerate(hits, start=1)]
        ),
        corrections=corrections,
        rarest=rarest.get(search.knowledge_bases, 0.0) if search.leg == "lexical" else 0.0,
    )


def _hit(chunk: Chunk, score: float, rank: int) -> Hit:
    made: Any = _HitFields()
    made.chunk = chunk
    made.score = score
    made.rank = rank
    made.legs = ()
    made.__class__ = Hit
    return made


class _HitFields:
    __slots__ = tuple(field.name for field in fields(Hit))
