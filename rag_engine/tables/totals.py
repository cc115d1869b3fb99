"""Rows that sum up others must not count twice."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.tables.types import Value

_WORDS: Final = (
    r"(?:grand |sub|running |overall )?[ -]?totals?|sums?|averages?|means?|medians?|subtotals?"
    r"|(?:zwischen|gesamt|end|teil)?summen?|gesamt|insgesamt|durchschnitt|mittelwert|gesamtergebnis|ergebnis"
    r"|(?:sub)?total(?: general)?|suma|promedio|media|totaux|sous-total|somme|moyenne|totale|subtotale|somma"
    r"|totaal|subtotaal|gemiddelde|soma|média|итого|всего|сумма|среднее|合計|総計|小計|平均|合计|总计|小计|总额|합계|총계|소계|평균"
)
_WHOLE: Final = re.compile(rf"(?:{_WORDS})\s*[:：]?", re.IGNORECASE)
_BEGINS: Final = re.compile(rf"(?:{_WORDS})(?!\w)", re.IGNORECASE)
_ENDS: Final = re.compile(
    rf"(?:(?<!\w)(?:{_WORDS})|\w(?:合計|総計|小計|合计|总计|小计|합계|총계|소계))\s*[:：]?$", re.IGNORECASE
)
_LONGEST: Final = 60


class TotalRows:
    """`texts`: cells that are not numbers."""

    def __init__(self) -> None:
        self._since: list[float] = []
        """Since the last total."""
        self._all: list[float] = []
        self._rows = self._rows_since = 0

    def is_total(self, texts: Sequence[str], numbers: Sequence[Value]) -> bool:
        """By its label, or without text as the sum of the rows above."""
        filled = [text for text in texts if text]
        label = filled[0] if filled and len(filled[0]) <= _LONGEST else ""
        is_named = bool(_WHOLE.fullmatch(label))
        may_be = bool(label) and bool(_BEGINS.match(label) or _ENDS.search(label))
        found = is_named or (may_be and (len(filled) == 1 or self._is_sum(numbers)))
        found = found or (not filled and self._rows_since > 1 and self._is_sum(numbers))
        found = found and self._rows > 0
        if found:
            self._since, self._rows_since = [], 0
        else:
            self._add(numbers)
        return found

    def _add(self, numbers: Sequence[Value]) -> None:
        values = [float(value) if isinstance(value, int | float) else 0.0 for value in numbers]
        if not self._all:
            self._all = [0.0] * len(values)
        if not self._since:
            self._since = [0.0] * len(values)
        self._all = [total + value for total, value in zip(self._all, values, strict=True)]
        self._since = [total + value for total, value in zip(self._since, values, strict=True)]
        self._rows += 1
        self._rows_since += 1

    def _is_sum(self, numbers: Sequence[Value]) -> bool:
        for sums in (self._since, self._all):
            shown = [
                (float(value), total)
                for value, total in zip(numbers, sums, strict=False)
                if isinstance(value, int | float)
            ]
            if shown and all(
                math.isclose(value, total, rel_tol=1e-3, abs_tol=0.02) for value, total in shown
            ):
                return any(value for value, _ in shown)
        return False
