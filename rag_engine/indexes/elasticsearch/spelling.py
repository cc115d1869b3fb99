"""The term suggester, by the rules of `rag_engine.text.spelling`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rag_engine.indexes.elasticsearch.schema import TOKENS
from rag_engine.text.spelling import SHORTEST, edits, most_edits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NAMES = {1: "one_edit", 2: "two_edits"}
_ANY_FREQUENCY = 2_000_000_000
_MOST_NEAR = 200
"""Of any knowledge base; only those that visible chunks contain are used."""


def suggestion(words: Sequence[str]) -> dict[str, Any]:
    """Empty without words."""
    asked: dict[str, Any] = {}
    for most, name in _NAMES.items():
        chosen = [word for word in words if most_edits(word) == most]
        if chosen:
            asked[name] = {
                "text": " ".join(chosen),
                "term": {
                    "field": "tokens",
                    "analyzer": TOKENS,
                    # Also of words that an unreadable knowledge base contains.
                    "suggest_mode": "always",
                    "max_term_freq": _ANY_FREQUENCY,
                    "max_edits": most,
                    "prefix_length": 1,
                    "min_word_length": SHORTEST,
                    "size": _MOST_NEAR,
                    "shard_size": _MOST_NEAR,
                    "accuracy": 0.1,
                    "string_distance": "damerau_levenshtein",
                },
            }
    return asked


def near_words(suggested: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, dict[int, list[str]]]:
    """For each word the near ones, by number of edits."""
    found: dict[str, dict[int, list[str]]] = {}
    for entries in suggested.values():
        for entry in entries:
            most = most_edits(entry["text"])
            by_edits = found.setdefault(entry["text"], {})
            for option in entry["options"]:
                if (distance := edits(entry["text"], option["text"], most=most)) <= most:
                    by_edits.setdefault(distance, []).append(option["text"])
    return found
