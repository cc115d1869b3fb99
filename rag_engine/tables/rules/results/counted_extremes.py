from __future__ import annotations

from typing import TYPE_CHECKING

from rag_engine.tables.rules.filters.completeness import check_used
from rag_engine.tables.rules.headers.qualities import SIZES
from rag_engine.tables.rules.query import Aggregate, Grouping, Measure, Superlative
from rag_engine.tables.rules.refusals import refused
from rag_engine.tables.rules.results import measures
from rag_engine.tables.rules.results.counts import count
from rag_engine.tables.rules.results.superlatives import extreme

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.tables.rules.filters.conditions import Conditions
    from rag_engine.tables.rules.interpretation import Interpretation
    from rag_engine.tables.rules.mentions.columns import ColumnMention
    from rag_engine.tables.rules.query import TableQuery
    from rag_engine.tables.rules.question import Sign

BARE = frozenset({"most", "least", "meisten", "wenigsten", "mas", "menos", "多", "少"})


def grouped_ranking(
    reading: Interpretation, stated: Conditions, sign: Sign, entity: Grouping, measure: Measure, limit: int
) -> Aggregate:
    return Aggregate(
        table=reading.table,
        measures=(measure,),
        filters=stated.filters,
        groups=(entity,),
        ranking=Superlative(extreme=extreme(sign), limit=limit),
    )


def most_rows(
    reading: Interpretation,
    stated: Conditions,
    sign: Sign,
    entity: Grouping | None,
    rest: Sequence[ColumnMention],
    limit: int,
) -> TableQuery:
    if entity is None:
        raise refused("question", reading.table)
    is_behind = reading.question.language != "zh"
    nouns = [one for one in rest if one.start >= sign.end or not is_behind]
    numeric = measures.named(reading, nouns)
    check_used(reading, rest, nouns[:1])
    made = count(reading, nouns[0] if nouns else None, numeric, stated)
    return grouped_ranking(reading, stated, sign, entity, made, limit)


def counts_events(
    reading: Interpretation, sign: Sign, entity: Grouping, rest: Sequence[ColumnMention]
) -> bool:
    """ "Who complained most" of complaints."""
    is_bare = reading.question.words[sign.end - 1].folded in BARE
    said = any(
        reading.question.is_beside(one.end, sign.start)
        for one in (
            *reading.titles,
            *(one for one in reading.columns if entity.column not in one.columns and _is_event(reading, one)),
        )
    )
    hinted = any(one.group == "hints" for one in reading.signs)
    return is_bare and said and not hinted and not measures.named(reading, rest)


def _is_event(reading: Interpretation, mention: ColumnMention) -> bool:
    return not mention.share and all(measures.is_unique(reading.table, column) for column in mention.columns)


def most_events(
    reading: Interpretation,
    stated: Conditions,
    sign: Sign,
    entity: Grouping | None,
    rest: Sequence[ColumnMention],
    limit: int,
) -> TableQuery:
    if entity is None or any(not one.is_title and not _is_event(reading, one) for one in rest):
        raise refused("question", reading.table)
    return grouped_ranking(reading, stated, sign, entity, Measure(function="count"), limit)


def counts(
    reading: Interpretation,
    stated: Conditions,
    sign: Sign,
    entity: Grouping,
    rest: Sequence[ColumnMention],
) -> bool:
    if stated.under or measures.is_unique(reading.table, entity.column) or measures.named(reading, rest):
        return False
    if any(title.start == sign.end for title in reading.titles):
        return (
            reading.question.words[sign.start].folded
            in {"most", "fewest", "least", "meisten", "wenigsten", "mas", "menos"}
            or sign.end - sign.start > 1
        )
    if reading.question.language == "zh" and any(
        reading.question.is_beside(one.end, sign.start) for one in rest
    ):
        return True
    if reading.question.words[sign.end - 1].folded in SIZES:
        return False
    return any(reading.question.is_beside(sign.end, one.start) for one in rest)
