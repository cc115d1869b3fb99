"""By script and function words: small n-gram models weigh a megabyte and guess on short questions (docs/decisions.md)."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from types import MappingProxyType

from rag_engine.text.language.stop_words import FUNCTION_WORDS
from rag_engine.text.lazy_pattern import lazy

_SAMPLE = 500

_SCRIPTS = MappingProxyType(
    {
        "han": "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff",
        "kana": "\u3041-\u3096\u30a1-\u30fa\u30fc\uff66-\uff9d",
        "ko": "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3",
        "th": "\u0e01-\u0e3a\u0e40-\u0e4e",
        "lo": "\u0e81-\u0ecd\u0edc-\u0edf",
        "my": "\u1000-\u103f",
        "km": "\u1780-\u17d3",
        "cyrillic": "\u0400-\u052f",
        "arabic": "\u0620-\u064a\u066e-\u06d3\u06fa-\u06ff",
        "el": "\u0370-\u03ff\u1f00-\u1fff",
        "he": "\u05d0-\u05f4",
        "hi": "\u0904-\u0939\u093e-\u094d\u0958-\u0961",
        "bn": "\u0985-\u09cd\u09dc-\u09e1",
        "pa": "\u0a05-\u0a4d\u0a59-\u0a5e",
        "gu": "\u0a85-\u0acd",
        "ta": "\u0b85-\u0bcd",
        "te": "\u0c05-\u0c4d",
        "kn": "\u0c85-\u0ccd",
        "ml": "\u0d05-\u0d4d",
        "hy": "\u0531-\u058a",
        "ka": "\u10a0-\u10ff",
        "am": "\u1200-\u137f",
    }
)
_IDEOGRAPHIC = frozenset({"han", "kana", "ko"})
"""One character carries as much as two or three letters."""


def _run_of(characters: str) -> re.Pattern[str]:
    return lazy(lambda: re.compile(f"[{characters}]+"))


_RUNS = MappingProxyType({name: _run_of(ranges) for name, ranges in _SCRIPTS.items()})
_LATIN = lazy(lambda: re.compile("[A-Za-z\u00aa\u00ba\u00c0-\u024f\u1e00-\u1eff]+"))
_NOT_LATIN = lazy(lambda: re.compile("[^\x00-\u02ff\u1e00-\u1eff\u2000-\u2fff]+"))
_NOT_ASCII = lazy(lambda: re.compile("[^\x00-\x7f]+"))
_WORD = lazy(lambda: re.compile(r"(?<![\w-])[^\W\d_]+(?:['’][^\W\d_]+)?(?![\w-])"))

_TELLING_LETTERS = MappingProxyType(
    {
        letter: tuple(languages.split())
        for letters, languages in (
            ("ß", "de"),
            ("äöü", "de sv fi tr hu et sk"),
            ("ñ¿¡", "es"),
            ("ãõ", "pt vi et"),
            ("œ", "fr"),
            ("êèù", "fr it vi"),
            ("ç", "fr pt tr ca"),
            ("å", "sv da no"),
            ("æø", "da no"),
            ("őű", "hu"),
            ("ąęłśźż", "pl"),
            ("ěřů", "cs"),
            ("ľĺŕ", "sk"),
            ("ășțţ", "ro"),
            ("ğış", "tr"),
            ("đơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ", "vi"),
            ("ėįųū", "lt"),
            ("āēīļņķģ", "lv"),
            ("ć", "hr pl"),
            ("ĉĝĥĵŝŭ", "eo"),
            ("іїєґ", "uk"),
            ("ыэё", "ru"),
            ("ђћјљњџ", "sr"),
        )
        for letter in letters
    }
)
_CYRILLIC = frozenset({"ru", "uk", "bg", "sr"})
_PERSIAN = lazy(lambda: re.compile("[پچژگکی]"))
_URDU = lazy(lambda: re.compile("[ٹڈڑےں]"))

_ENGLISH_TOO = "due go her man men met nor over pro see sense sin son ten under war"

_SELDOM = frozenset({"ca", "eo", "et", "eu", "ga", "hr", "lt", "lv", "sk", "sl"})
_SELDOM_SHARE = 0.75
_KIN = (frozenset({"da", "no"}), frozenset({"cs", "sk"}), frozenset({"hr", "sl"}), frozenset({"es", "ca"}))

_ENOUGH = 1.0
_CLEARLY = 1.2
_POSSIBLE = 0.5
_MOST_POSSIBLE = 3


def question_language(text: str, *, chosen: str = "") -> str:
    """English if neither is clear."""
    return chosen or detect(text) or "en"


def detect(text: str) -> str:
    """ISO 639-1, or "" if unclear."""
    sample = text[:_SAMPLE]
    script = _script(sample)
    if script not in {"latin", "cyrillic"}:
        return _of_script(script, sample)
    ranked = _ranked(sample, script)
    if not ranked or ranked[0][1] < _ENOUGH:
        return ""
    best, evidence = ranked[0]
    rivals = [score for name, score in ranked[1:3] if not any({best, name} <= kin for kin in _KIN)]
    return best if not rivals or evidence >= _CLEARLY * rivals[0] else ""


def possible(text: str) -> tuple[str, ...]:
    """Likeliest first; may be empty."""
    sample = text[:_SAMPLE]
    script = _script(sample)
    if script not in {"latin", "cyrillic"}:
        language = _of_script(script, sample)
        return (language,) if language else ()
    ranked = _ranked(sample, script)
    return tuple(name for name, score in ranked if score >= _POSSIBLE * ranked[0][1])[:_MOST_POSSIBLE]


def _script(sample: str) -> str:
    latin = sum(map(len, _LATIN.findall(sample)))
    other = "" if sample.isascii() else "".join(_NOT_LATIN.findall(sample))
    weights = {"latin": float(latin)}
    for name, pattern in _RUNS.items() if other else ():
        if found := pattern.findall(other):
            weights[name] = sum(map(len, found)) * (2.5 if name in _IDEOGRAPHIC else 1.0)
    if "han" in weights and weights.get("kana", 0.0) >= 0.08 * weights["han"]:
        weights["kana"] += weights.pop("han")
    best = max(weights, key=lambda name: weights[name])
    return best if weights[best] else ""


def _of_script(script: str, sample: str) -> str:
    if script == "arabic":
        if _URDU.search(sample):
            return "ur"
        return "fa" if _PERSIAN.search(sample) else "ar"
    return {"han": "zh", "kana": "ja"}.get(script, script)


def _ranked(sample: str, script: str) -> list[tuple[str, float]]:
    evidence: dict[str, float] = {}
    known = _weights()
    words = [word for word in _WORD.findall(sample) if len(word) < 2 or not word.isupper()] or _WORD.findall(
        sample
    )
    for position, word in enumerate(words):
        share = 0.5 if position and word[0].isupper() else 1.0
        folded = word.casefold().replace("’", "'")
        for part in (folded, *folded.split("'")) if "'" in folded else (folded,):
            for language, weight in known.get(part, ()):
                evidence[language] = evidence.get(language, 0.0) + weight * share
    for letter, count in Counter("".join(_NOT_ASCII.findall(sample)).casefold()).items():
        languages = _TELLING_LETTERS.get(letter, ())
        for language in languages:
            evidence[language] = evidence.get(language, 0.0) + min(count, 3) / len(languages)
    ranked = (
        (name, score * _SELDOM_SHARE if name in _SELDOM else score)
        for name, score in evidence.items()
        if (name in _CYRILLIC) == (script == "cyrillic")
    )
    return sorted(ranked, key=lambda item: (-item[1], item[0]))


@cache
def _weights() -> dict[str, tuple[tuple[str, float], ...]]:
    languages: dict[str, list[str]] = {}
    for language, words in FUNCTION_WORDS.items():
        for word in set(words.split()):
            languages.setdefault(word, []).append(language)
    for word in set(_ENGLISH_TOO.split()) - set(FUNCTION_WORDS["en"].split()):
        languages.setdefault(word, []).append("en")
    return {word: tuple((name, 1 / len(names)) for name in names) for word, names in languages.items()}
