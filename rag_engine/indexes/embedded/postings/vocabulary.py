from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

import numpy as np

from rag_engine.text import name_similarity
from rag_engine.text.name_similarity import is_code, plain
from rag_engine.text.spelling import correctable, edits_of_each, most_edits

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

_LETTERS = 64
_BATCH = 10_000
_MOST_NEAR = 1_000


def spelled_tokens(tokens: Iterable[str]) -> list[str]:
    listed = list(tokens)
    return [*correctable(listed), *filter(is_code, listed)]


class Vocabulary:
    """Read when first needed. Safe for several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0
        self._words = np.zeros(0, dtype=np.int64)
        self._lengths = np.zeros(0, dtype=np.uint8)
        self._letters = np.zeros(0, dtype=np.uint64)
        self._firsts = np.zeros(0, dtype=np.uint32)
        self._near: dict[str, dict[int, list[str]]] = {}

    def near(self, connection: sqlite3.Connection, word: str) -> dict[int, list[str]]:
        """By number of edits, with the same first letter."""
        most = most_edits(word)
        with self._lock:
            self._read(connection)
            if word in self._near:
                return self._near[word]
            last = self._last
            same = self._firsts == ord(word[0])
            same &= np.abs(self._lengths.astype(np.int16) - len(word)) <= most
            places = np.flatnonzero(same)
            places = places[np.bitwise_count(self._letters[places] ^ _letters(plain(word))) <= 2 * most]
            ids = self._words[places].tolist()
        found: dict[int, list[str]] = {}
        words = _spelled(connection, ids)
        near = list(filter(str.isalpha, words))
        for other, distance in zip(near, edits_of_each(word, near), strict=True):
            if distance <= most:
                found.setdefault(distance, []).append(other)
        found = dict(sorted(found.items()))
        with self._lock:
            # Older transactions lack words.
            if last == self._last and len(words) == len(ids):
                if len(self._near) >= _MOST_NEAR:
                    self._near.clear()
                self._near[word] = found
        return found

    def similar(self, connection: sqlite3.Connection, name: str) -> list[str]:
        most = name_similarity.most_edits(name) + 1
        own = _letters(plain(name))
        with self._lock:
            self._read(connection)
            longer = self._lengths.astype(np.int16) - len(name)
            is_near = (np.abs(longer) <= most) & (np.bitwise_count(self._letters ^ own) <= 2 * most)
            is_whole = (longer > 0) & (longer <= len(name)) & ((own & ~self._letters) == 0)
            ids = self._words[is_near | is_whole].tolist()
        return _spelled(connection, ids)

    def _read(self, connection: sqlite3.Connection) -> None:
        while rows := connection.execute(
            "SELECT id, t FROM word WHERE id > ? ORDER BY id LIMIT ?", (self._last, _BATCH)
        ).fetchall():
            ids, words = zip(*rows, strict=True)
            self._last = ids[-1]
            self._near.clear()
            self._words = np.append(self._words, np.array(ids, dtype=np.int64))
            self._lengths = np.append(self._lengths, np.array(list(map(len, words)), dtype=np.uint8))
            self._letters = np.append(
                self._letters, np.array([_letters(plain(word)) for word in words], dtype=np.uint64)
            )
            self._firsts = np.append(
                self._firsts, np.array([ord(word[0]) for word in words], dtype=np.uint32)
            )


def _spelled(connection: sqlite3.Connection, ids: list[int]) -> list[str]:
    words = connection.execute(
        "SELECT t FROM json_each(?) AS wanted CROSS JOIN word ON word.id = wanted.value",
        (json.dumps(ids),),
    )
    return [word for (word,) in words.fetchall()]


def _letters(word: Iterable[str]) -> np.uint64:
    """An edit changes at most two of these bits."""
    bits = 0
    for letter in word:
        bits |= 1 << ord(letter) % _LETTERS
    return np.uint64(bits)
