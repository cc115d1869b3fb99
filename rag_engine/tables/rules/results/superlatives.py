from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rag_engine.tables.rules.interpretation import Interpretation
    from rag_engine.tables.rules.query import Extreme
    from rag_engine.tables.rules.question import Sign


def extreme(sign: Sign) -> Extreme:
    if sign.group == "superlatives":
        return "most" if sign.name.startswith("most") else "least"
    if sign.group == "operations" and sign.name in {"most", "least"}:
        return "most" if sign.name == "most" else "least"
    return ""


def distinct_extremes(reading: Interpretation) -> list[Sign]:
    """ "Top 3 biggest"."""
    found = [sign for sign in reading.signs if extreme(sign)]
    return found[1:] if len(found) == 2 and len({*map(extreme, found)}) == 1 else found
