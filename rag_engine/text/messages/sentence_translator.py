"""Translates English sentences filled from known templates."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, cast

from rag_engine.text.messages.message_catalog import PLACE

if TYPE_CHECKING:
    from collections.abc import Collection

    from rag_engine.text.messages.message_catalog import MessageCatalog

_END: Final = re.compile(r"(?<=[.!?…]) +")
_MEMBER: Final = re.compile(r" \(([^()]+)\)(?=, | and \d+ more$|$)")
_AND_MORE: Final = re.compile(r"(?s)(.+) and (\d[\d,]*) more")
_NUMBERS: Final = frozenset({"count", "number", "total", "size", "most", "seconds", "megabytes", "length"})
_TRANSLATED: Final = frozenset({"sentence"})
_LISTS: Final = frozenset({"members", "places"})
_LONGEST: Final = 800
"""The time grows with the square of the length."""
_DEEPEST: Final = 8
"""File names can look like sentences in a row or within each other."""
_UNSPACED: Final = frozenset({"ja", "zh"})


class SentenceTranslator:
    """An English sentence may be a list of wordings. Translates places named `sentence`, and parts of lists
    (`members`, `places`), too. Each catalog comes with the names of its sentences to know, or None for all.
    """

    def __init__(self, *catalogs: tuple[MessageCatalog, Collection[str] | None]) -> None:
        self._catalogs = catalogs
        self._templates: list[tuple[MessageCatalog, str, re.Pattern[str]]] | None = None
        self._cached = lru_cache(maxsize=512)(self._translated)

    def translate(self, text: str, language: str) -> str:
        """Unchanged if a sentence is unknown or the language is English."""
        if language == "en" or not text or len(text) > _LONGEST:
            return text
        return self._cached(text, language, _DEEPEST) or text

    def knows(self, text: str) -> bool:
        return self._cached(text, "en", _DEEPEST) is not None

    def _translated(self, text: str, language: str, depth: int) -> str | None:
        if not depth:
            return None
        return (
            self._one(text, language, depth)
            or self._several(text, language, depth)
            or self._cut_off(text, language, depth)
        )

    def _one(self, text: str, language: str, depth: int) -> str | None:
        for catalog, name, pattern in self._patterns():
            found = pattern.fullmatch(text)
            values = self._values(found, language, depth) if found else None
            if values is not None:
                if language == "en":
                    return text
                return catalog.say(name, language, values)
        return None

    def _several(self, text: str, language: str, depth: int) -> str | None:
        for end in _END.finditer(text):
            first = self._one(text[: end.start()], language, depth)
            rest = self._cached(text[end.end() :], language, depth - 1) if first else None
            if first and rest:
                return f"{first}{'' if language in _UNSPACED else ' '}{rest}"
        return None

    def _cut_off(self, text: str, language: str, depth: int) -> str | None:
        if not text.endswith("…"):
            return None
        for end in reversed(list(_END.finditer(text))):
            whole = text[: end.start()]
            known = self._one(whole, language, depth) or self._several(whole, language, depth)
            if known:
                return f"{known} …"
        return None

    def _values(self, found: re.Match[str], language: str, depth: int) -> dict[str, object] | None:
        values: dict[str, object] = {}
        for place, value in found.groupdict().items():
            if place in _TRANSLATED:
                inner = self._cached(value, language, depth - 1)
                if inner is None:
                    return None
                values[place] = inner
            elif place in _LISTS:
                values[place] = self._list(value, language)
            elif place == "count":
                values[place] = int(value.replace(",", ""))
            else:
                values[place] = value
        return values

    def _list(self, text: str, language: str) -> str:

        def reason(found: re.Match[str]) -> str:
            return f" ({self._one(found[1], language, 1) or found[1]})"

        text = _MEMBER.sub(reason, text)
        more = _AND_MORE.fullmatch(text)
        if more is None or language == "en":
            return text
        return self._catalogs[0][0].say("and_more", language, {"list": more[1], "number": more[2]})

    def _patterns(self) -> list[tuple[MessageCatalog, str, re.Pattern[str]]]:
        if self._templates is None:
            found = [
                (len(PLACE.sub("", wording)), catalog, name, _pattern(wording))
                for catalog, names in self._catalogs
                for name, sentence in catalog.sentences("en").items()
                if names is None or name in names
                for wording in _english(sentence)
            ]
            found.sort(key=lambda template: -template[0])
            self._templates = [(catalog, name, pattern) for _, catalog, name, pattern in found]
        return self._templates


def _english(sentence: object) -> list[str]:
    if isinstance(sentence, dict):
        return list(cast("dict[str, str]", sentence).values())
    return [sentence] if isinstance(sentence, str) else cast("list[str]", sentence)


def _pattern(wording: str) -> re.Pattern[str]:
    parts = PLACE.split(wording)
    for index in range(0, len(parts), 2):
        parts[index] = re.escape(parts[index])
    for index in range(1, len(parts), 2):
        parts[index] = _group(parts[index])
    return re.compile("".join(parts), re.DOTALL)


def _group(place: str) -> str:
    if place in _NUMBERS:
        return rf"(?P<{place}>\d[\d,.]*)"
    if place == "suffix":
        return rf"(?P<{place}>\w+)"
    if place == "file":
        return rf"(?P<{place}>(?:(?!\. ).)+?)"
    if place == "failure":
        return rf"(?P<{place}>.+[.!?…]|.+?)"
    if place == "places":
        return rf"(?P<{place}>[^()]+)"
    return rf"(?P<{place}>.+?)"
