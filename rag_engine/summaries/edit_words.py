"""Messages that only want the last answer in another form."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from rag_engine.summaries.length_and_language import names_language
from rag_engine.text.lazy_pattern import lazy

_PATH: Final = Path(__file__).with_suffix(".toml")
_WORD: Final = re.compile(r"\w+")
_UNSPACED: Final = frozenset({"zh", "ja", "ko"})
_LEADS: Final = frozenset(
    ["as", "into", "in", "als", "ins", "en", "como", "come", "em", "sous", "dans", "numa"]
)
_SIGNS: Final = lazy(lambda: re.compile(r"[\s,.!?…。！？、，]+"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _EditWords:
    phrases: tuple[str, ...]
    changes: frozenset[str] = frozenset()
    verbs: frozenset[str] = frozenset()
    it: frozenset[str] = frozenset()
    forms: frozenset[str] = frozenset()
    styles: frozenset[str] = frozenset()
    links: frozenset[str] = frozenset()


def is_edit(text: str, *, is_styled: bool = False) -> bool:
    """`is_styled`: `text` named a length or language."""
    folded = text.casefold()
    return any(_is_edit(folded, words, is_styled=is_styled) for words in _spaced()) or any(
        _has_phrases_alone(folded, phrases, links) for phrases, links in _unspaced()
    )


def _is_edit(text: str, known: _EditWords, *, is_styled: bool) -> bool:
    rest = text
    for phrase in known.phrases:
        rest = rest.replace(phrase, " ")
    words = _WORD.findall(rest)
    found = frozenset(words)
    everything = known.changes | known.verbs | known.it | known.forms | known.styles | known.links
    if not all(word in everything or names_language(word) for word in words):
        return False
    if found & (known.changes | known.styles) or rest != text:
        return True
    points = bool(found & known.verbs and found & known.it)
    if is_styled:
        return points
    return bool(found & known.forms) and (points or bool(found & _LEADS))


def _has_phrases_alone(text: str, phrases: tuple[str, ...], links: tuple[str, ...]) -> bool:
    rest = _without(text, phrases)
    return rest != text and not _SIGNS.sub("", _without(_SIGNS.sub("", rest), links))


def _without(text: str, parts: tuple[str, ...]) -> str:
    for part in parts:
        text = text.replace(part, "")
    return text


@cache
def _spaced() -> tuple[_EditWords, ...]:
    return tuple(
        _EditWords(
            phrases=_listed(kinds["phrases"]),
            **{kind: frozenset(words.split()) for kind, words in kinds.items() if kind != "phrases"},
        )
        for language, kinds in _read().items()
        if language not in _UNSPACED
    )


@cache
def _unspaced() -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    return tuple(
        (_listed(kinds["phrases"]), _listed(kinds["links"]))
        for language, kinds in _read().items()
        if language in _UNSPACED
    )


def _listed(phrases: str) -> tuple[str, ...]:
    return tuple(sorted((phrase.strip() for phrase in phrases.split(",")), key=len, reverse=True))


def _read() -> dict[str, dict[str, str]]:
    return tomllib.loads(_PATH.read_text(encoding="utf-8"))
