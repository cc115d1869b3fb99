"""Questions that ask to compute, plainly or by "table:"."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rag_engine.text.lazy_pattern import lazy

if TYPE_CHECKING:
    from rag_engine.types import Query

OPTION: Final = "table:yes"
_EXPLICIT: Final = re.compile(
    r"\A\s*+(?:table|tabelle|tabla|tableau):\s++(?=\S)|(?<!\S)table:(?:yes|on|ja|s[ií]|oui)(?!\S)",
    re.IGNORECASE,
)

# Words of counting, adding up and comparing sizes; what they lead to is decided by the tables.
_WORDS: Final = (
    *(
        "how many",
        "how much",
        "number of",
        "count",
        "total",
        "sum",
        "average",
        "mean",
        "median",
        "percentage",
        "share of",
    ),
    *(
        "most",
        "least",
        "highest",
        "lowest",
        "largest",
        "smallest",
        "biggest",
        "maximum",
        "minimum",
        "max",
        "min",
        "top",
    ),
    *(
        "more than",
        "less than",
        "fewer than",
        "at least",
        "at most",
        "between",
        "per",
        "each",
        "ranking",
        "difference",
    ),
    *(
        "wie viele?",
        "wieviele?",
        "anzahl",
        "summen?",
        "gesamt\\w*",
        "insgesamt",
        "durchschnitt\\w*",
        "mittelwert",
        "anteil",
    ),
    *(
        "höchste[nrs]?",
        "niedrigste[nrs]?",
        "größte[nrs]?",
        "kleinste[nrs]?",
        "meisten",
        "wenigsten",
        "maximal\\w*",
        "minimal\\w*",
    ),
    *(
        "mehr als",
        "weniger als",
        "mindestens",
        "höchstens",
        "zwischen",
        "pro",
        "je",
        "unterschied",
        "differenz",
    ),
    *(
        "cuánt[oa]s?",
        "cuant[oa]s?",
        "número de",
        "suma",
        "total(?:es)?",
        "promedio",
        "media",
        "máxim[oa]",
        "mínim[oa]",
    ),
    *("mayor(?:es)?", "menor(?:es)?", "más de", "menos de", "por", "cada", "diferencia"),
    *(
        "combien",
        "nombre de",
        "somme",
        "totaux",
        "moyenne",
        "plus de",
        "moins de",
        "plus grand",
        "par",
        "différence",
    ),
    *(
        "quant[ioae]",
        "somma",
        "totale",
        "medi[ao]",
        "massim[oa]",
        "minim[oa]",
        "più di",
        "meno di",
        "per ogni",
    ),
    *("hoeveel", "aantal", "som", "totaal", "gemiddelde?", "hoogste", "laagste", "meer dan", "minder dan"),
    *("quant[oa]s", "soma", "máxim[oa]", "mais de", "menos de", "média"),
    *(
        "сколько",
        "сумма",
        "итого",
        "всего",
        "средн\\w+",
        "максимальн\\w+",
        "минимальн\\w+",
        "больше",
        "меньше",
    ),
)
_SUMS: Final = (
    *(
        "total",
        "sum",
        "average",
        "mean",
        "median",
        "percentage",
        "summen?",
        "gesamt\\w*",
        "insgesamt",
        "durchschnitt\\w*",
    ),
    *(
        "mittelwert",
        "suma",
        "promedio",
        "somme",
        "moyenne",
        "somma",
        "totale",
        "totaal",
        "gemiddelde?",
        "soma",
        "сумма",
        "итого",
    ),
)
_SUMMED: Final = lazy(lambda: re.compile(rf"(?<!\w)(?:{'|'.join(_SUMS)})(?!\w)", re.IGNORECASE))
_ASKED: Final = lazy(lambda: re.compile(rf"(?<!\w)(?:{'|'.join(_WORDS)})(?!\w)", re.IGNORECASE))
_ASIAN: Final = lazy(
    lambda: re.compile(
        "合計|総計|平均|最大|最小|最高|最低|何人|何件|いくつ|いくら|总和|总计|合计|多少|几个|数量|합계|평균|최대|최소|몇|얼마"
    )
)


def asks_for_sum(question: str) -> bool:
    """Which no quoted line answers."""
    return _SUMMED.search(question) is not None


def asks_to_compute(question: str) -> bool:
    """Cheap, and rather too often true: without a table in reach nothing follows from it."""
    return _ASKED.search(question) is not None or _ASIAN.search(question) is not None


def with_table_request(query: Query) -> Query:
    """ "table: total by month", or "table:yes" anywhere; the request leaves the text."""
    if not _EXPLICIT.search(query.text):
        return query
    text = " ".join(_EXPLICIT.sub(" ", query.text).split(" ")).strip()
    return replace(query, text=text, options=replace(query.options, compute=True)) if text else query
