"""Pure: the words that Tesseract tells, with their places, and whether they are words at all."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_COLUMNS: Final = 12
_WORD_LEVEL: Final = "5"
_LETTER: Final = re.compile(r"[^\W_]")
_SURE: Final = 60.0
"""Confidence, of 100, from which words are those that one sees; of pages without words it is about 30."""
_LEAST_SURE: Final = 30.0
_FEWEST_LETTERS: Final = 12
"""Fewer letters that are not sure are specks and the edges of pictures, not a page that could not be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A word with its place in pixels and how sure it is, up to 100."""

    text: str
    line: tuple[str, str, str]
    """Block, paragraph and line of the page it stands in."""
    left: int
    top: int
    width: int
    height: int
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The words of a page in reading order, without specks; `doubtful` is how many letters were left out as no words."""

    words: tuple[Word, ...]
    confidence: float
    doubtful: int

    @property
    def unreadable(self) -> bool:
        """Whether there is something like text and most of it cannot be made out."""
        sure = _letters(self.words)
        return self.doubtful >= _FEWEST_LETTERS and (self.doubtful > sure or self.confidence < _SURE)


def words_of(tsv: str) -> Words:
    """What Tesseract's table of tab-separated values says; lines that are no words are left out."""
    kept: list[Word] = []
    doubtful = 0
    for _, group in groupby(_rows(tsv), key=lambda word: word.line):
        line = list(group)
        if _is_text(line):
            kept += [word for word in line if word.confidence >= _LEAST_SURE or _letters([word])]
        else:
            doubtful += _letters(line)
    return Words(words=tuple(kept), confidence=_confidence(kept), doubtful=doubtful)


def _rows(tsv: str) -> Iterator[Word]:
    for row in tsv.splitlines()[1:]:
        cells = row.split("\t", _COLUMNS - 1)
        if len(cells) != _COLUMNS or cells[0] != _WORD_LEVEL or not cells[-1].strip():
            continue
        _, _, block, paragraph, line, _, left, top, width, height, confidence, text = cells
        yield Word(
            text=text.strip(),
            line=(block, paragraph, line),
            left=int(left),
            top=int(top),
            width=int(width),
            height=int(height),
            confidence=float(confidence),
        )


def _is_text(line: Sequence[Word]) -> bool:
    """Rules, frames, stamps and textures come as short runs of signs, or as letters nobody is sure of."""
    text = "".join(word.text for word in line)
    letters = _letters(line)
    confidence = _confidence(line)
    if not letters:
        return False
    if letters * 2 < len(text):
        return confidence >= _SURE + 20
    # A single letter is what a curve in a picture is taken for.
    return confidence >= (_SURE - 10 if letters > 3 else _SURE if letters > 2 else _SURE + 20)


def _letters(words: Sequence[Word]) -> int:
    return sum(len(_LETTER.findall(word.text)) for word in words)


def _confidence(words: Sequence[Word]) -> float:
    """The mean over the characters: a long word counts more than a speck."""
    characters = sum(len(word.text) for word in words)
    return sum(word.confidence * len(word.text) for word in words) / characters if characters else 0.0
