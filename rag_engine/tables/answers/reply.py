"""Figures, the rows they rest on, what was left out."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from rag_engine.agent.tool import RESULT
from rag_engine.generation.generate import GeneratedReply
from rag_engine.generation.phrases import phrase
from rag_engine.tables.answers.figures import SHOWN_ROWS, markdown_table, shown_rows
from rag_engine.text.table_anchors import narrowed
from rag_engine.types import Chunk, ChunkId, Citation, Hit, KnowledgeBaseId, Prompt

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rag_engine.tables.types import ComputedAnswer, ComputedWarning, SourceRows

MODEL: Final = "tables"
_QUOTES: Final = 5
_MOST_CELLS: Final = 5
_LONGEST_CELL: Final = 80
_LONGEST_NAME: Final = 40
_MOST_TRACED: Final = 200
_TRACED_ROWS: Final = 50


def generated(
    computed: ComputedAnswer, *, language: str, hits: Sequence[Hit], model: str, notes: Sequence[str] = ()
) -> GeneratedReply:
    return GeneratedReply(
        text=text(computed, language),
        citations=tuple(_citations(computed, hits)),
        model=model or MODEL,
        prompt=Prompt(messages=()),
        notices=(*notes, *_notices(computed, language)),
        fallbacks=(),
        seconds={},
        grounded=True,
        support_ratio=1.0,
        language=language,
        computed=computed,
    )


def refused(said: str, *, language: str) -> GeneratedReply:
    return GeneratedReply(
        text=said,
        citations=(),
        model=MODEL,
        prompt=Prompt(messages=()),
        notices=(),
        fallbacks=(),
        seconds={},
        language=language,
    )


def text(computed: ComputedAnswer, language: str) -> str:
    shown = _shown(computed, language)
    unread = next((one.examples for one in computed.warnings if one.kind == "unread_words"), ())
    if not unread:
        return shown
    return f"{phrase('computed_unread_words', language=language, words=unread[0])}\n\n{shown}"


def _shown(computed: ComputedAnswer, language: str) -> str:
    markers = "".join(f"[{number}]" for number, _ in enumerate(computed.sources, 1))
    count = len(computed.rows)
    if count == 1 and (line := _line(computed, language)):
        return phrase("computed_line", language=language, cells=line, sources=markers)
    lead = phrase("computed_rows", language=language, count=count, sources=markers)
    if count == 1 and len(computed.columns) > _MOST_CELLS:
        return f"{lead}\n\n{_listed(computed, language)}"
    table = markdown_table(computed, language)
    if count <= SHOWN_ROWS:
        return f"{lead}\n\n{table}"
    more = phrase("computed_more", language=language, shown=SHOWN_ROWS, total=f"{count:,}")
    return f"{lead}\n\n{table}\n\n{more}"


def passages(computed: ComputedAnswer, question: str, *, language: str) -> tuple[Hit, ...]:
    result = "\n".join(
        (f"Computed: {question}", markdown_table(computed, language), *_notices(computed, language))
    )
    hits: list[Hit] = []
    for rank, source in enumerate(computed.sources, 1):
        text = "\n".join((result, f"Computed from {source.count} rows, such as:", *_quotes(source)))
        digest = hashlib.sha256(f"{computed.sql}\n{rank}\n{text}".encode("utf-8", "replace")).hexdigest()
        chunk = Chunk(
            id=ChunkId(f"{RESULT}compute:{digest[:24]}"),
            document=source.table.document,
            knowledge_base=KnowledgeBaseId(""),
            ordinal=0,
            text=text,
            title=source.table.title,
            uri=source.table.uri,
            anchor=_anchor(source),
            kind="table",
        )
        hits.append(Hit(chunk=chunk, score=0.0, rank=rank))
    return tuple(hits)


def _listed(computed: ComputedAnswer, language: str) -> str:
    (cells,) = shown_rows(computed, language)
    pairs = zip(computed.columns, cells, strict=True)
    return "\n".join(f"- {column.name}: **{' '.join(cell.split())}**" for column, cell in pairs if cell)


def _line(computed: ComputedAnswer, language: str) -> str:
    (cells,) = shown_rows(computed, language)
    named = [
        (column.name, " ".join(cell.split())) for column, cell in zip(computed.columns, cells, strict=True)
    ]
    named = list(_without_sums_of_one_row(computed, named))
    if len(named) > _MOST_CELLS or any(len(cell) > _LONGEST_CELL for _, cell in named):
        return ""
    if len(named) == 1:
        named = _of_one_row(computed, named[0]) or named
    return "; ".join(f"{name}: **{cell}**" for name, cell in named)


def _without_sums_of_one_row(
    computed: ComputedAnswer, named: Sequence[tuple[str, str]]
) -> Iterator[tuple[str, str]]:
    columns = {column.name for source in computed.sources for column in source.table.columns}
    for place, (name, cell) in enumerate(named):
        is_cell = any(own in name and cell == shown for own, shown in named[:place])
        if name in columns or not is_cell:
            yield name, cell


def _of_one_row(computed: ComputedAnswer, figure: tuple[str, str]) -> list[tuple[str, str]]:
    if len(computed.sources) != 1 or computed.sources[0].count != 1 or not computed.sources[0].texts:
        return []
    source = computed.sources[0]
    cells = [
        (column, " ".join(cell.split()))
        for column, cell in zip(source.table.columns, source.texts[0], strict=False)
    ]
    own = max((column.name for column, _ in cells if column.name in figure[0]), key=len, default="")
    if not own:
        return []
    naming = [
        (column.name, cell)
        for column, cell in cells
        if column.kind in ("text", "date") and column.name != own and 0 < len(cell) <= _LONGEST_NAME
    ]
    return [*naming[: _MOST_CELLS - 1], (own, figure[1])]


def _citations(computed: ComputedAnswer, hits: Sequence[Hit]) -> Iterator[Citation]:
    for number, source in enumerate(computed.sources, 1):
        table = source.table
        for quote in _quotes(source) or [""]:
            yield Citation(
                number=number,
                title=table.title,
                anchor=_anchor(source),
                uri=table.uri,
                quote=quote,
                document=table.document,
                chunk=_chunk(source, quote, hits),
            )


def _anchor(source: SourceRows) -> str:
    place = source.table.place
    if source.numbers:
        place = narrowed(place, source.numbers[0], source.numbers[-1])
    return f"{place}, {source.count} rows" if source.count != 1 else place


def _quotes(source: SourceRows) -> list[str]:
    names = [column.name for column in source.table.columns]
    is_named = len(names) == max((len(row) for row in source.texts), default=0)
    is_named = is_named and all(column.name != column.sql_name for column in source.table.columns)
    header = f"{' | '.join(names)}\n" if is_named else ""
    lines = (" | ".join(row).rstrip(" |") for row in source.texts[:_QUOTES])
    return [f"{header}{line}" for line in lines if line]


def _chunk(source: SourceRows, quote: str, hits: Sequence[Hit]) -> ChunkId:
    own = [hit.chunk for hit in hits if hit.chunk.document == source.table.document]
    row = quote.rpartition("\n")[2]
    exact = next((chunk.id for chunk in own if row and row in chunk.text), None)
    return exact or (own[0].id if own else ChunkId(""))


def _notices(computed: ComputedAnswer, language: str) -> Iterator[str]:
    names = {source.table.sql_name: source.table.caption for source in computed.sources}
    for warning in computed.warnings:
        if warning.kind == "unread_words":
            continue
        yield _notice(warning, names.get(warning.table, warning.table), language)


def _notice(warning: ComputedWarning, table: str, language: str) -> str:
    if warning.kind == "unread_cells":
        examples = ", ".join(warning.examples)
        column = warning.column
        return phrase(
            "computed_unread", language=language, count=warning.count, column=column, examples=examples
        )
    if warning.kind == "empty_cell":
        return phrase("computed_empty", language=language, column=warning.column)
    if warning.kind == "totals_left_out":
        return phrase("computed_totals", language=language, count=warning.count, table=table)
    return phrase("computed_cut", language=language, shown=warning.count)


def computed_values(computed: ComputedAnswer) -> dict[str, object]:
    """As JSON."""
    return {
        "sql": computed.sql,
        "columns": [column.name for column in computed.columns],
        "rows": [list(row) for row in computed.rows],
        "sources": [
            {
                "document": source.table.document,
                "table": source.table.sql_name,
                "place": _anchor(source),
                "count": source.count,
                "rows": list(source.numbers[:_MOST_TRACED]),
            }
            for source in computed.sources
        ],
        "warnings": [
            {"kind": one.kind, "table": one.table, "column": one.column, "count": one.count}
            for one in computed.warnings
        ],
    }


def traced(computed: ComputedAnswer, *, by: str, faults: Sequence[str]) -> dict[str, object]:
    """JSON values for the trace."""
    values = {**computed_values(computed), "rows": [list(row) for row in computed.rows[:_TRACED_ROWS]]}
    return {**values, "by": by, "faults": list(faults)}
