"""The one text analyzer: what the indexes store for a passage, and what a query asks for.

Text is normalised by NFKC and casefolded. Scripts written without blanks (and Hangul, whose words carry particles) give
single characters and bigrams, cut at every change of script; other words are stemmed by Snowball in the passage's language.
A query is stemmed in every language it may be written in, so that it meets passages whose language was told otherwise.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import Stemmer

from rag_engine.language import detect, possible

if TYPE_CHECKING:
    from collections.abc import Callable

_snowball = cast("dict[str, Any]", vars(Stemmer))  # a compiled module without types

VERSION = f"1+snowball{str(_snowball['version']()).partition('.')[0]}"
"""Changes whenever the same text would give other tokens: an index of another version must be rebuilt."""

_HAN_KANA = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_HANGUL = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7ff"
_THAI = "\u0e01-\u0e3a\u0e40-\u0e4e"
_LAO_BURMESE_KHMER = "\u0e81-\u0ecd\u0edc-\u0edf\u1000-\u103f\u1050-\u109d\u1780-\u17d3"
_GRAMS = _HAN_KANA + _HANGUL + _THAI + _LAO_BURMESE_KHMER
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc-\u09d7"
    "\u0a01-\u0a51\u0a70-\u0a75\u0a81-\u0acd\u0b01-\u0bcd\u0c00-\u0c56\u0c81-\u0ccd\u0d00-\u0d4d\u0d81-\u0ddf"
    "\u200c\u200d"
)
"""Vowel signs, points and joiners, which `\\w` leaves out though words are written with them."""

_WORD = rf"[^\W{_GRAMS}]+(?:[{_MARKS}]+[^\W{_GRAMS}]*)*"
_PIECE = re.compile(
    rf"[{_HAN_KANA}]+|[{_HANGUL}]+|[{_THAI}]+|[{_LAO_BURMESE_KHMER}]+"
    rf"|\b[A-Za-z](?:\+\+|#)(?!\w)|{_WORD}(?:[-./:@'’]{_WORD})*"
)
_IS_GRAMS = re.compile(f"[{_GRAMS}]")
_IS_UNSPACED = re.compile(f"[{_THAI}{_LAO_BURMESE_KHMER}]")
_PART = re.compile(rf"[^\W_]+(?:[{_MARKS}]+[^\W_]*)*")
_CONNECTED = re.compile(r"\w[-./:@_]\w")
_CAMEL = re.compile(r"[a-z]{2,}(?:[A-Z][a-z0-9]+)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+){2,}")
_HUMP = re.compile(r"[A-Z]?[a-z0-9]+")
_LETTERS_OR_DIGITS = re.compile(r"\d{2,}|[^\W\d_]{2,}")
_LOOSE_CONNECTOR = re.compile(r"['’]|(?<=[^\W\d_])[-_]|[-_](?=[^\W\d_])")
_JOINERS = re.compile("[\u200c\u200d]")
_CONTRACTION = re.compile(r"['’](?:s|t|d|m|ll|re|ve)\b", re.IGNORECASE)

_LONGEST = 64
"""Characters of a token: what is longer is no word, and both indexes have limits of their own."""

_MOST_QUERY_PIECES = 2_000
"""Words and runs of a query that are looked at: more is a document, not a question."""

_STEMMERS = MappingProxyType(
    {
        "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
        "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish",
        "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
        "it": "italian", "lt": "lithuanian", "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese",
        "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
    }
)  # fmt: skip
_OTHER_ALPHABETS = frozenset({"ar", "el", "fa", "hi", "hy", "ru", "sr", "ta"})
_ALPHABETS = (
    ("en", (frozenset(_STEMMERS) - _OTHER_ALPHABETS) | {"vi", "lv", "sk", "sl", "hr"}, "\u024f"),
    ("el", frozenset({"el"}), "\u03ff"),
    ("ru", frozenset({"ru", "sr", "uk", "bg"}), "\u052f"),
    ("hy", frozenset({"hy"}), "\u058f"),
    ("he", frozenset({"he"}), "\u05ff"),
    ("ar", frozenset({"ar", "fa", "ur"}), "\u06ff"),
    ("hi", frozenset({"hi"}), "\u097f"),
    ("ta", frozenset({"ta"}), "\u0bff"),
    ("", frozenset[str](), "\u1dff"),
    ("vi", frozenset({"vi"}), "\u1eff"),
    ("el", frozenset({"el"}), "\u1fff"),
)
"""The language a word is stemmed in when its alphabet is not the passage's, the languages of the alphabet, its last letter."""

