"""The lexical leg: candidates from FTS5, scored by Lucene's BM25.

FTS5 scores every row that matches, and its inverse document frequency lacks Lucene's "+1": so it is asked for the rarest terms
only, up to a budget of postings, and its order decides nothing but which chunks are scored with all terms.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from rag_engine.indexes.embedded.rows import hash_of, unpacked_terms
from rag_engine.indexes.embedded.typos import corrections
from rag_engine.spelling import SHARE

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rag_engine.indexes.embedded.memory import Audience, Ids, Snapshot

    Scores = NDArray[np.float64]

_K1 = 1.2
_B = 0.75
_MOST_TERMS = 1_024
_EXACT = 1_000
"""Up to so many chunks in view, every one is scored: FTS5 would look at the postings of the whole index."""
_POSTINGS = 1_500
"""Rows that FTS5 may have to score, at least; in a large index one in `_SHARE_OF_POSTINGS`."""
_SHARE_OF_POSTINGS = 25
_CANDIDATES_PER_HIT = 3
_FEWEST_CANDIDATES = 300
_MANY_TERMS = 24
"""More terms than this are looked up by bisection, fewer by comparing with each."""
_TOKEN = re.compile(r'[^\s"\x00]+')


def best_matches(
    connection: sqlite3.Connection,
    snapshot: Snapshot,
    tokens: Sequence[str],
    *,
    audience: Audience,
    limit: int,
) -> tuple[Ids, Scores]:
    """Ids and scores of the best chunks in view, in no order: `limit` of them and those that tie with the last."""
    weights = _weights(connection, snapshot, Counter(token for token in tokens if _TOKEN.fullmatch(token)))
    mask = audience.mask
    in_view = snapshot.live if mask is None else int(mask.sum())
    if not weights or not in_view:
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    if in_view <= _EXACT:
        candidates = snapshot.ids if mask is None else snapshot.ids[mask]
    else:
        frequencies = {token: snapshot.frequencies[token] for token in weights}
        chosen = _within_budget(frequencies, in_view, snapshot.live)
        expression = _expression(chosen, None if mask is None else audience.bases)
        candidates = _candidates(connection, expression, max(_CANDIDATES_PER_HIT * limit, _FEWEST_CANDIDATES))
        if mask is not None:
            positions = snapshot.positions(candidates)
            candidates = snapshot.ids[positions[mask[positions]]]
    ids, scores = _scored(connection, snapshot, candidates, weights)
    return _top(ids[scores > 0], scores[scores > 0], limit)


def _weights(
    connection: sqlite3.Connection, snapshot: Snapshot, asked: Mapping[str, int]
) -> dict[str, float]:
    """What each term of the query is worth: those that occur, and for those that do not what they were meant to be."""

    def look_up(tokens: Sequence[str]) -> Mapping[str, int]:
        return document_frequencies(connection, snapshot, tokens)

    frequencies = look_up(list(asked)[:_MOST_TERMS])
    counts = {token: float(asked[token]) for token, frequency in frequencies.items() if frequency}
    for token, meant in corrections(connection, frequencies, look_up).items():
        for word in meant:
            counts[word] = counts.get(word, 0.0) + SHARE * asked[token]
    return {
        token: count * _inverse(snapshot.frequencies[token], snapshot.live) for token, count in counts.items()
    }


def document_frequencies(
    connection: sqlite3.Connection, snapshot: Snapshot, tokens: Sequence[str]
) -> Mapping[str, int]:
    """In how many chunks of the whole index each token occurs."""
    known = snapshot.frequencies
    for token in tokens:
        if token not in known:
            row = connection.execute("SELECT doc FROM vocabulary WHERE term = ?", (token,)).fetchone()
            if row:  # what occurs nowhere is not remembered: there is no end of such words
                known[token] = row[0]
    return {token: known.get(token, 0) for token in tokens}


def _inverse(frequency: int, chunks: int) -> float:
    return float(np.log(1 + (chunks - frequency + 0.5) / (frequency + 0.5)))


def _within_budget(frequencies: Mapping[str, int], in_view: int, live: int) -> list[str]:
    """The rarest terms, as many as FTS5 may score rows for; at least one."""
    budget = max(_POSTINGS, live // _SHARE_OF_POSTINGS) * live / in_view
    rarest = sorted(frequencies, key=lambda token: (frequencies[token], token))
    chosen: list[str] = []
    spent = 0
    for token in rarest:
        spent += frequencies[token]
        if chosen and spent > budget:
            break
        chosen.append(token)
    return chosen


def _expression(tokens: Sequence[str], bases: Sequence[int] | None) -> str:
    """The MATCH expression; the audience is part of it, so that no row of another one is even counted."""
    wanted = " OR ".join(f'"{token}"' for token in tokens)
    if bases is None:
        return f"t:({wanted})"
    audience = " OR ".join(f'"{audience_token(base)}"' for base in bases)
    return f"s:({audience}) AND t:({wanted})"


def audience_token(base: int) -> str:
    """What column `s` holds for the chunks of a knowledge base; no token of a text looks so."""
    return f"={base}"


def _candidates(connection: sqlite3.Connection, expression: str, count: int) -> Ids:
    rows = connection.execute(
        "SELECT rowid FROM fts WHERE fts MATCH ? ORDER BY rank LIMIT ?", (expression, count)
    ).fetchall()
    return np.array(rows, dtype=np.int64).reshape(-1)


def _scored(
    connection: sqlite3.Connection, snapshot: Snapshot, ids: Ids, weights: Mapping[str, float]
) -> tuple[Ids, Scores]:
    """Lucene's BM25 of these chunks."""
    rows = connection.execute(
        "SELECT id, b FROM terms WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id",
        (json.dumps(np.sort(ids).tolist()),),
    ).fetchall()
    if not rows:
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    found, blobs = zip(*rows, strict=True)
    found_ids = np.array(found, dtype=np.int64)
    hashes, occurrences = unpacked_terms(b"".join(blobs))
    owners = np.repeat(np.arange(len(blobs)), [len(blob) // 8 for blob in blobs])
    hit, weight = _occurrences(hashes, weights)
    lengths = snapshot.lengths[snapshot.positions(found_ids)]
    norms = _K1 * (1 - _B + _B * lengths / (snapshot.tokens / snapshot.live))
    frequencies = occurrences[hit].astype(np.float64)
    gains = weight * frequencies / (frequencies + norms[owners[hit]])
    scores = np.zeros(len(blobs))
    scores += np.bincount(owners[hit], weights=gains, minlength=len(blobs))
    return found_ids, scores


def _occurrences(hashes: NDArray[np.uint64], weights: Mapping[str, float]) -> tuple[Ids, Scores]:
    """Where terms of the query stand among the hashes, and the weight of each; in one order for equal chunks."""
    terms = np.array([hash_of(token) for token in weights], dtype=np.uint64)
    worth = np.array(list(weights.values()), dtype=np.float64)
    if terms.size > _MANY_TERMS:
        order = np.argsort(terms)
        nearest = np.minimum(np.searchsorted(terms[order], hashes), terms.size - 1)
        hit = np.flatnonzero(terms[order][nearest] == hashes)
        return hit, worth[order][nearest[hit]]
    places = [np.flatnonzero(hashes == term) for term in terms]
    return np.concatenate(places), np.repeat(worth, [place.size for place in places])


def _top(ids: Ids, scores: Scores, limit: int) -> tuple[Ids, Scores]:
    if ids.size <= limit:
        return ids, scores
    last = np.partition(scores, ids.size - limit)[ids.size - limit]
    return ids[scores >= last], scores[scores >= last]
