"""General nouns behind a column, which ask for nothing more: "EPC band", "ice cream sales"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.headers.units import CURRENCIES, unit_of
from rag_engine.tables.rules.language.lexicon import concepts_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.tables.rules.language.question_words import QuestionWord
    from rag_engine.tables.rules.mentions.columns import ColumnMention

_SUMS: Final = frozenset({"revenue", "amount", "cost"})
_VALUES: Final = frozenset(
    {
        "number",
        "numbers",
        "nummer",
        "numero",
        "band",
        "bands",
        "grade",
        "grades",
        "bracket",
        "group",
        "groups",
        "klasse",
        "gruppe",
        "grupo",
        "groupe",
        "reading",
        "readings",
        "figure",
        "figures",
        "level",
        "levels",
        "messwert",
        "messwerte",
        "lectura",
        "lecturas",
        "valeur",
        "valeurs",
        "value",
        "values",
        "wert",
        "werte",
        "werten",
        "valor",
        "valores",
    }
)


def without_appositions(
    words: Sequence[QuestionWord], free: Sequence[bool], named: Sequence[ColumnMention]
) -> list[bool]:
    ends = {one.end for one in named}
    money = {one.end for one in named if all(unit_of(column) in CURRENCIES for column in one.columns)}
    return [
        is_free
        and not (at in ends and words[at].folded in _VALUES)
        and not (at in money and concepts_at(words, at)[1] & _SUMS)
        for at, is_free in enumerate(free)
    ]
