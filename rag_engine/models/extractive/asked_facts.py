from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rag_engine.citations.stated_facts import currencies, is_named, quarters, stated_months
from rag_engine.citations.stated_numbers import missing
from rag_engine.evidence.question import terms
from rag_engine.text.language.months import months
from rag_engine.text.lazy_pattern import lazy

if TYPE_CHECKING:
    from rag_engine.models.extractive.candidates import Candidate
    from rag_engine.types import Chunk

_YEAR: Final = lazy(lambda: re.compile(r"(?<![\d.,-])(?:19|20)\d\d(?!\d|[.,]\d)"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmet:
    others: tuple[str, ...]
    """In whose place the quote has others."""
    absent: tuple[str, ...]
    """What its passage does not mention."""

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.others, *self.absent)))


def unmet(question: str, candidate: Candidate, chunk: Chunk) -> Unmet:
    own = "\n".join((candidate.text, *map(str, candidate.cells)))
    around = "\n".join((chunk.title, *chunk.headings, candidate.context, chunk.text))
    others: list[str] = []
    absent: list[str] = []
    for read, held in (
        (_months, months),
        (_years, _years),
        (quarters, quarters),
        (currencies, currencies),
    ):
        asked, said = read(question), frozenset(held(own))
        if asked and not asked.keys() & (said or frozenset(held(around))):
            (others if said else absent).extend(asked.values())
    dated = {*_years(question).values(), *quarters(question).values(), *others}
    absent += [word for word in missing(question, [own, around]) if word not in dated]
    absent += [
        term.text
        for term in terms(question)
        if term.kind == "name" and term.text not in others and not is_named(term.text, f"{own}\n{around}")
    ]
    return Unmet(others=tuple(others), absent=tuple(dict.fromkeys(absent)))


def _months(text: str) -> dict[object, str]:
    return {number: words for words, number in stated_months(text)}


def _years(text: str) -> dict[object, str]:
    return {found[0]: found[0] for found in _YEAR.finditer(text)}
