"""Queries are embedded while a language model still writes the rest of its reply."""

from __future__ import annotations

import asyncio
from json import JSONDecodeError, JSONDecoder
from typing import TYPE_CHECKING, Final

import numpy as np

from rag_engine.retrieval.queries.query_variants import cleaned

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rag_engine.ports import Embedder
    from rag_engine.types import Matrix

_KEYS: Final = ("question", "queries", "translations")
_MOST: Final = 8
_LONGEST: Final = 1_000
_LONGEST_REPLY: Final = 8_000
_STRINGS: Final = JSONDecoder(strict=False)
_BETWEEN: Final = " \t\r\n,:"


class EarlyVectors:
    """Unused ones end by themselves, without a word if they fail."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._begun: dict[str, asyncio.Task[Matrix]] = {}
        self._read = 0

    def follow(self, reply: str) -> None:
        """`reply` so far."""
        ends_a_string = '"' in reply[self._read :]
        self._read = len(reply)
        if not ends_a_string or len(reply) > _LONGEST_REPLY:
            return
        for text in map(cleaned, written_strings(reply)):
            if 0 < len(text) <= _LONGEST and text not in self._begun and len(self._begun) < _MOST:
                task = asyncio.create_task(self._embedder.embed([text], side="query"), name="embed early")
                task.add_done_callback(_read_failure)
                self._begun[text] = task

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """Raises what the embedder raises."""
        new = [text for text in dict.fromkeys(texts) if text not in self._begun]
        rows = dict(zip(new, await self._embedder.embed(new, side="query"), strict=True)) if new else {}
        for text in texts:
            if text not in rows:
                rows[text] = (await self._begun[text])[0]
        return np.stack([rows[text] for text in texts])


def written_strings(reply: str) -> list[str]:
    """The strings of a JSON object in `reply` that are searched for, without an unfinished last one."""
    return [text for key in _KEYS for text in _values(reply, key)]


def _values(reply: str, key: str) -> Iterator[str]:
    place = reply.find(f'"{key}"')
    if place < 0:
        return
    place = _next(reply, place + len(key) + 2)
    opening = reply[place : place + 1]
    place = _next(reply, place + 1) if opening in ("[", "{") else place
    number = 0
    while reply[place : place + 1] == '"':
        try:
            text, end = _STRINGS.raw_decode(reply, place)
        except JSONDecodeError:
            return
        # In an object every other string is a name.
        if opening != "{" or number % 2:
            yield str(text)
        if opening not in ("[", "{"):
            return
        place, number = _next(reply, end), number + 1


def _next(reply: str, place: int) -> int:
    while reply[place : place + 1] and reply[place] in _BETWEEN:
        place += 1
    return place


def _read_failure(task: asyncio.Task[Matrix]) -> None:
    if not task.cancelled():
        task.exception()
