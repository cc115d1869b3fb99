"""Words of a question that no chunk has: the nearest words that some chunk has, by the term suggester.

The rules are those of `rag_engine.spelling`; the first letter is kept.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

from rag_engine.indexes.elasticsearch.schema import TOKENS
from rag_engine.searchable import searchable_text
from rag_engine.spelling import (
    MOST_CORRECTED,
    MOST_CORRECTIONS,
    SHORTEST,
    correctable,
    has_sibling,
    most_edits,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from rag_engine.types import Ranking

_NAMES = {1: "one_edit", 2: "two_edits"}


def unseen(words: Sequence[str], found: Sequence[Ranking]) -> list[str]:
    """The words long enough to be corrected that none of the lexical hits shows, which therefore no chunk may have.

    A rare word ranks what has it high; a stem's last letter may not stand in the text.
    """
    text = "\n".join(
        searchable_text(hit.chunk) for ranking in found if ranking.leg == "lexical" for hit in ranking.hits
    ).casefold()
    missing = [word for word in correctable(dict.fromkeys(words)) if word[:-1] not in text]
    if not missing or text.isascii():
        return missing
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))
    return [word for word in missing if word[:-1] not in plain]


def suggestion(words: Sequence[str]) -> dict[str, Any]:
    """The part of a search that asks for corrections of these words; empty when there are none."""
    asked: dict[str, Any] = {}
    for edits, name in _NAMES.items():
        chosen = [word for word in words if most_edits(word) == edits]
        if chosen:
            asked[name] = {
                "text": " ".join(chosen),
                "term": {
                    "field": "tokens",
                    "analyzer": TOKENS,
                    "suggest_mode": "missing",
                    "max_edits": edits,
                    "prefix_length": 1,
                    "min_word_length": SHORTEST,
                    "size": MOST_CORRECTIONS,
                    "string_distance": "damerau_levenshtein",
                },
            }
    return asked


def occurrences(words: Sequence[str]) -> dict[str, Any]:
    """The part of a search that counts the chunks with each of these words: what a word's absence means is judged by one shard alone."""
    return {"occurring": {"filters": {"filters": {word: {"term": {"tokens": word}} for word in words}}}}


def not_occurring(counted: Mapping[str, Any]) -> frozenset[str]:
    """The words that no chunk has, by the answer to `occurrences`."""
    buckets: Mapping[str, Mapping[str, int]] = counted["occurring"]["buckets"]
    return frozenset(word for word, bucket in buckets.items() if not bucket["doc_count"])


def corrections(
    words: Sequence[str],
    suggested: Mapping[str, Sequence[Mapping[str, Any]]],
    *,
    missing: Collection[str],
) -> dict[str, list[str]]:
    """For each of the `missing` words, which occur nowhere, the words it was probably meant to be, if any."""
    found: dict[str, list[str]] = {}
    for entries in suggested.values():
        for entry in entries:
            if entry["options"] and entry["text"] in missing:
                best = max(option["score"] for option in entry["options"])
                found[entry["text"]] = [
                    option["text"] for option in entry["options"] if option["score"] == best
                ]
    present = [word for word in words if word not in missing]
    kept = [word for word in found if not has_sibling(word, present)]
    return {word: found[word] for word in kept[:MOST_CORRECTED]}
