"""From `words/*.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from rag_engine.tables.rules.language import adjectives
from rag_engine.tables.rules.language.question_words import folded, words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag_engine.tables.rules.language.question_words import QuestionWord

LANGUAGES: Final = ("en", "de", "es", "fr", "zh")
_FOLDER: Final = Path(__file__).parent / "words"


@dataclass(frozen=True, slots=True)
class Lexicon:
    """`phrases`: by first words, longest first, with meanings such as ("operations", "operations sum")."""

    phrases: Mapping[str, tuple[tuple[tuple[str, ...], tuple[tuple[str, str], ...]], ...]]
    sentences: Mapping[str, str]

    def at(
        self, found: Sequence[QuestionWord], start: int, *groups: str, free: Sequence[bool] = ()
    ) -> tuple[int, str]:
        """End and meaning of the longest that begins there; `start` and "" if none does."""
        for phrase, meanings in self.phrases.get(found[start].folded, ()):
            end = start + len(phrase)
            meant = next((meaning for group, meaning in meanings if group in groups), "")
            if meant and all(free[start:end]) and _begins(phrase, found, start):
                return end, meant
        return start, ""

    def meanings_at(self, found: Sequence[QuestionWord], start: int, *groups: str) -> frozenset[str]:
        return frozenset(
            meaning
            for phrase, meanings in self.phrases.get(found[start].folded, ())
            for group, meaning in meanings
            if group in groups and _begins(phrase, found, start)
        )

    def has(self, word: QuestionWord, *groups: str) -> bool:
        return any(
            len(phrase) == 1 and any(group in groups for group, _ in meanings)
            for phrase, meanings in self.phrases.get(word.folded, ())
        )


def _begins(phrase: tuple[str, ...], found: Sequence[QuestionWord], start: int) -> bool:
    if len(phrase) > len(found) - start:
        return False
    return all(found[start + at].folded == phrase[at] for at in range(1, len(phrase)))


@lru_cache(maxsize=8)
def lexicon(language: str) -> Lexicon:
    raw = tomllib.loads((_FOLDER / f"{language}.toml").read_text(encoding="utf-8"))
    meanings: dict[tuple[str, ...], set[str]] = {}
    for group, entries in raw.items():
        if group in {"labels", "notes", "adjectives"}:
            continue
        for name, phrases in cast("Mapping[str, list[str]]", entries).items():
            for phrase in phrases:
                key = tuple(word.folded for word in words(phrase, language))
                meanings.setdefault(key, set()).add(f"{group} {name}")
    for phrase, meaning in adjectives.meanings(language, raw["adjectives"]):
        meanings.setdefault(tuple(word.folded for word in words(phrase, language)), set()).add(meaning)
    phrases = {
        first: tuple(
            (phrase, tuple((one.partition(" ")[0], one) for one in sorted(each))) for phrase, each in found
        )
        for first, found in _by_first_word(meanings).items()
    }
    return Lexicon(phrases, {**raw["labels"], **raw["notes"]})


@lru_cache(maxsize=1)
def short_words() -> frozenset[str]:
    raw = tomllib.loads((_FOLDER / "short.toml").read_text(encoding="utf-8"))
    return frozenset(raw["words"])


@dataclass(frozen=True, slots=True)
class Concept:
    name: str
    adds_up: bool = True
    is_place: bool = False
    headers: frozenset[str] = frozenset()


@lru_cache(maxsize=1)
def concepts() -> tuple[
    Mapping[str, Concept], Mapping[str, tuple[tuple[tuple[str, ...], frozenset[str]], ...]]
]:
    raw = tomllib.loads((_FOLDER / "concepts.toml").read_text(encoding="utf-8"))
    known: dict[str, Concept] = {}
    meanings: dict[tuple[str, ...], set[str]] = {}
    for name, entry in raw.items():
        known[name] = Concept(
            name,
            entry.get("adds_up", True),
            entry.get("place", False),
            frozenset(map(folded, entry.get("headers", ()))),
        )
        for phrase in entry["words"]:
            key = tuple(word.folded for word in words(phrase, ""))
            meanings.setdefault(key, set()).add(name)
    return known, _by_first_word(meanings)


def concepts_at(found: Sequence[QuestionWord], start: int) -> tuple[int, frozenset[str]]:
    for phrase, names in concepts()[1].get(found[start].folded, ()):
        if _begins(phrase, found, start):
            return start + len(phrase), names
    return start, frozenset()


def _by_first_word(
    meanings: Mapping[tuple[str, ...], set[str]],
) -> dict[str, tuple[tuple[tuple[str, ...], frozenset[str]], ...]]:
    found: dict[str, list[tuple[tuple[str, ...], frozenset[str]]]] = {}
    for phrase, names in meanings.items():
        if phrase:
            found.setdefault(phrase[0], []).append((phrase, frozenset(names)))
    return {
        first: tuple(sorted(entries, key=lambda entry: -len(entry[0]))) for first, entries in found.items()
    }
