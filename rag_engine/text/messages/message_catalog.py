"""A folder with one TOML file per language: texts with places (`{name}`), or tables of plural forms chosen by `count`
(Unicode CLDR).
"""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Final, TypeAlias, cast

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Sentence: TypeAlias = "str | dict[str, str]"

PLACE: Final = re.compile(r"\{(\w+)\}")
_GROUP_SEPARATORS: Final = {"en": ",", "ja": ",", "zh": ",", "ko": ",", "fr": "\u202f", "ru": "\u00a0"}
_COUNT: Final = "count"


class MessageCatalog:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[str, Mapping[str, Sentence]] = {}

    def sentences(self, language: str) -> Mapping[str, Sentence]:
        """English for a language without a file."""
        found = self._read.get(language)
        if found is None:
            path = self._folder / f"{language}.toml"
            found = _load(path) if language.isalpha() and path.is_file() else self.sentences("en")
            self._read[language] = found
        return found

    def say(self, name: str, language: str, values: Mapping[str, object]) -> str:
        """Raises `KeyError` for an unknown name or a place without a value."""
        return fill(self.sentences(language)[name], language, values)


def fill(sentence: Sentence, language: str, values: Mapping[str, object]) -> str:
    if isinstance(sentence, dict):
        count = values[_COUNT]
        form = plural_form(language, count) if isinstance(count, int) else "other"
        sentence = sentence[form]
    return PLACE.sub(lambda place: _text(place[1], values[place[1]], language), sentence)


def places(sentence: Sentence) -> frozenset[str]:
    forms = [sentence] if isinstance(sentence, str) else sentence.values()
    return frozenset(name for form in forms for name in PLACE.findall(form))


def plural_forms(language: str) -> frozenset[str]:
    """Of whole numbers below one million."""
    return frozenset(plural_form(language, number) for number in range(200))


def plural_form(language: str, number: int) -> str:
    """CLDR 47, without `many` of exact millions (es, fr, it, pt)."""
    match language:
        case "ja" | "ko" | "zh":
            return "other"
        case "fr" | "pt":
            return "one" if number in (0, 1) else "other"
        case "ru":
            return _russian_form(number)
        case _:
            return "one" if number == 1 else "other"


def _russian_form(number: int) -> str:
    last, is_teen = number % 10, number % 100 // 10 == 1
    if last == 1 and not is_teen:
        return "one"
    return "few" if 2 <= last <= 4 and not is_teen else "many"


def _text(place: str, value: object, language: str) -> str:
    if place == _COUNT and isinstance(value, int):
        return f"{value:,}".replace(",", _GROUP_SEPARATORS.get(language, "."))
    return str(value)


def _load(path: Path) -> Mapping[str, Sentence]:
    sentences: dict[str, Sentence] = {}
    for group in tomllib.loads(path.read_text(encoding="utf-8")).values():
        for name, sentence in cast("Mapping[str, Sentence]", group).items():
            if name in sentences:
                raise ValueError(f"{path.name}: {name!r} occurs twice.")
            sentences[name] = sentence
    return sentences
