"""Whether a question is computed, over which tables, and by whom."""

from __future__ import annotations

import asyncio
import logging
import re
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from rag_engine.errors import QueryRefused, QueryTooHeavy, RagError
from rag_engine.generation.generate import GeneratedReply
from rag_engine.generation.phrases import phrase
from rag_engine.tables import rules
from rag_engine.tables.answers import reply, sql_task
from rag_engine.tables.answers.chart import chart
from rag_engine.tables.answers.requests import asks_for_sum, asks_to_compute, without_chart
from rag_engine.tables.execution import TableQueries
from rag_engine.tables.rules.subject import is_nowhere
from rag_engine.tables.types import ComputedWarning, QueryRefusal
from rag_engine.text.chunk_text import searchable_text
from rag_engine.text.language import detect, question_language
from rag_engine.types import Delta, Prompt, Retrieval, Stage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

    from rag_engine.pipeline import Inquiry
    from rag_engine.ports import LanguageModel
    from rag_engine.tables.store import TableStore
    from rag_engine.tables.table_file import StoredTable
    from rag_engine.tables.types import ComputedAnswer, WrittenQuery
    from rag_engine.types import AnswerEvent, DocumentId, Hit, KnowledgeBaseId

STAGE: Final = "compute"
_MOST_DOCUMENTS: Final = 30
_MOST_TABLES: Final = 30
_MOST_READINGS: Final = 4
_MOST_ASKED: Final = 5
_COMPUTES: Final = re.compile(r"\b(?:count|sum|avg|total|min|max)\s*\(|\b(?:group|order) by\b", re.IGNORECASE)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    computed: ComputedAnswer | None = None
    by: str = "rules"
    faults: Sequence[str] = ()
    notes: Sequence[str] = ()
    refusal: QueryRefusal | None = None
    language: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rules:
    is_wanted: bool = True
    refuses: bool = True
    shows_lines: bool = True
    texts: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Computation:
    """Over tables that the asker may read."""

    store: TableStore
    model: LanguageModel | None = None
    """None: the one that answers."""
    seconds: float = 30.0
    """For all calls of a language model."""
    queries: TableQueries = field(default_factory=TableQueries)

    async def answered(
        self,
        inquiry: Inquiry,
        models: Sequence[LanguageModel],
        *,
        otherwise: Callable[[Inquiry], AsyncGenerator[AnswerEvent | Inquiry | GeneratedReply]],
    ) -> AsyncGenerator[AnswerEvent | Inquiry | GeneratedReply]:
        """`otherwise` answers what is not computed."""
        is_answered = False
        async with aclosing(self._run(inquiry, models)) as items:
            async for item in items:
                is_answered = is_answered or isinstance(item, GeneratedReply)
                yield item
        if is_answered:
            return
        route = "search" if inquiry.route == "compute" else inquiry.route
        async with aclosing(otherwise(replace(inquiry, route=route))) as items:
            async for item in items:
                yield item

    async def passages(self, question: str, inquiry: Inquiry, model: LanguageModel) -> tuple[Hit, ...]:
        """Once for each table that the result rests on. Raises `QueryRefused`."""
        language = question_language(inquiry.query.text, chosen=inquiry.query.language)
        tables = await self._tables(inquiry)
        outcome = await self._outcome(question, tables, self.model or model, _Rules())
        if outcome is None or outcome.computed is None:
            missing = QueryRefusal(missing="question" if tables else "table")
            refusal = outcome.refusal if outcome is not None and outcome.refusal else missing
            raise QueryRefused(refusal_text(refusal, language))
        return reply.passages(outcome.computed, question, language=language)

    async def _run(
        self, inquiry: Inquiry, models: Sequence[LanguageModel]
    ) -> AsyncGenerator[AnswerEvent | Inquiry | GeneratedReply]:
        query = inquiry.query
        question, is_drawn = without_chart(inquiry.question)
        is_drawn = is_drawn or query.options.chart
        wanted = query.options.compute or inquiry.route == "compute"
        if inquiry.route not in ("search", "compute"):
            return
        tables = await self._tables(inquiry)
        if not tables and not query.options.compute:
            return
        asked = wanted or is_drawn or asks_to_compute(question)
        model = (self.model or models[0]) if models else None
        named = partial(rules.is_about, question, [one.table for one in tables], or_row=model is None)
        if not asked and not await asyncio.to_thread(named):
            known = [one.table for one in tables]
            if model is not None or not await asyncio.to_thread(rules.answers, question, known):
                return
        if model is not None and tables:
            yield Stage(name=STAGE, detail="Computing…")
        is_alone = model is None and _is_about_tables(inquiry, tables)
        allowed = _Rules(
            is_wanted=wanted,
            refuses=wanted or is_alone,
            shows_lines=wanted or is_alone or (model is None and not inquiry.hits),
            texts=tuple(searchable_text(hit.chunk) for hit in (*inquiry.hits, *inquiry.further)),
        )
        outcome = await self._outcome(question, tables, model, allowed)
        if outcome is None and query.options.compute:
            outcome = _Outcome(refusal=QueryRefusal(missing="question" if tables else "table"))
        if outcome is None:
            return
        language = query.language or detect(query.text) or outcome.language or "en"
        if is_drawn:
            outcome = _drawn(outcome, language)
        for event in _events(outcome, inquiry, language=language, model=model):
            yield event

    async def _tables(self, inquiry: Inquiry) -> list[StoredTable]:
        query = inquiry.query
        found: dict[DocumentId, KnowledgeBaseId] = {}
        for hit in (*inquiry.hits, *inquiry.further):
            if hit.chunk.knowledge_base in query.knowledge_bases:
                found.setdefault(hit.chunk.document, hit.chunk.knowledge_base)
        tables = await self.store.tables(found, beside=query.knowledge_bases, most=_MOST_DOCUMENTS)
        allowed = inquiry.documents
        tables = [one for one in tables if allowed is None or one.table.document in allowed]
        attached = set(query.files) if query.files_attached else set[str]()
        tables.sort(key=lambda one: one.table.document not in attached)
        return tables[:_MOST_TABLES]

    async def _outcome(
        self,
        question: str,
        tables: Sequence[StoredTable],
        model: LanguageModel | None,
        allowed: _Rules,
    ) -> _Outcome | None:
        if not tables:
            return None
        if model is not None:
            written = await self._by_model(question, tables, model)
            if written is not None:
                return written
        return await self._by_rules(question, tables, allowed)

    async def _by_model(
        self, question: str, tables: Sequence[StoredTable], model: LanguageModel
    ) -> _Outcome | None:
        run = partial(self.queries.run, tables=tables)
        known = [one.table for one in tables if not one.table.too_large]
        try:
            async with asyncio.timeout(self.seconds):
                computed, faults = await sql_task.computed(model, question, known, run)
        except (RagError, TimeoutError) as error:
            _log.warning("a language model wrote no query: %s", error or "it took too long")
            return None
        if computed is None or _is_nothing(computed):
            return None
        return _Outcome(computed=computed, by="model", faults=faults)

    async def _by_rules(
        self, question: str, tables: Sequence[StoredTable], allowed: _Rules
    ) -> _Outcome | None:
        written = await asyncio.to_thread(rules.write, question, [one.table for one in tables])
        computed: ComputedAnswer | None = None
        if isinstance(written, QueryRefusal) and (agreed := await self._agreed(written, tables)):
            written, computed = agreed
        if isinstance(written, QueryRefusal):
            is_named = written.missing != "column" or asks_for_sum(question) or allowed.is_wanted
            is_named = is_named or (
                not rules.asks_for_figure(question) and is_nowhere(written.name, allowed.texts)
            )
            is_said = allowed.refuses and is_named and written.missing != "question"
            return _Outcome(refusal=written) if is_said else None
        if not allowed.shows_lines and not _COMPUTES.search(written.sql):
            return None
        computed = computed or await self._result(written, tables)
        if computed is None:
            return None
        is_line = not allowed.shows_lines and sum(source.count for source in computed.sources) == 1
        if is_line or _is_nothing(computed):
            return None
        return _Outcome(computed=computed, notes=written.notes, language=written.language)

    async def _agreed(
        self, refusal: QueryRefusal, tables: Sequence[StoredTable]
    ) -> tuple[WrittenQuery, ComputedAnswer] | None:
        if not 0 < len(refusal.readings) <= _MOST_READINGS:
            return None
        results: list[ComputedAnswer] = []
        for one in refusal.readings:
            result = await self._result(one, tables)
            if result is None or any(warning.kind == "cut" for warning in result.warnings):
                return None
            results.append(result)
        first = results[0]
        is_one = all((one.rows, one.columns) == (first.rows, first.columns) for one in results)
        return (refusal.readings[0], first) if is_one and any(map(any, first.rows)) else None

    async def _result(self, written: WrittenQuery, tables: Sequence[StoredTable]) -> ComputedAnswer | None:
        try:
            computed = await self.queries.run(written.sql, tables)
        except (QueryRefused, QueryTooHeavy) as error:
            _log.warning("a query of the rules did not run: %s", error)
            return None
        if len(computed.rows) > written.most_rows:
            return None
        return _with_empty_cells(_with_unread_words(computed, written.unread))


