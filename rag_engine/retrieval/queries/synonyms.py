"""In `PTO = paid leave, vacation` all terms are synonyms."""

from __future__ import annotations

import logging
import math
import re
import unicodedata
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from rag_engine.errors import UserError
from rag_engine.text.analyzer import query_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rag_engine.types import KnowledgeBaseId

_log = logging.getLogger(__name__)

MOST_ENTRIES: Final = 500
_MOST_TERMS: Final = 10
_LONGEST_TERM: Final = 60
_MOST_WORDS: Final = 8
_SHARE: Final = 0.7
_MOST_TOKENS: Final = 200
_MOST_WORDINGS: Final = 3
_MOST_ASKED: Final = 200
_MOST_ANALYSED: Final = 5_000
"""Further knowledge bases then wait for the next question."""
_MOST_TRIED: Final = 20_000
_SEPARATOR: Final = re.compile(r"[=＝,，、;；\n]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Synonyms:
    tokens: Mapping[KnowledgeBaseId, Mapping[str, float]] = field(
        default_factory=dict["KnowledgeBaseId", "Mapping[str, float]"]
    )
    """With weights, by the knowledge base whose chunks they find."""
    known: frozenset[str] = frozenset()
    """Of the question's own words with synonyms."""
    wordings: tuple[str, ...] = ()


def entry_of(text: str) -> tuple[str, ...]:
    """The terms of `a = b, c`. Raises `UserError`."""
    return validated(_SEPARATOR.split(text[: 20 * _MOST_TERMS * _LONGEST_TERM]))


def validated(terms: Iterable[str]) -> tuple[str, ...]:
    terms = distinct(map(_tidy, terms))
    if len(terms) < 2:
        raise UserError("Synonyms are written like this: PTO = paid leave, vacation.")
    for term in terms:
        if len(term) > _LONGEST_TERM or len(term.split()) > _MOST_WORDS:
            raise UserError(
                f"A synonym may have {_LONGEST_TERM} characters in {_MOST_WORDS} words: shorten “{term[:30]}…”."
            )
        if not _words(term):
            raise UserError(f"There are no words in “{term}” that could be searched for.")
    return merged(terms, ())


def merged(terms: Sequence[str], more: Sequence[str]) -> tuple[str, ...]:
    found = distinct((*terms, *more))
    if len(found) > _MOST_TERMS:
        raise UserError(f"An entry of synonyms may have {_MOST_TERMS} terms: make several of it.")
    return found


def distinct(terms: Iterable[str]) -> tuple[str, ...]:
    found: dict[str, str] = {}
    for term in terms:
        if term:
            found.setdefault(folded(term), term)
    return tuple(found.values())


def folded(term: str) -> str:
    return _tidy(term).casefold()


def synonyms_for(question: str, entries: Mapping[KnowledgeBaseId, Sequence[Sequence[str]]]) -> Synonyms:
    """One step alone: entries in a circle end."""
    asked = _words(question)[:_MOST_ASKED]
    tokens: dict[KnowledgeBaseId, Mapping[str, float]] = {}
    known: set[str] = set()
    wordings: dict[str, None] = {}
    analysed = _words.cache_info().misses
    for number, (base, listed) in enumerate(entries.items()):
        if _words.cache_info().misses - analysed >= _MOST_ANALYSED:
            _log.info("synonyms_of_later knowledge_bases=%d", len(entries) - number)
            break
        added: dict[str, float] = {}
        for entry, term, found in _occurrences(asked, _glossary(tuple(map(tuple, listed)))):
            known.update(token for _, forms in found for token in forms)
            for other in entry:
                if other is term:
                    continue
                _add(other.words, added)
                if len(wordings) < _MOST_WORDINGS:
                    wordings[_reworded(question, [word for word, _ in found], term.text, other.text)] = None
                    wordings.pop(question, None)
        if added:
            room = _MOST_TOKENS - sum(map(len, tokens.values()))
            tokens[base] = dict(list(added.items())[: max(room, 0)])
    return Synonyms(tokens=tokens, known=frozenset(known), wordings=tuple(wordings))


def _add(words: Sequence[_Word], added: dict[str, float]) -> None:
    for _, forms in words:
        for token in forms:
            added[token] = max(added.get(token, 0.0), _SHARE / math.sqrt(len(words)))


_Word = tuple[str, tuple[str, ...]]


@lru_cache(maxsize=8_192)
def _words(text: str) -> tuple[_Word, ...]:
    return tuple((word, forms) for word, forms in query_words(text) if forms)


@dataclass(frozen=True, slots=True, eq=False)
class _Term:
    text: str
    words: tuple[_Word, ...]


_Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Glossary:
    entries: tuple[tuple[_Term, ...], ...]
    places: Mapping[str, tuple[_Place, ...]]


@lru_cache(maxsize=32)
def _glossary(listed: tuple[tuple[str, ...], ...]) -> _Glossary:
    entries = tuple(tuple(_Term(text, _words(text)) for text in terms) for terms in listed)
    places: dict[str, list[_Place]] = {}
    for number, terms in enumerate(entries):
        for at, term in enumerate(terms):
            first = term.words[0] if term.words else ("", ())
            for key in {first[0].casefold(), *first[1], first[0][:1]} if first[0] else ():
                places.setdefault(key, []).append((number, at))
    return _Glossary(entries, {key: tuple(found) for key, found in places.items()})


def _occurrences(
    asked: Sequence[_Word], glossary: _Glossary
) -> list[tuple[tuple[_Term, ...], _Term, Sequence[_Word]]]:
    found: dict[_Place, Sequence[_Word]] = {}
    tried = 0
    for start, word in enumerate(asked):
        if tried > _MOST_TRIED:
            break
        keys = {word[0].casefold(), *word[1], *("" if word[0].isascii() else word[0])}
        for place in {place: None for key in keys for place in glossary.places.get(key, ())}:
            term = glossary.entries[place[0]][place[1]].words
            tried += 1
            if place not in found and (same := _occurrence(asked, start, term)):
                found[place] = same
    return [
        (entry, entry[at], same)
        for (number, at), same in sorted(found.items(), key=lambda item: item[0])
        for entry in (glossary.entries[number],)
    ]


def _occurrence(asked: Sequence[_Word], start: int, term: Sequence[_Word]) -> Sequence[_Word]:
    found = asked[start : start + len(term)]
    if len(found) == len(term) and all(_is_same(one, other) for one, other in zip(found, term, strict=True)):
        return term if _is_part(found[0], term[0]) else found
    return ()


def _is_same(asked: _Word, term: _Word) -> bool:
    if asked[0].casefold() == term[0].casefold() or _is_part(asked, term):
        return True
    plain = asked[0].isalpha() and term[0].isalpha() and not _has_grams(term)
    return plain and bool(set(asked[1]) & set(term[1]))


def _is_part(asked: _Word, term: _Word) -> bool:
    return asked[0] != term[0] and term[0] in asked[0] and _has_grams(term)


def _has_grams(word: _Word) -> bool:
    return not word[0].isascii() and word[0][0].casefold() in word[1]


def _reworded(question: str, found: Sequence[str], term: str, other: str) -> str:
    text = unicodedata.normalize("NFKC", question)
    pattern = r"\W+(?:\w{1,3}\W+)?".join(map(re.escape, found))
    return re.sub(pattern, lambda _: other, text, count=1) if found else text.replace(term, other, 1)


def _tidy(term: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", term).split())
