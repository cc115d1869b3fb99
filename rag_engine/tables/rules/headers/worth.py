"""Stock and unit price, of which a worth is the product."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.headers import column_names
from rag_engine.tables.rules.headers.units import CURRENCIES, unit_of

if TYPE_CHECKING:
    from rag_engine.tables.rules.language.question_words import QuestionWord
    from rag_engine.tables.types import TypedColumn, TypedTable

_WORTH: Final = frozenset({"worth", "value", "wert", "valor", "vale", "valen", "valeur", "vaut", "valent"})
_WORTH_END: Final = "wert"
_PIECES: Final = frozenset({"quantity", "stock"})
_AMOUNTS: Final = frozenset({"amount", "revenue", "cost"})


def is_worth(word: QuestionWord, table: TypedTable, language: str) -> bool:
    """A word for it, where no column holds it."""
    says = word.folded in _WORTH or (language == "de" and word.folded.endswith(_WORTH_END))
    return says and stock_and_price(table, language) is not None


def stock_and_price(table: TypedTable, language: str) -> tuple[TypedColumn, ...] | None:
    read = {
        column: column_names.header(column.name, language)
        for column in table.columns
        if column.kind == "number"
    }
    prices = [column for column, one in read.items() if "price" in one.concepts]
    pieces = [
        column
        for column, one in read.items()
        if one.concepts & _PIECES
        and column not in prices
        and not column_names.is_limit(column.name, language)
    ]
    amounts = [
        column
        for column, one in read.items()
        if column not in prices and (one.concepts & _AMOUNTS or unit_of(column) in CURRENCIES)
    ]
    is_pair = len(prices) == len(pieces) == 1 and not amounts
    return (pieces[0], prices[0]) if is_pair else None
