from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rag_engine.text.lazy_pattern import lazy
from rag_engine.text.written_request import request_pattern, without_request

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rag_engine.types import Query

OPTION: Final = "table:yes"
CHART: Final = "chart:yes"
_EXPLICIT: Final = request_pattern(
    r"(?:(?:table|tabelle|tabla|tableau|表格|表)[:：]\s*+|/table\s++)", option="table"
)
_CHART: Final = request_pattern(r"(?:chart|diagramm|grafik|gráfico|图表)[:：]\s++", option="chart")
_SUMS: Final = (
    *("total", "sum", "average", "mean", "median", "percentage"),
    *(r"summen?", r"gesamt\w*", "insgesamt", r"durchschnitt\w*", "mittelwert"),
    *("suma", "promedio", "somme", "moyenne", "somma", "totale", "totaal", r"gemiddelde?", "soma"),
    *("сумма", "итого"),
)
# What they lead to is decided by the tables.
_COMPARISONS: Final = (
    *("how many", "how much", "number of", "no of", "count", "share of", "ranking", "difference"),
    *("most", "least", "highest", "lowest", "largest", "smallest", "biggest"),
    *("maximum", "minimum", "max", "min", "top", "per", "each"),
    *("more than", "less than", "fewer than", "at least", "at most", "between"),
    *(r"wie viele?", r"wieviele?", "anzahl", "anteil", "pro", "je", "unterschied", "differenz"),
    *(r"höchste[nrs]?", r"niedrigste[nrs]?", r"größte[nrs]?", r"kleinste[nrs]?"),
    *("meisten", "wenigsten", r"maximal\w*", r"minimal\w*"),
    *("mehr als", "weniger als", "mindestens", "höchstens", "zwischen"),
    *(r"cuánt[oa]s?", r"cuant[oa]s?", "número de", r"total(?:es)?", "media", r"máxim[oa]", r"mínim[oa]"),
    *(r"mayor(?:es)?", r"menor(?:es)?", "más de", "menos de", "por", "cada", "diferencia"),
    *("combien", "nombre de", "totaux", "plus de", "moins de", "plus grand", "par", "différence"),
    *(r"quant[ioae]", r"medi[ao]", r"massim[oa]", r"minim[oa]", "più di", "meno di", "per ogni"),
    *("hoeveel", "aantal", "som", "hoogste", "laagste", "meer dan", "minder dan"),
    *(r"quant[oa]s", "mais de", "média"),
    *("сколько", "всего", r"средн\w+", r"максимальн\w+", r"минимальн\w+", "больше", "меньше"),
)
_ABSENCES: Final = (
    *(r"(?:has|have|had|with) no", "without", "lacks?", "lacking", "missing", "empty"),
    *("ohne", r"kein(?:e[nmr]?)?", r"fehl(?:t|en|ende[nmrs]?)", "leer"),
    *("sin", "no tienen?", "faltan?", r"vací[oa]s?", "sans", "senza", "sem", "zonder", "без"),
)
_SUMMED: Final = lazy(lambda: _any_of(_SUMS))
_ASKED: Final = lazy(lambda: _any_of((*_SUMS, *_COMPARISONS, *_ABSENCES)))
_ASIAN: Final = lazy(
    lambda: re.compile(
        "合計|総計|平均|最大|最小|最高|最低|何人|何件|いくつ|いくら|总和|总计|合计|多少|几个|数量|没有|缺少|未填|합계|평균|최대|최소|몇|얼마"
    )
)


_PICTURE: Final = (
    r"(?:bar |line |column )?(?:chart|graph|diagram|plot)|(?:balken|linien|säulen)?(?:diagramm|grafik)"
    r"|(?:gráfic[oa]|grafic[oa]|diagrama)(?: de (?:barras|l[ií]neas))?"
)
_CHART_BEHIND: Final = lazy(
    lambda: re.compile(
        rf"[\s,]+(?:and )?(?:(?:show|draw|plot) (?:it|them) )?(?:as|in|als|como|en|in form von)\s+"
        rf"(?:a |an |one |einem? |ein |eine |una? )?(?:{_PICTURE})\s*[.?!]*\Z"
        r"|[，,]?(?:并)?(?:画成|做成|显示为|以|用|的)?(?:柱状图|折线图|条形图|图表|曲线图)(?:显示|表示|展示)?[。？?！!]*\Z",
        re.IGNORECASE,
    )
)
_CHART_BEFORE: Final = lazy(
    lambda: re.compile(
        rf"\A(?:please |bitte |por favor )?(?:(?:plot|chart|graph)(?: me)? (?:the |of )?(?=\S)"
        rf"|(?:draw|make|show|create|give|zeichne|zeige?|erstelle|dibuja|muestra|haz)(?: me| mir|me)?\s+"
        rf"(?:a |an |the |ein |eine |einen |una? |el |la )?(?:{_PICTURE})\s+(?:of |with |for |von |der |des |mit |de |del |con )+(?:the |la |el )?"
        r"|(?:画(?:出|一个)?|绘制)(?=\S))",
        re.IGNORECASE,
    )
)


def _any_of(words: Iterable[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)", re.IGNORECASE)


def without_chart(question: str) -> tuple[str, bool]:
    """The question without the words that ask for a picture of its answer, and whether there were any."""
    text = question.strip()
    for pattern in (_CHART_BEHIND, _CHART_BEFORE):
        shorter = pattern.sub("", text).strip(" ,，:：")
        if shorter and shorter != text:
            return shorter, True
    return question, False


def asks_for_sum(question: str) -> bool:
    """Which no quoted line answers."""
    return _SUMMED.search(question) is not None


def asks_to_compute(question: str) -> bool:
    """Rather too often true: without a table nothing follows."""
    return _ASKED.search(question) is not None or _ASIAN.search(question) is not None


def with_table_request(query: Query) -> Query:
    """ "table: total by month", or "table:yes" anywhere."""
    drawn = without_request(query.text, _CHART)
    if drawn and drawn != query.text:
        query = replace(query, text=drawn, options=replace(query.options, compute=True, chart=True))
    if not _EXPLICIT.search(query.text):
        return query
    text = without_request(query.text, _EXPLICIT)
    return replace(query, text=text, options=replace(query.options, compute=True)) if text else query
