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
_CONFIDENT: Final = 60.0
"""0 to 100; noise on pages without words is around 30."""
_LEAST_CONFIDENT: Final = 30.0
_FEWEST_LETTERS: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    text: str
    line: tuple[str, str, str]
    left: int
    top: int
    width: int
    height: int
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    words: tuple[Word, ...]
    confidence: float
    doubtful: int

    @property
    def unreadable(self) -> bool:
        sure = _letters(self.words)
        return self.doubtful >= _FEWEST_LETTERS and (self.doubtful > sure or self.confidence < _CONFIDENT)


def words_of(tsv: str) -> Words:
    accepted: list[Word] = []
    doubtful = 0
    for _, group in groupby(_rows(tsv), key=lambda word: word.line):
        line = list(group)
        if _is_text(line):
            accepted += [word for word in line if word.confidence >= _LEAST_CONFIDENT or _letters([word])]
        else:
            doubtful += _letters(line)
    return Words(words=tuple(accepted), confidence=_confidence(accepted), doubtful=doubtful)


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
    text = "".join(word.text for word in line)
    letters = _letters(line)
    confidence = _confidence(line)
    if not letters:
        return False
    if letters * 2 < len(text):
        return confidence >= _CONFIDENT + 20
    # Curves in pictures are recognised as single letters.
    return confidence >= (_CONFIDENT - 10 if letters > 3 else _CONFIDENT if letters > 2 else _CONFIDENT + 20)


def _letters(words: Sequence[Word]) -> int:
    return sum(len(_LETTER.findall(word.text)) for word in words)


def _confidence(words: Sequence[Word]) -> float:
    characters = sum(len(word.text) for word in words)
    return sum(word.confidence * len(word.text) for word in words) / characters if characters else 0.0