def _with_unread_words(computed: ComputedAnswer, words: str) -> ComputedAnswer:
    if not words:
        return computed
    warning = ComputedWarning(kind="unread_words", count=len(words.split()), examples=(words,))
    return replace(computed, warnings=(*computed.warnings, warning))


def _with_empty_cells(computed: ComputedAnswer) -> ComputedAnswer:
    if len(computed.rows) != 1 or any(one.kind == "unread_words" for one in computed.warnings):
        return computed
    named = {column.name for source in computed.sources for column in source.table.columns}
    empty = [
        ComputedWarning(kind="empty_cell", count=1, column=column.name)
        for column, value in zip(computed.columns, computed.rows[0], strict=True)
        if value is None and column.name in named
    ]
    is_whole = len(computed.columns) > _MOST_ASKED
    return computed if is_whole else replace(computed, warnings=(*computed.warnings, *empty))


def _drawn(outcome: _Outcome, language: str) -> _Outcome:
    if outcome.computed is None:
        return outcome
    if chart(outcome.computed, language) is None:
        return replace(outcome, notes=(*outcome.notes, phrase("uncomputed_chart", language=language)))
    return replace(outcome, computed=replace(outcome.computed, is_drawn=True))


def _is_about_tables(inquiry: Inquiry, tables: Sequence[StoredTable]) -> bool:
    if not inquiry.hits or inquiry.hits[0].chunk.kind != "table":
        return False
    return any(one.table.document == inquiry.hits[0].chunk.document for one in tables)


