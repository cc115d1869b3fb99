"""Tesseract reads a table either by lines or by columns."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby, pairwise
from statistics import median
from typing import TYPE_CHECKING, Final

from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rag_engine.parsers._ocr.words import Word

_WIDE: Final = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
_HYPHENS: Final = ("-", "\u2010", "\u00ad", "¬")
_GAP: Final = 1.6
_ALIGNED: Final = 1.0
"""In letter heights, of left edges."""
_CELL_CHARACTERS: Final = 22
"""Average; lines of prose are longer."""
_FEWEST_ROWS: Final = 3
_NEXT_ROW: Final = 4.0
_FULL: Final = 0.7


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    text: str
    left: int
    right: int
    top: int
    bottom: int
    height: float
    paragraph: tuple[str, str]

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2


def sections_of(words: Sequence[Word], anchor: str) -> Iterator[Section]:
    level = not _is_turned(words)
    runs = [
        run
        for _, line in groupby(words, key=lambda word: word.line)
        for run in _runs(list(line), cells=level)
    ]
    tables = list(_tables(_rows(runs))) if level else []
    table_of = {id(run): number for number, table in enumerate(tables) for row in table for run in row}
    emitted: set[int] = set()
    prose: list[_Run] = []
    for run in runs:
        number = table_of.get(id(run))
        if number is None:
            prose.append(run)
        elif number not in emitted:
            emitted.add(number)
            yield from _paragraphs(prose, anchor)
            prose = []
            text = "\n".join(" | ".join(cell.text for cell in row) for row in tables[number])
            yield Section(text=text, anchor=anchor, kind="table")
    yield from _paragraphs(prose, anchor)


def _is_turned(words: Sequence[Word]) -> bool:
    long = [word for word in words if len(word.text) > 2]
    if sum(word.height for word in long) > sum(word.width for word in long):
        return True
    steps = [after.left > before.left for before, after in pairwise(long) if after.line == before.line]
    return sum(steps) * 2 < len(steps)


def _runs(line: Sequence[Word], *, cells: bool) -> Iterator[_Run]:
    height = median(word.height for word in line)
    part = [line[0]]
    for before, word in pairwise(line):
        if cells and word.left - (before.left + before.width) > _GAP * height:
            yield _run(part, height)
            part = []
        part.append(word)
    yield _run(part, height)


def _run(words: Sequence[Word], height: float) -> _Run:
    return _Run(
        text=_joined(words),
        left=min(word.left for word in words),
        right=max(word.left + word.width for word in words),
        top=min(word.top for word in words),
        bottom=max(word.top + word.height for word in words),
        height=height,
        paragraph=words[0].line[:2],
    )


def _joined(words: Sequence[Word]) -> str:
    text = words[0].text
    for before, word in pairwise(words):
        wide = _WIDE.match(before.text[-1:]) and _WIDE.match(word.text[:1])
        text += word.text if wide else f" {word.text}"
    return text


def _paragraphs(runs: Sequence[_Run], anchor: str) -> Iterator[Section]:
    for _, group in groupby(runs, key=lambda run: run.paragraph):
        yield Section(text=_paragraph(list(group)), anchor=anchor)


def _paragraph(lines: Sequence[_Run]) -> str:
    text = lines[0].text
    right = max(line.right for line in lines)
    left = min(line.left for line in lines)
    for before, line in pairwise(lines):
        beside = abs(before.middle - line.middle) < min(before.height, line.height) / 2
        if text.endswith(_HYPHENS) and text[-2:-1].isalpha() and line.text[:1].islower():
            text = text[:-1] + line.text
        elif beside or (not _counts(before.text) and before.right - left >= _FULL * (right - left)):
            wide = _WIDE.match(text[-1:]) and _WIDE.match(line.text[:1])
            text += line.text if wide else f" {line.text}"
        else:
            text += f"\n{line.text}"
    return text


def _counts(text: str) -> bool:
    digits = sum(character.isdecimal() for character in text)
    return digits * 2 > sum(character.isalnum() for character in text)


def _rows(runs: Iterable[_Run]) -> list[list[_Run]]:
    rows: list[list[_Run]] = []
    for run in sorted(runs, key=lambda run: run.middle):
        if rows and run.middle - rows[-1][0].middle < min(run.height, rows[-1][0].height) * 0.6:
            rows[-1].append(run)
        else:
            rows.append([run])
    for row in rows:
        row.sort(key=lambda run: run.left)
    return rows


def _tables(rows: Iterable[Sequence[_Run]]) -> Iterator[list[Sequence[_Run]]]:
    pending: list[Sequence[_Run]] = []
    for row in rows:
        if pending and not _continues(pending[-1], row):
            if _is_table(pending):
                yield pending
            pending = []
        if len(row) > 1:
            pending.append(row)
    if _is_table(pending):
        yield pending


def _continues(above: Sequence[_Run], row: Sequence[_Run]) -> bool:
    height = max(row[0].height, above[0].height)
    if len(row) < 2 or row[0].middle - above[0].middle > _NEXT_ROW * height:
        return False
    near = _ALIGNED * height
    aligned = sum(
        any(abs(cell.left - other.left) < near or abs(cell.right - other.right) < near for other in above)
        for cell in row
    )
    return aligned >= 2 or aligned * 2 >= len(row)


def _is_table(rows: Sequence[Sequence[_Run]]) -> bool:
    cells = [cell for row in rows for cell in row]
    return len(rows) >= _FEWEST_ROWS and sum(len(cell.text) for cell in cells) < len(cells) * _CELL_CHARACTERS
