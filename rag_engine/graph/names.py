from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

from rag_engine.graph.types import LONGEST_NAME
from rag_engine.text.language.stop_words import FUNCTION_WORDS
from rag_engine.text.lazy_pattern import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator

_WORD: Final = lazy(lambda: re.compile(r"[^\W_]++(?>(?:[-.'’@/&+_]++[^\W_]++)*)"))
_POSSESSIVE: Final = lazy(lambda: re.compile(r"['’]s?$"))
_IDEOGRAPHS: Final = lazy(lambda: re.compile("[\u3400-\u9fff\u3041-\u30ff]{2,}+"))
_ARTICLES: Final = "the a an der die das den dem des ein eine einen einer le la les l' un une el los las il lo i gli uno una de het o os as"
_TITLES: Final = "mr mrs ms dr prof herr herrn frau mme mlle señor señora sr sra"
_LEADING: Final = frozenset(f"{_ARTICLES} {_TITLES}".split(" "))
_SMALL: Final = frozenset(word for words in FUNCTION_WORDS.values() for word in words.split())
_MOST_WORDS: Final = 7
_MOST_LETTERS: Final = 12
_MOST_ASKED: Final = 400
_MOST_SPANS: Final = 2_000


def key_of(name: str) -> str:
    """Empty for function words."""
    words = words_of(name)
    while len(words) > 1 and words[0] in _LEADING:
        words = words[1:]
    key = " ".join(words)[:LONGEST_NAME]
    is_name = name.isupper() or not all(word in _SMALL for word in words)
    return key if len(key) > 1 and is_name else ""


def words_of(text: str) -> list[str]:
    """Without case and possessives."""
    return [word for word in map(_folded, _WORD.findall(text)) if word]


def is_small(word: str) -> bool:
    return word in _SMALL


def keys_in(question: str) -> list[str]:
    """Longest first."""
    return sorted(set(_spans(question)), key=lambda key: (-len(key), key))[:_MOST_SPANS]


def _folded(word: str) -> str:
    return unicodedata.normalize("NFKC", _POSSESSIVE.sub("", word)).casefold()


def _spans(question: str) -> Iterator[str]:
    written = _WORD.findall(question)[:_MOST_ASKED]
    words = [_folded(word) for word in written]
    names = [
        word not in _SMALL or (as_is.isupper() and len(word) > 1 and not question.isupper())
        for word, as_is in zip(words, written, strict=True)
    ]
    for start in range(len(words)):
        for end in range(start + 1, min(start + _MOST_WORDS, len(words)) + 1):
            if any(names[start:end]) and (names[start] or words[start] not in _LEADING):
                yield " ".join(words[start:end])
    for run in _IDEOGRAPHS.findall(question):
        for start in range(len(run)):
            for end in range(start + 2, min(start + _MOST_LETTERS, len(run)) + 1):
                yield run[start:end]
