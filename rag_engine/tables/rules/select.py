"""A query as one SELECT: names are ours, texts are quoted."""
# ruff: noqa: S608

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.language.question_words import folded
from rag_engine.tables.rules.query import (
    Aggregate,
    AnyFilter,
    ColumnFilter,
    Difference,
    EmptyFilter,
    RangeFilter,
    RowList,
    Share,
    TextFilter,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rag_engine.tables.rules.language.lexicon import Lexicon
    from rag_engine.tables.rules.query import Filter, Grouping, Measure, Side, Superlative, TableQuery
    from rag_engine.tables.types import TypedColumn

_UNITS: Final = {
    "year": "substr({0}, 1, 4)",
    "quarter": "substr({0}, 1, 4) || ' Q' || ((cast(substr({0}, 6, 2) AS INTEGER) + 2) / 3)",
    "month": "substr({0}, 1, 7)",
    "day": "substr({0}, 1, 10)",
}
"""Some ISO dates have no day."""


def select(query: TableQuery, words: Lexicon) -> str:
    match query:
        case Aggregate():
            return _aggregate(query, words)
        case RowList():
            return _rows(query, words)
        case Share():
            return _share(query, words)
        case Difference():
            return _difference(query, words)


def _aggregate(query: Aggregate, words: Lexicon) -> str:
    source = f"FROM {query.table.sql_name}"
    groups = [_group(group) for group in query.groups]
    ranking = query.ranking
    filters = [_filter(one) for one in query.filters]
    if ranking is not None:
        filters += [f"{group} IS NOT NULL" for group in groups]
    where = _where(filters)
    values = [_measured(measure) for measure in query.measures]
    shown = [
        *(
            f"{text} AS {_name(_group_label(group, words))}"
            for text, group in zip(groups, query.groups, strict=True)
        ),
        *(
            f"{value} AS {_name(label(measure, words))}"
            for value, measure in zip(values, query.measures, strict=True)
        ),
    ]
    text = f"SELECT {', '.join(shown)} {source}{where}"
    if not groups:
        return text
    text += f" GROUP BY {', '.join(groups)}"
    if ranking is None:
        return f"{text} ORDER BY {', '.join(groups)}"
    inner = f"SELECT {values[0]} AS v {source}{where} GROUP BY {', '.join(groups)} HAVING v IS NOT NULL"
    having = _threshold(values[0], inner, ranking)
    return f"{text} HAVING {having} ORDER BY {values[0]}{_direction(ranking)}, {', '.join(groups)}"


def _rows(query: RowList, words: Lexicon) -> str:
    source = f"FROM {query.table.sql_name}"
    filters = [_filter(one) for one in query.filters]
    order = query.table.row_name
    ranking = query.ranking
    if ranking is not None and ranking.column is not None:
        ranked = _quoted(ranking.column.sql_name)
        filters.append(f"{ranked} IS NOT NULL")
        inner = f"SELECT {ranked} AS v {source}{_where(filters)}"
        filters.append(_threshold(ranked, inner, ranking))
        order = f"{ranked}{_direction(ranking)}, {query.table.row_name}"
    shown = [f"{_quoted(_shown(column))} AS {_name(column.name)}" for column in query.columns]
    if query.summed:
        summed = _over_rows(query.summed, "sum")
        total = words.sentences["sum"].format(column=_names(query.summed))
        shown.append(f"{summed} AS {_name(total)}")
    if query.counted:
        shown.append(f"count(*) OVER () AS {_name(words.sentences['count'])}")
    if query.distinct:
        return f"SELECT DISTINCT {', '.join(shown)} {source}{_where(filters)} ORDER BY 1"
    return f"SELECT {', '.join(shown)} {source}{_where(filters)} ORDER BY {order}"


def _shown(column: TypedColumn) -> str:
    return column.text_name if column.kind == "date" else column.sql_name


def _share(query: Share, words: Lexicon) -> str:
    part = " AND ".join(f"({_filter(one)})" for one in query.part)
    if query.measure.function == "count":
        top, bottom = f"sum(CASE WHEN {part} THEN 1 ELSE 0 END)", "count(*)"
    else:
        value = _row_sum(query.measure.columns)
        top, bottom = f"sum(CASE WHEN {part} THEN {value} ELSE 0 END)", f"sum({value})"
    where = _where([_filter(one) for one in query.filters])
    name = words.sentences
    return (
        f"SELECT round(100.0 * {top} / nullif({bottom}, 0), 2) AS {_name(name['share'])}, "
        f"{top} AS {_name(name['part'])}, {bottom} AS {_name(name['whole'])} "
        f"FROM {query.table.sql_name}{where}"
    )


def _difference(query: Difference, words: Lexicon) -> str:
    first, second = (_side(query.measure, side) for side in (query.first, query.second))
    name = words.sentences
    sides = " OR ".join(f"({_joined(side.filters)})" for side in (query.first, query.second) if side.filters)
    where = _where([*map(_filter, query.filters), *([f"({sides})"] if sides else [])])
    if query.is_ratio:
        return (
            f"SELECT {first} AS {_name(query.first.name)}, {second} AS {_name(query.second.name)}, "
            f"round(1.0 * ({first}) / nullif({second}, 0), 4) AS {_name(name['ratio'])} "
            f"FROM {query.table.sql_name}{where}"
        )
    return (
        f"SELECT {first} AS {_name(query.first.name)}, {second} AS {_name(query.second.name)}, "
        f"{first} - {second} AS {_name(name['difference'])}, "
        f"round(100.0 * ({first} - {second}) / nullif({second}, 0), 2) AS {_name(name['change'])} "
        f"FROM {query.table.sql_name}{where}"
    )


def _side(measure: Measure, side: Side) -> str:
    columns = side.columns or measure.columns
    condition = _joined(side.filters)
    if not condition:
        return _function(measure.function, columns)
    if measure.function == "count":
        return f"sum(CASE WHEN {condition} THEN 1 ELSE 0 END)"
    cells = [f"CASE WHEN {condition} THEN {_quoted(column.sql_name)} END" for column in columns]
    return _folded_cells(measure.function, cells)


def _measured(measure: Measure) -> str:
    if measure.is_product:
        return f"{measure.function}({' * '.join(_quoted(column.sql_name) for column in measure.columns)})"
    return _function(measure.function, measure.columns)


def _function(function: str, columns: Sequence[TypedColumn]) -> str:
    if function == "count":
        return "count(*)"
    if function == "distinct":
        return f"count(DISTINCT {_in_one_spelling(columns[0], columns[0].text_name)})"
    return _folded_cells(function, [_quoted(column.sql_name) for column in columns])


def _folded_cells(function: str, cells: Sequence[str]) -> str:
    if len(cells) == 1:
        return f"{ {'average': 'avg', 'median': 'median', 'most': 'max', 'least': 'min'}.get(function, function) }({cells[0]})"
    summed = " + ".join(f"coalesce(sum({cell}), 0)" for cell in cells)
    if function == "average":
        return f"1.0 * ({summed}) / nullif({' + '.join(f'count({cell})' for cell in cells)}, 0)"
    return f"({summed})"


def _over_rows(columns: Sequence[TypedColumn], function: str) -> str:
    return f"{function}({_row_sum(columns)}) OVER ()"


def _row_sum(columns: Sequence[TypedColumn]) -> str:
    if len(columns) == 1:
        return _quoted(columns[0].sql_name)
    return " + ".join(f"coalesce({_quoted(column.sql_name)}, 0)" for column in columns)


def _threshold(value: str, inner: str, ranking: Superlative) -> str:
    """So that ties are not cut."""
    extreme, sign = ("max", ">=") if ranking.extreme == "most" else ("min", "<=")
    if ranking.nth > 1:
        nth = f"SELECT DISTINCT v FROM ({inner}) ORDER BY v{_direction(ranking)} LIMIT 1 OFFSET {ranking.nth - 1}"
        return f"{value} = ({nth})"
    if ranking.limit == 1:
        return f"{value} = (SELECT {extreme}(v) FROM ({inner}))"
    last = "min" if ranking.extreme == "most" else "max"
    nth = f"SELECT v FROM ({inner}) ORDER BY v{_direction(ranking)} LIMIT 1 OFFSET {ranking.limit - 1}"
    return f"{value} {sign} coalesce(({nth}), (SELECT {last}(v) FROM ({inner})))"


def _direction(ranking: Superlative) -> str:
    return " DESC" if ranking.extreme == "most" else ""


def _group(group: Grouping) -> str:
    column = _quoted(group.column.sql_name)
    return (
        _UNITS[group.unit].format(column)
        if group.unit
        else _in_one_spelling(group.column, group.column.sql_name)
    )


def _in_one_spelling(column: TypedColumn, sql_name: str) -> str:
    quoted = _quoted(sql_name)
    spelled: dict[str, str] = {}
    others: list[tuple[str, str]] = []
    for text in column.values if column.kind == "text" and column.has_all_values else ():
        first = spelled.setdefault(folded(" ".join(text.split())), text)
        if first != text:
            others.append((text, first))
    if not others:
        return quoted
    cases = " ".join(f"WHEN {_literal(text)} THEN {_literal(first)}" for text, first in others)
    return f"CASE {quoted} {cases} ELSE {quoted} END"


def _group_label(group: Grouping, words: Lexicon) -> str:
    return words.sentences[group.unit] if group.unit else group.column.name


def label(measure: Measure, words: Lexicon) -> str:
    name = words.sentences[measure.function]
    if measure.is_product:
        return name.format(column=" × ".join(column.name for column in measure.columns))
    return name.format(column=_names(measure.columns)) if measure.columns else name


def _names(columns: Iterable[TypedColumn]) -> str:
    names = [column.name for column in columns]
    return names[0] if len(names) == 1 else f"{names[0]} – {names[-1]}"


def _filter(one: Filter) -> str:
    match one:
        case TextFilter():
            return _text_filter(one)
        case RangeFilter():
            return _range_filter(one)
        case AnyFilter():
            return f"({' OR '.join(f'({_joined(filters)})' for filters in one.alternatives)})"
        case ColumnFilter():
            return f"{_quoted(one.column.sql_name)} {one.operator} {_quoted(one.other.sql_name)}"
        case EmptyFilter():
            return f"{_quoted(one.column.text_name)} IS {'NOT ' if one.negated else ''}NULL"


def _joined(filters: Iterable[Filter]) -> str:
    return " AND ".join(map(_filter, filters))


def _text_filter(one: TextFilter) -> str:
    column = _quoted(one.column.text_name)
    texts = ", ".join(_literal(text if one.listed else folded(text)) for text in one.texts)
    tested = column if one.listed else f"fold({column})"
    if one.negated:
        return f"({column} IS NULL OR {tested} NOT IN ({texts}))"
    return f"{tested} IN ({texts})"


def _range_filter(one: RangeFilter) -> str:
    column = _quoted(one.column.sql_name)
    if one.low is not None and one.low == one.high:
        return f"{column} {'<>' if one.negated else '='} {_literal(one.low)}"
    tests: list[str] = []
    if one.low is not None:
        tests.append(f"{column} {'>=' if one.includes_low else '>'} {_literal(one.low)}")
    if one.high is not None:
        tests.append(f"{column} {'<=' if one.includes_high else '<'} {_literal(one.high)}")
    both = " AND ".join(tests)
    return f"NOT ({both})" if one.negated else both


def _where(filters: Sequence[str]) -> str:
    return f" WHERE {' AND '.join(filters)}" if filters else ""


def _literal(value: str | float) -> str:
    return str(value) if not isinstance(value, str) else "'" + value.replace("'", "''") + "'"


def _quoted(name: str) -> str:
    return '"' + name.replace(".", '"."') + '"'


def _name(text: str) -> str:
    return '"' + (" ".join(text.replace('"', "'").split()) or "_") + '"'
