"""Texts in pictures: how wide they are, their lines, and as XML."""

from __future__ import annotations

import re
import unicodedata
from html import escape
from typing import Final

from rag_engine.text.legibility import printable

_LETTER: Final = 0.56
_CAPITAL: Final = 0.75
_BROAD: Final = frozenset("mwMW@%—…")
_LONGEST_WORD: Final = 16
_RTL_LETTER: Final = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]"
_RIGHT_TO_LEFT: Final = re.compile(rf"{_RTL_LETTER}(?>(?:[\s\W]{{0,3}}{_RTL_LETTER}+)*)")


def wrapped(text: str, room: float) -> tuple[str, ...]:
    lines, line = list[str](), ""
    for word in _words(text):
        if line and width(line + word.rstrip()) > room:
            lines.append(line.strip())
            line = ""
        line += word
    return (*lines, line.strip())


def _words(text: str) -> list[str]:
    words: list[str] = []
    for word in text.split(" "):
        if any(_is_wide(letter) for letter in word):
            words += word
            words[-1] += " "
        elif len(word) > _LONGEST_WORD:
            pieces = [word[at : at + _LONGEST_WORD] for at in range(0, len(word), _LONGEST_WORD)]
            words += [*pieces[:-1], f"{pieces[-1]} "]
        else:
            words.append(f"{word} ")
    return words


def width(text: str) -> float:
    """Of the font's size, rather too large."""
    return sum(map(_letter_width, text))


def _letter_width(letter: str) -> float:
    if _is_wide(letter) or letter in _BROAD:
        return 1.0
    return _CAPITAL if letter.isupper() else _LETTER


def _is_wide(letter: str) -> bool:
    return unicodedata.east_asian_width(letter) in "WF"


def safe(text: str) -> str:
    # MuPDF draws letters in the order of the text.
    return escape(_RIGHT_TO_LEFT.sub(lambda run: run[0][::-1], printable(text)))
