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
    """`phrases`: by first words, longest first, with what each may mean, such as "operations sum"."""

    phrases: Mapping[str, tuple[tuple[tuple[str, ...], frozenset[str]], ...]]
    sentences: Mapping[str, str]

    def at(
        self, found: Sequence[QuestionWord], start: int, *groups: str, free: Sequence[bool] = ()
    ) -> tuple[int, str]:
        """End and meaning of the longest that begins there; `start` and "" if none does."""
        for phrase, meanings in self.phrases.get(found[start].folded, ()):
            if not all(free[start : start + len(phrase)]):
                continue
            if len(phrase) <= len(found) - start and all(
                word.folded == part
                for word, part in zip(found[start : start + len(phrase)], phrase, strict=True)
            ):
                for meaning in sorted(meanings):
                    if meaning.partition(" ")[0] in groups:
                        return start + len(phrase), meaning
        return start, ""

    def has(self, word: QuestionWord, *groups: str) -> bool:
        return any(
            len(phrase) == 1 and any(meaning.partition(" ")[0] in groups for meaning in meanings)
            for phrase, meanings in self.phrases.get(word.folded, ())
        )


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
    return Lexicon(_by_first_word(meanings), {**raw["labels"], **raw["notes"]})


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
        part = found[start : start + len(phrase)]
        if len(part) == len(phrase) and all(
            word.folded == other for word, other in zip(part, phrase, strict=True)
        ):
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
