"""Recognises text that was read wrongly."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from rag_engine.text.lazy_pattern import lazy

_LONGEST_SAMPLE: Final = 4_000
_FEWEST_CHARACTERS: Final = 20
_MOST_STRANGE: Final = 0.03
_MOST_BROKEN: Final = 0.15
_FEWEST_WORDS: Final = 8
_STRANGE: Final = frozenset({"Cc", "Cn", "Co", "Cs"})
_USUAL: Final = frozenset("\n\r\t\f\v") | frozenset(map(chr, range(0xF020, 0xF100)))
# UTF-8 read as Latin-1, and glyphs without a character.
_MISREAD = lazy(
    lambda: re.compile(r"\(cid:\d{1,5}\)|[ÃÂ][\x80-\xbf\u2018-\u203a]|â€[\x80-\xff\u2018-\u2122]|ï¿½")
)
# Recognition put a sign or digit in place of a letter.
_BROKEN = lazy(lambda: re.compile(r"[A-Za-z]+[|~^¢£¥¬¦\\{}\[\]<>=*#!?;:$%€§01]+[A-Za-z]+"))


def printable(text: str) -> str:
    return "".join(letter for letter in text if letter.isprintable())


def is_garbled(text: str, *, prose: bool = False) -> bool:
    """In prose, broken words count, too."""
    sample = text[:_LONGEST_SAMPLE].strip()
    if len(sample) < _FEWEST_CHARACTERS:
        return False
    strange = sum(sample.count(character) for character in set(sample) if _is_strange(character))
    misread = sum(len(found.group()) for found in _MISREAD.finditer(sample))
    if strange + misread > _MOST_STRANGE * len(sample):
        return True
    words = sample.split() if prose else []
    broken = sum(map(_is_broken, words))
    return len(words) >= _FEWEST_WORDS and broken > _MOST_BROKEN * len(words)


def _is_broken(word: str) -> bool:
    bare = word.strip("\"'“”()[],.;:!?")
    return not bare.isalpha() and _BROKEN.fullmatch(bare) is not None


def _is_strange(character: str) -> bool:
    if character in _USUAL:
        return False
    return character == "\ufffd" or unicodedata.category(character) in _STRANGE
