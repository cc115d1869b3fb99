"""Pure: from the words that Tesseract tells, with their places, to lines and blocks; and whether they are words at all."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from statistics import median
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._pdf_layout import TextLine

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_COLUMNS: Final = 12
_WORD_LEVEL: Final = "5"
_LETTER: Final = re.compile(r"[^\W_]")
_WIDE: Final = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
_SURE: Final = 60.0
"""Confidence, of 100, from which words are those that one sees; of pages without words it is about 30."""
_LEAST_SURE: Final = 30.0
_FEWEST_LETTERS: Final = 12
"""Fewer letters that are not sure are specks and the edges of pictures, not a page that could not be read."""
_GAP: Final = 2.2
"""Blanks between the cells of a table, in heights of the letters, are at least as wide."""


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


def blocks_of(words: Sequence[Word], *, dots_per_inch: float) -> list[list[TextLine]]:
    """The words as lines in blocks, in points; cells of one row are lines of their own at one height."""
    points = 72 / dots_per_inch
    turned = _is_turned(words)
    blocks: list[list[TextLine]] = []
    for _, block in groupby(words, key=lambda word: word.line[:2]):
        lines = [list(line) for _, line in groupby(block, key=lambda word: word.line)]
        size = median(word.height for line in lines for word in line) * points
        found = [
            TextLine(
                text=_joined(cell),
                top=min(word.top for word in cell) * points,
                left=min(word.left for word in cell) * points,
                size=round(size, 1),
            )
            for line in lines
            for cell in ([line] if turned else _cells(line))
        ]
        if turned:
            # Their places are those of the page as it lies, which say nothing of rows; their order is right.
            found = [
                replace(line, top=12.0 * number, left=0.0, size=10.0) for number, line in enumerate(found)
            ]
        blocks.append(found)
    return blocks


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
    return confidence >= (_SURE - 10 if letters > 3 else _SURE)


def _letters(words: Sequence[Word]) -> int:
    return sum(len(_LETTER.findall(word.text)) for word in words)


def _confidence(words: Sequence[Word]) -> float:
    """The mean over the characters: a long word counts more than a speck."""
    characters = sum(len(word.text) for word in words)
    return sum(word.confidence * len(word.text) for word in words) / characters if characters else 0.0


def _is_turned(words: Sequence[Word]) -> bool:
    """Whether the text does not run from left to right on the page as it lies: sideways or upside down."""
    long = [word for word in words if len(word.text) > 2]
    if sum(word.height for word in long) > sum(word.width for word in long):
        return True
    steps = [after.left > before.left for before, after in pairwise(long) if after.line == before.line]
    return sum(steps) * 2 < len(steps)


def _cells(line: Sequence[Word]) -> Iterator[list[Word]]:
    height = median(word.height for word in line)
    cell = [line[0]]
    for before, word in pairwise(line):
        if word.left - (before.left + before.width) > _GAP * height:
            yield cell
            cell = []
        cell.append(word)
    yield cell


def _joined(words: Sequence[Word]) -> str:
    text = words[0].text
    for before, word in pairwise(words):
        wide = _WIDE.match(before.text[-1:]) and _WIDE.match(word.text[:1])
        text += word.text if wide else f" {word.text}"
    return text
