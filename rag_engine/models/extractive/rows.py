"""Rows of tables as something to quote: each cell under the name of its column, and which cells a question is about. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rag_engine.analysis import tokens
from rag_engine.months import months

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_CELLS: Final = 8
_NAMING: Final = 2
"""Cells of words at the beginning of a row that say what it is about."""
_LONGEST_NAME: Final = 5
"""Words of a cell that names something."""
_BORDER: Final = re.compile(r"(?:^| )\|(?: |$)")
_LETTER: Final = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell that is not empty; `head` names its column, if anything does."""

    head: str
    text: str

    def __str__(self) -> str:
        return f"{self.head}: {self.text}" if self.head and self.head != self.text else self.text


def split_row(line: str) -> list[str]:
    """The cells of a line; a border at both ends, as Markdown has them, divides nothing."""
    line = line.strip("\n")
    if line.lstrip().startswith("|") and line.rstrip().endswith("|") and len(line.strip()) > 1:
        line = line.strip()[1:-1]
    return [" ".join(cell.split()) for cell in _BORDER.split(line)]


def named_cells(header: Sequence[str], row: Sequence[str]) -> tuple[Cell, ...]:
    """The cells of a row that hold something, under the header."""
    padded = [*header, *[""] * (len(row) - len(header))]
    return tuple(Cell(head=head, text=text) for head, text in zip(padded, row, strict=False) if text)


def row_text(cells: Sequence[Cell]) -> str:
    """ "Item: Travel; Budget: 5,000"."""
    return "; ".join(map(str, cells))


def asked_cells(
    cells: Sequence[Cell], terms: Sequence[frozenset[str]], asked_months: frozenset[int], *, language: str
) -> tuple[Cell, ...]:
    """Of a wide row the cells that name it and those that the question is about, in their order; else its first cells."""
    if len(cells) <= _MOST_CELLS:
        return tuple(cells)
    naming = [at for at, cell in enumerate(cells) if _LETTER.search(cell.text)][:_NAMING]

    def closeness(at: int) -> float:
        head, text = (set(tokens(part, language=language)) for part in (cells[at].head, cells[at].text))
        by_name = sum(not term.isdisjoint(head) for term in terms)
        by_text = sum(not term.isdisjoint(text) for term in terms)
        return by_name + 2 * (not asked_months.isdisjoint(months(cells[at].head))) + 0.5 * by_text

    close = {at: found for at in range(len(cells)) if at not in naming and (found := closeness(at)) > 0}
    if not close:
        return tuple(cells[:_MOST_CELLS])
    best = max(close.values())
    chosen = [at for at, found in close.items() if found >= best / 2][: _MOST_CELLS - len(naming)]
    return tuple(cells[at] for at in sorted({*naming, *chosen}))


def fit(
    cells: Sequence[Cell], terms: Sequence[frozenset[str]], rarities: Sequence[float], *, language: str
) -> float:
    """How well the cells of words are those that the question names: a cell named in part is another one's neighbour.

    "Sales North" asks for "Sales North" rather than for "Sales North-East". In parts of all that the question says.
    """
    known = frozenset[str]().union(*terms)
    total = 0.0
    for cell in cells:
        if not _LETTER.search(cell.text) or len(cell.text) > 80:
            continue
        words = tokens(cell.text, language=language)
        if len(words) > _LONGEST_NAME:
            continue  # a remark is a sentence as others are
        shared = sum(
            rarity for term, rarity in zip(terms, rarities, strict=True) if not term.isdisjoint(words)
        )
        if shared:
            missing = sum(word not in known for word in words) / len(words)
            total += shared * (1 - 2 * missing)
    return total / (sum(rarities) or 1.0)
