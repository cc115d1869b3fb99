"""Comparatives and superlatives from the plain forms of adjectives."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_DOUBLED: Final = frozenset({"big", "hot", "thin", "fat", "wet", "slim"})
_LONGEST_ENGLISH: Final = 7
"""Longer ones take "more", those in -y aside."""
_GERMAN_ENDINGS: Final = ("", "e", "en", "er", "es", "em")
_HOW: Final = {"en": ("how",), "de": ("wie",), "es": ("cuán", "qué tan"), "fr": (), "zh": ("多", "有多")}
_LESS: Final = {"en": ("least", "less"), "es": ("menos", "menos"), "fr": ("moins", "moins")}
_OPPOSITES: Final = {"most": "least", "least": "most", "above": "below", "below": "above"}
_HOW_MUCH: Final = {
    "en": ("how much",),
    "de": ("um wie viel", "wie viel", "wieviel"),
    "es": ("cuánto",),
    "fr": ("combien",),
    "zh": (),
}


def meanings(language: str, entries: Mapping[str, Mapping[str, Sequence[str]]]) -> Iterator[tuple[str, str]]:
    """Phrases with what they mean: "most expensive", "superlatives most price". `entries`: by what is measured, the words
    for more and for less of it, "good/better/best" where forms are irregular.
    """
    for concept, poles in entries.items():
        for pole, adjectives in poles.items():
            extreme, side = ("most", "above") if pole == "more" else ("least", "below")
            for adjective in adjectives:
                comparatives, superlatives = _FORMS[language](adjective)
                for phrase in superlatives:
                    yield phrase, f"superlatives {extreme} {concept}"
                for phrase, than in product(comparatives, _THAN[language]):
                    yield f"{phrase} {than}".strip(), f"comparisons {side} {concept}"
                if language == "zh":
                    yield f"{adjective}多少", "operations difference"
                    yield f"{adjective}多少", f"qualities {concept}"
                for how, phrase in product(_HOW_MUCH[language], comparatives):
                    yield f"{how} {phrase}", "operations difference"
                    yield f"{how} {phrase}", f"qualities {concept}"
                plain = adjective.partition("/")[0]
                if less := _LESS.get(language):
                    opposite, below = _OPPOSITES[extreme], _OPPOSITES[side]
                    for phrase in _inflected(plain, language):
                        yield f"{less[0]} {phrase}", f"superlatives {opposite} {concept}"
                        yield f"{less[1]} {phrase} {_THAN[language][0]}", f"comparisons {below} {concept}"
                for how in _HOW[language] if pole == "more" else ():
                    yield f"{how} {plain}", "operations much"
                    yield f"{how} {plain}", f"qualities {concept}"


def _inflected(adjective: str, language: str) -> list[str]:
    if language == "fr":
        return [adjective, f"{adjective}e", f"{adjective}s", f"{adjective}es"]
    if language != "es":
        return [adjective]
    stem = adjective.removesuffix("o")
    return (
        [f"{stem}{end}" for end in ("o", "a", "os", "as")]
        if stem != adjective
        else [adjective, f"{adjective}s"]
    )


def _english(adjective: str) -> tuple[list[str], list[str]]:
    if "/" in adjective:
        _, comparative, superlative = adjective.split("/")
        return [comparative], [superlative]
    if len(adjective) > _LONGEST_ENGLISH or (
        len(adjective) > 5 and not adjective.endswith(("y", "ow", "le"))
    ):
        return [f"more {adjective}"], [f"most {adjective}"]
    more, most = [f"more {adjective}"], [f"most {adjective}"]
    stem = adjective
    if adjective in _DOUBLED:
        stem += adjective[-1]
    elif adjective.endswith("y"):
        stem = f"{adjective[:-1]}i"
    elif adjective.endswith("e"):
        stem = adjective[:-1]
    return [f"{stem}er", *more], [f"{stem}est", *most]


def _german(adjective: str) -> tuple[list[str], list[str]]:
    _, comparative, superlative = adjective.split("/")
    ends = [f"{superlative}{end}" for end in _GERMAN_ENDINGS[1:]]
    return [f"{comparative}{end}" for end in _GERMAN_ENDINGS], [*ends, f"am {superlative}en"]


def _spanish(adjective: str) -> tuple[list[str], list[str]]:
    if "/" in adjective:
        _, comparative, superlative = adjective.split("/")
        return [comparative], [superlative, f"{superlative}es"]
    more = [f"más {form}" for form in _inflected(adjective, "es")]
    return more, more


def _french(adjective: str) -> tuple[list[str], list[str]]:
    plain, *irregular = adjective.split("/")
    more = irregular or [f"plus {form}" for form in _inflected(plain, "fr")]
    return more, more


def _chinese(adjective: str) -> tuple[list[str], list[str]]:
    return [f"{adjective}于", f"{adjective}过"] if len(adjective) == 1 else [], [f"最{adjective}"]


_FORMS: Final = {"en": _english, "de": _german, "es": _spanish, "fr": _french, "zh": _chinese}
_THAN: Final = {"en": ("than",), "de": ("als",), "es": ("que", "de"), "fr": ("que", "de"), "zh": ("",)}