_COMMON = (
    "en",
    "de",
    "fr",
    "es",
    "pt",
    "it",
    "nl",
    "sv",
    "da",
    "fi",
    "pl",
    "tr",
    "vi",
    "ru",
    "uk",
    "ar",
    "fa",
)
_NEIGHBOURS = MappingProxyType(
    {
        "ar": ("fa", "ur"),
        "fa": ("ar", "ur"),
        "ur": ("ar", "fa"),
        "ru": ("uk",),
        "uk": ("ru",),
        "bg": ("ru",),
        "sr": ("ru",),
    }
)
"""Languages of one alphabet that short texts do not tell apart."""

_LUCENE_STOP_WORDS = (
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to"
    " was will with"
)
_ENGLISH_STOP_WORDS = frozenset(_LUCENE_STOP_WORDS.split())
"""Dropped in English; elsewhere the inverse document frequency does as well."""
_DROPPING = frozenset({"en", ""})
_KEPT = "IT"
"""The one stop word that is a subject of its own when it is in capitals."""

_local = threading.local()  # a stemmer keeps state and may not be shared by threads


def tokens(text: str, *, language: str) -> list[str]:
    """The tokens of a passage in `language` (ISO 639-1, or "" when unknown), in reading order."""
    found: list[str] = []
    for piece in _PIECE.findall(unicodedata.normalize("NFKC", text)):
        found.extend(_tokens_of(piece, language))
    return found


def query_tokens(text: str) -> tuple[str, ...]:
    """The tokens a query asks for, in every form that passages of its likely languages may hold."""
    certain = detect(text)
    languages = _languages(certain, possible(text))
    found: list[str] = []
    for piece in _PIECE.findall(unicodedata.normalize("NFKC", text))[:_MOST_QUERY_PIECES]:
        if certain or piece.casefold() not in _ENGLISH_STOP_WORDS:
            found.extend(
                dict.fromkeys(token for language in languages for token in _tokens_of(piece, language))
            )
    return tuple(found)


def _languages(certain: str, likely: tuple[str, ...]) -> tuple[str, ...]:
    """The languages to analyse a query in.

    A few keywords tell no language, and one wrong guess would lose every inflected word: they are tried in all the
    common ones. English is always among them, as the passages of no certain language are stemmed in it.
    """
    if certain == "en":
        return ("en",)
    if certain:
        return tuple(dict.fromkeys((certain, *likely, *_NEIGHBOURS.get(certain, ()), "en")))
    return tuple(dict.fromkeys((*likely, *_COMMON)))


@lru_cache(maxsize=16_384)
def _tokens_of(piece: str, language: str) -> tuple[str, ...]:
    if _IS_GRAMS.match(piece):
        return _grams(piece)
    piece = piece[: 4 * _LONGEST]
    if piece[-1] in "+#":
        return (piece.casefold(),)
    found: list[str] = []
    for part in _PART.findall(_CONTRACTION.sub("", piece) if language in _DROPPING else piece):
        found.extend(_word(part, language))
    if (joined := _identifier(piece)) and joined not in found:
        found.append(joined)
    return tuple(found)


def _word(part: str, language: str) -> list[str]:
    folded = _JOINERS.sub("", part.casefold())[:_LONGEST]
    if language in _DROPPING and part != _KEPT and folded in _ENGLISH_STOP_WORDS:
        return []
    found = [_stem(folded, language)]
    if _CAMEL.fullmatch(part):
        found.extend(_stem(hump.casefold(), language) for hump in _HUMP.findall(part) if len(hump) > 1)
    elif not part.isalpha() and not part.isdigit():
        found.extend(run for run in _LETTERS_OR_DIGITS.findall(folded) if run != folded)
    return [token for token in found if token]


def _identifier(piece: str) -> str:
    """An identifier in one token, so that it is found as a whole: `TL-SE2109`, `v1.2.3`, `foo_bar`. Else ""."""
    if not _CONNECTED.search(piece):
        return ""
    if "_" not in piece and not any(map(str.isdigit, piece)):
        return ""
    return _LOOSE_CONNECTOR.sub("", _JOINERS.sub("", piece).casefold())[:_LONGEST]


def _grams(run: str) -> tuple[str, ...]:
    run = run.casefold()
    grams = [*run, *(run[start : start + 2] for start in range(len(run) - 1))]
    if _IS_UNSPACED.match(run):
        grams.extend(run[start : start + 3] for start in range(len(run) - 2))
    return tuple(grams)


def _stem(word: str, language: str) -> str:
    first = word[:1]
    for default, languages, last in _ALPHABETS:
        if first <= last:
            name = _STEMMERS.get(language if language in languages else default)
            return _stemmer(name)(word) if name else word
    return word


def _stemmer(name: str) -> Callable[[str], str]:
    stemmers: dict[str, Callable[[str], str]] = _local.__dict__
    if name not in stemmers:
        stemmers[name] = _snowball["Stemmer"](name).stemWord
    return stemmers[name]