def _is_nothing(computed: ComputedAnswer) -> bool:
    has_values = any(value is not None for row in computed.rows for value in row)
    return not has_values or not any(source.count for source in computed.sources)


def _events(
    outcome: _Outcome, inquiry: Inquiry, *, language: str, model: LanguageModel | None
) -> list[AnswerEvent | Inquiry | GeneratedReply]:
    inquiry = replace(inquiry, route="compute", prompt=Prompt(messages=()))
    if outcome.computed is None:
        refusal = outcome.refusal or QueryRefusal(missing="question")
        said = refusal_text(refusal, language)
        made = reply.refused(said, language=language)
        inquiry = inquiry.noting(computed={"refused": refusal.missing, "name": refusal.name})
    else:
        name = model.name if model is not None and outcome.by == "model" else ""
        hits = (*inquiry.hits, *inquiry.further)
        made = reply.generated(
            outcome.computed, language=language, hits=hits, model=name, notes=outcome.notes
        )
        inquiry = inquiry.noting(
            computed=reply.traced(outcome.computed, by=outcome.by, faults=outcome.faults)
        )
    return [
        Retrieval(hits=(), fallbacks=inquiry.fallbacks, notices=inquiry.notices),
        inquiry,
        Delta(text=made.text),
        made,
    ]


def refusal_text(refusal: QueryRefusal, language: str) -> str:
    """Why nothing was computed, and what there is."""
    if refusal.missing in ("question", "unclear"):
        return phrase("uncomputed_question", language=language)
    if refusal.missing == "table":
        return phrase("uncomputed_table", language=language)
    if refusal.missing == "choice" and not refusal.name:
        return phrase("which_file", language=language, titles=", ".join(refusal.available[:20]))
    if refusal.missing == "partner":
        first, second = refusal.available
        names = {"words": refusal.name, "first": first, "second": second}
        return phrase("uncomputed_partner", language=language, **names)
    if refusal.missing == "choice":
        sentence = phrase("uncomputed_choice", language=language, words=refusal.name)
    else:
        sentence = phrase("uncomputed_missing", language=language, words=refusal.name)
    if not refusal.available:
        return sentence
    listed = ", ".join(refusal.available[:20])
    return f"{sentence} {phrase('uncomputed_available', language=language, names=listed)}"
