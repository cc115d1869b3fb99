from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rag_engine.text.analyzer import tokens
from rag_engine.text.language.months import months

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_CELLS: Final = 8
_NAMING: Final = 2
_LONGEST_NAME: Final = 5
_BORDER: Final = re.compile(r"(?:^| )\|(?: |$)")
_LETTER: Final = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCell:
    """`head` is its column name, or empty."""

    head: str
    text: str

    def __str__(self) -> str:
        return f"{self.head}: {self.text}" if self.head and self.head != self.text else self.text


def split_row(line: str) -> list[str]:
    """Markdown's outer borders do not separate cells."""
    line = line.strip("\n")
    if line.lstrip().startswith("|") and line.rstrip().endswith("|") and len(line.strip()) > 1:
        line = line.strip()[1:-1]
    return [" ".join(cell.split()) for cell in _BORDER.split(line)]


def named_cells(header: Sequence[str], row: Sequence[str]) -> tuple[NamedCell, ...]:
    padded = [*header, *[""] * (len(row) - len(header))]
    return tuple(NamedCell(head=head, text=text) for head, text in zip(padded, row, strict=False) if text)


def row_text(cells: Sequence[NamedCell]) -> str:
    return "; ".join(map(str, cells))


def asked_cells(
    cells: Sequence[NamedCell],
    terms: Sequence[frozenset[str]],
    asked_months: frozenset[int],
    *,
    language: str,
) -> tuple[NamedCell, ...]:
    """Those of a wide row that identify it or match the question."""
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
    cells: Sequence[NamedCell], terms: Sequence[frozenset[str]], rarities: Sequence[float], *, language: str
) -> float:
    """ "Sales North" prefers "Sales North" to "Sales North-East"."""
    known = frozenset[str]().union(*terms)
    total = 0.0
    for cell in cells:
        if not _LETTER.search(cell.text) or len(cell.text) > 80:
            continue
        words = tokens(cell.text, language=language)
        if len(words) > _LONGEST_NAME:
            continue
        shared = sum(
            rarity for term, rarity in zip(terms, rarities, strict=True) if not term.isdisjoint(words)
        )
        if shared:
            missing = sum(word not in known for word in words) / len(words)
            total += shared * (1 - 2 * missing)
    return total / (sum(rarities) or 1.0)
