"""NFKC and casefold. Scripts without blanks, and Hangul, give characters and bigrams; other words are stemmed by
Snowball, in the passage's language, and in a query in every likely one.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from functools import lru_cache
from itertools import chain, repeat
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import Stemmer

from rag_engine.text.language import detect, possible
from rag_engine.text.lazy_pattern import lazy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_snowball = cast("dict[str, Any]", vars(Stemmer))

VERSION = f"1+snowball{str(_snowball['version']()).partition('.')[0]}"
"""With other tokens, existing indexes must be rebuilt."""

_HAN_KANA = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_HANGUL = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7ff"
_THAI = "\u0e01-\u0e3a\u0e40-\u0e4e"
_LAO_BURMESE_KHMER = "\u0e81-\u0ecd\u0edc-\u0edf\u1000-\u103f\u1050-\u109d\u1780-\u17d3"
_GRAMS = _HAN_KANA + _HANGUL + _THAI + _LAO_BURMESE_KHMER
_FIRST_GRAM = _THAI[0]
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc-\u09d7"
    "\u0a01-\u0a51\u0a70-\u0a75\u0a81-\u0acd\u0b01-\u0bcd\u0c00-\u0c56\u0c81-\u0ccd\u0d00-\u0d4d\u0d81-\u0ddf"
    "\u200c\u200d"
)

_WORD = rf"[^\W{_GRAMS}]+(?:[{_MARKS}]+[^\W{_GRAMS}]*)*"
_PIECE = lazy(
    lambda: re.compile(
        rf"[{_HAN_KANA}]+|[{_HANGUL}]+|[{_THAI}]+|[{_LAO_BURMESE_KHMER}]+"
        rf"|\b[A-Za-z](?:\+\+|#)(?!\w)|{_WORD}(?:[-./:@'’]{_WORD})*"
    )
)
_IS_GRAMS = lazy(lambda: re.compile(f"[{_GRAMS}]"))
_IS_UNSPACED = lazy(lambda: re.compile(f"[{_THAI}{_LAO_BURMESE_KHMER}]"))
_PART = lazy(lambda: re.compile(rf"[^\W_]+(?:[{_MARKS}]+[^\W_]*)*"))
_CONNECTED = lazy(lambda: re.compile(r"\w[-./:@_]\w"))
_CAMEL = lazy(lambda: re.compile(r"[a-z]{2,}(?:[A-Z][a-z0-9]+)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+){2,}"))
_HUMP = lazy(lambda: re.compile(r"[A-Z]?[a-z0-9]+"))
_LETTERS_OR_DIGITS = lazy(lambda: re.compile(r"\d{2,}|[^\W\d_]{2,}"))
_LOOSE_CONNECTOR = lazy(lambda: re.compile(r"['’]|(?<=[^\W\d_])[-_]|[-_](?=[^\W\d_])"))
_JOINERS = lazy(lambda: re.compile("[\u200c\u200d]"))
_CONTRACTION = lazy(lambda: re.compile(r"['’](?:s|t|d|m|ll|re|ve)\b", re.IGNORECASE))

_LONGEST = 64

_MOST_QUERY_PIECES = 2_000

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

_LUCENE_STOP_WORDS = (
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to"
    " was will with"
)
_ENGLISH_STOP_WORDS = frozenset(_LUCENE_STOP_WORDS.split())
"""Elsewhere inverse document frequency is enough."""
_DROPPING = frozenset({"en", ""})
_CAPITALISED_SUBJECT = "IT"

_local = threading.local()  # stemmers keep state and are not thread-safe


def tokens(text: str, *, language: str) -> list[str]:
    """`language` is ISO 639-1, or ""."""
    pieces = _PIECE.findall(unicodedata.normalize("NFKC", text))
    return list(chain.from_iterable(map(_tokens_of, pieces, repeat(language))))


def words(text: str, *, language: str) -> list[tuple[str, tuple[str, ...]]]:
    pieces = _PIECE.findall(unicodedata.normalize("NFKC", text))
    return [(piece, _tokens_of(piece, language)) for piece in pieces]


def query_tokens(text: str) -> tuple[str, ...]:
    return tuple(token for _, tokens in query_words(text) for token in tokens)


def query_words(text: str) -> list[tuple[str, tuple[str, ...]]]:
    certain = detect(text)
    languages = _languages(certain, possible(text))
    found: list[tuple[str, tuple[str, ...]]] = []
    for piece in _PIECE.findall(unicodedata.normalize("NFKC", text))[:_MOST_QUERY_PIECES]:
        if certain or piece.casefold() not in _ENGLISH_STOP_WORDS:
            forms = dict.fromkeys(token for language in languages for token in _tokens_of(piece, language))
            found.append((piece, tuple(forms)))
    return found


def with_words(text: str, replacements: Mapping[str, str]) -> str:
    return _PIECE.sub(lambda piece: replacements.get(piece[0], piece[0]), text) if replacements else text


def _languages(certain: str, likely: tuple[str, ...]) -> tuple[str, ...]:
    if certain == "en":
        return ("en",)
    if certain:
        return tuple(dict.fromkeys((certain, *likely, *_NEIGHBOURS.get(certain, ()), "en")))
    return tuple(dict.fromkeys((*likely, *_COMMON)))


def _tokens_of(piece: str, language: str) -> tuple[str, ...]:
    # Runs of characters seldom repeat: 32,768 sentences take 80 MB.
    if piece[0] >= _FIRST_GRAM and _IS_GRAMS.match(piece):
        return _grams(piece)
    return _word_tokens(piece, language)


@lru_cache(maxsize=32_768)
def _word_tokens(piece: str, language: str) -> tuple[str, ...]:
    piece = piece[: 4 * _LONGEST]
    if piece[-1] in "+#":
        return (piece.casefold(),)
    parts, joined = _parts_of(piece, language in _DROPPING)
    found: list[str] = []
    for stemmed, runs in parts:
        found += [token for word in stemmed if (token := _stem(word, language))]
        found += runs
    if joined and joined not in found:
        found.append(joined)
    return tuple(found)


@lru_cache(maxsize=4_096)
def _parts_of(
    piece: str, is_dropping: bool
) -> tuple[tuple[tuple[tuple[str, ...], tuple[str, ...]], ...], str]:
    found: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
    for part in _PART.findall(_CONTRACTION.sub("", piece) if is_dropping else piece):
        folded = _JOINERS.sub("", part.casefold())[:_LONGEST]
        if is_dropping and part != _CAPITALISED_SUBJECT and folded in _ENGLISH_STOP_WORDS:
            continue
        humps: list[str] = []
        runs: list[str] = []
        if _CAMEL.fullmatch(part):
            humps = [hump.casefold() for hump in _HUMP.findall(part) if len(hump) > 1]
        elif not part.isalpha() and not part.isdigit():
            runs = [run for run in _LETTERS_OR_DIGITS.findall(folded) if run != folded]
        found.append(((folded, *humps), tuple(runs)))
    return tuple(found), _identifier(piece)


def _identifier(piece: str) -> str:
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
        stemmers[name] = _snowball["Stemmer"](name, 0).stemWord
    return stemmers[name]
