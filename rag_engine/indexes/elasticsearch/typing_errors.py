"""Words of a question that no chunk has: the nearest words that some chunk has, by the term suggester.

The same rules as the embedded index's: words of four letters and more, the first letter kept, one edit, or two from eight
letters on; a word that shares its beginning with one that does occur is left alone, being another form of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rag_engine.indexes.elasticsearch.schema import TOKENS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SHARE = 0.7
"""What a corrected word counts for, against one that was typed."""

_SHORTEST = 4
_LONGEST = 24
_TWO_EDITS_FROM = 8
_MOST_CORRECTED = 6
_MOST_CORRECTIONS = 3
_SHARED_STEM = 0.6
_NAMES = {1: "one_edit", 2: "two_edits"}


def suggestion(words: Sequence[str]) -> dict[str, Any]:
    """The part of a search that asks for corrections; empty when no word could have one."""
    correctable = [word for word in words if _SHORTEST <= len(word) <= _LONGEST and word.isalpha()]
    asked: dict[str, Any] = {}
    for edits, name in _NAMES.items():
        chosen = [word for word in correctable if (len(word) >= _TWO_EDITS_FROM) == (edits == 2)]
        if chosen:
            asked[name] = {
                "text": " ".join(chosen),
                "term": {
                    "field": "tokens",
                    "analyzer": TOKENS,
                    "suggest_mode": "missing",
                    "max_edits": edits,
                    "prefix_length": 1,
                    "min_word_length": _SHORTEST,
                    "size": _MOST_CORRECTIONS,
                    "string_distance": "damerau_levenshtein",
                },
            }
    return asked


def corrections(words: Sequence[str], responses: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """For each word that occurs nowhere the words it was probably meant to be, if any."""
    found: dict[str, list[str]] = {}
    for response in responses:
        for entries in response.get("suggest", {}).values():
            for entry in entries:
                if entry["options"]:
                    best = max(option["score"] for option in entry["options"])
                    found[entry["text"]] = [
                        option["text"] for option in entry["options"] if option["score"] == best
                    ]
    present = [word for word in words if word not in found]
    kept = [word for word in found if not _has_sibling(word, present)]
    return {word: found[word] for word in kept[:_MOST_CORRECTED]}


def _has_sibling(word: str, present: Sequence[str]) -> bool:
    stem = word[: max(3, int(_SHARED_STEM * len(word)))]
    return any(other.startswith(stem) for other in present)
