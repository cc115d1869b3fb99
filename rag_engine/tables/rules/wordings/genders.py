from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.headers.column_names import header
from rag_engine.tables.rules.language.question_words import folded, header_words
from rag_engine.tables.rules.results.measures import is_unique

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.tables.types import TypedTable

_WOMEN: Final = frozenset(
    {"females", "woman", "women", "frau", "frauen", "mujer", "mujeres", "femme", "femmes"}
)
_MEN: Final = frozenset({"males", "men", "manner", "hombre", "hombres", "homme", "hommes"})
_FEMALE: Final = _WOMEN | {"f", "w", "female", "weiblich", "weibliche", "weiblichen", "femenino", "feminin"}
_MALE: Final = _MEN | {"m", "h", "male", "mannlich", "mannliche", "mannlichen", "masculino", "masculin"}
_HEADERS: Final = frozenset({"gender", "sex", "geschlecht", "sexo", "genero", "sexe"})
_OF_PERSONS: Final = frozenset({"person", "name", "student", "customer", "seller", "manager"})


def gender_cell(word: str, tables: Sequence[TypedTable], language: str) -> str:
    """ "F" for "women"."""
    meant = next((one for one in (_FEMALE, _MALE) if word in one and len(word) > 1), frozenset[str]())
    if not meant:
        return ""
    cells = {
        value
        for table in tables
        if word not in _WOMEN | _MEN or _is_of_persons(table, language)
        for column in table.columns
        if any(one.folded in _HEADERS for one in header_words(column.name, language))
        for value in column.values
        if folded(value) in meant
    }
    return cells.pop() if len(cells) == 1 and word not in map(folded, cells) else ""


def _is_of_persons(table: TypedTable, language: str) -> bool:
    return any(
        is_unique(table, column) and header(column.name, language).concepts & _OF_PERSONS
        for column in table.columns
    )
