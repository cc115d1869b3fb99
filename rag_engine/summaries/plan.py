from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import aclosing
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from rag_engine.generation.phrases import phrase
from rag_engine.generation.prompt_safety import neutral
from rag_engine.parsing.media_types import shown
from rag_engine.summaries.intent import requested
from rag_engine.summaries.map_reduce import STAGE, Condensed, Condenser
from rag_engine.summaries.notes import NoteCache, NoteTaker
from rag_engine.summaries.outline import representative, sections
from rag_engine.summaries.prompts import MOST_NUMBERED, Task
from rag_engine.summaries.target_documents import match_targets
from rag_engine.text import tokens
from rag_engine.text.messages import in_language
from rag_engine.types import AnswerRequest, Hit, Stage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from rag_engine.generation.phrases import Phrase
    from rag_engine.pipeline import Inquiry
    from rag_engine.ports import Embedder, IndexContents, LanguageModel, Library, Unfinished
    from rag_engine.summaries.intent import SummaryRequest
    from rag_engine.summaries.target_documents import TargetMatch
    from rag_engine.types import Chunk, DocumentId, DocumentRecord

_MOST_NAMED = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryLimits:
    """`documents` and `passages` limit one summary, `passages` from the beginning of each document. A model reads
    `at_once` parts, each within `seconds`; with more than `parts` only the beginning of each section.
    """

    documents: int = 20
    passages: int = 20_000
    at_once: int = 4
    parts: int = 200
    seconds: float = 90.0


_LIMITS = SummaryLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    hits: tuple[Hit, ...]
    task: Task
    scope: str
    notices: tuple[str, ...] = ()
    documents: tuple[DocumentId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    text: str
    documents: Sequence[DocumentRecord]
    language: str = ""
    may_change: bool = False
    """Whether the same question may get another answer."""

    @property
    def is_provisional(self) -> bool:
        """It will change by itself, because documents are still being read."""
        return self.may_change or any(record.state not in ("ready", "failed") for record in self.documents)


class Summaries:
    def __init__(
        self,
        *,
        index: IndexContents,
        library: Library,
        unfinished: Unfinished,
        embedder: Embedder,
        limits: SummaryLimits = _LIMITS,
        reply_tokens: int = 2048,
        ratio: float = 0.95,
    ) -> None:
        self._index = index
        self._library = library
        self._unfinished = unfinished
        self._embedder = embedder
        self._limits = limits
        self._reply_tokens = reply_tokens
        self._ratio = ratio
        self._cache = NoteCache()

    async def planned(self, inquiry: Inquiry) -> Plan | Sentence | None:
        """A sentence if a summary is impossible; None if none is requested. Raises the index's errors."""
        query = inquiry.query
        asked = _answered(inquiry)
        # The first call compiles the patterns of all languages.
        request = await asyncio.to_thread(requested, inquiry.question, asked)
        if request is None:
            return None
        records = await self._seen(inquiry)
        found = await asyncio.to_thread(
            match_targets,
            request,
            records,
            recent=query.files,
            named=query.names,
            continues=_continues(inquiry, asked),
        )
        if found.finding == "topic":
            return None
        language = query.language or request.style.language or request.language
        if found.finding != "documents":
            return Sentence(
                text=_not_to_be_had(found, language), documents=found.documents, language=language
            )
        return await self._read(inquiry, request, found.documents, language)

    async def prompts(
        self, plan: Plan, model: LanguageModel, *, thinkers: set[str]
    ) -> AsyncGenerator[Stage | Condensed]:
        """After one stage per part that must be read separately."""
        await asyncio.to_thread(tokens.prepare)
        taker = NoteTaker(
            model=model,
            embedder=self._embedder,
            cache=self._cache,
            count=tokens.count,
            seconds=self._limits.seconds,
            thinkers=thinkers,
        )
        condenser = Condenser(
            taker=taker,
            task=plan.task,
            reply_tokens=self._reply_tokens,
            ratio=self._ratio,
            at_once=self._limits.at_once,
            most_parts=self._limits.parts,
        )
        async with aclosing(condenser.condense(plan.hits)) as items:
            async for item in items:
                yield item

    async def _seen(self, inquiry: Inquiry) -> list[DocumentRecord]:
        leaving = await self._unfinished.leaving()
        listed = [await self._library.records(base) for base in sorted(inquiry.query.knowledge_bases)]
        return [
            record
            for records in listed
            for record in records
            if record.document.id not in leaving
            and (inquiry.documents is None or record.document.id in inquiry.documents)
        ]

    async def _read(
        self,
        inquiry: Inquiry,
        request: SummaryRequest,
        documents: Sequence[DocumentRecord],
        language: str,
    ) -> Plan | Sentence:
        ready = [record for record in documents if record.state == "ready"]
        notices = [_state(record, language) for record in documents if record.state != "ready"]
        if len(ready) > self._limits.documents:
            left = len(ready) - self._limits.documents
            notices.append(phrase("documents_left_out", language=language, count=left))
            ready = ready[: self._limits.documents]
        chunks: list[Chunk] = []
        for record in ready:
            room = max(self._limits.passages - len(chunks), 1)
            read = await self._index.chunks(
                record.document.knowledge_base, record.document.id, limit=room + 1
            )
            if len(read) > room:
                notices.append(_said("passages_left_out", record, language, count=room))
            elif not read:
                notices.append(_said("no_text", record, language))
            chunks += read[:room]
        if not chunks:
            return Sentence(text=" ".join(notices[:_MOST_NAMED]), documents=documents, language=language)
        language = language or _commonest(chunks)
        hits = tuple(Hit(chunk=chunk, score=0.0, rank=rank) for rank, chunk in enumerate(chunks, 1))
        task = _task(inquiry, request, language)
        return Plan(
            hits=hits,
            task=task,
            scope=inquiry.query.scope_in(language),
            notices=tuple(notices),
            documents=tuple(record.document.id for record in documents),
        )


def _task(inquiry: Inquiry, request: SummaryRequest, language: str) -> Task:
    options = inquiry.query.options
    return Task(
        question=inquiry.question,
        style=request.style,
        language=language,
        focus=request.focus,
        persona=options.persona,
        temperature=options.temperature,
    )


def quoting(plan: Plan) -> AnswerRequest:
    return AnswerRequest(
        question=plan.task.question,
        passages=representative(plan.hits, most=MOST_NUMBERED),
        scope=plan.scope,
        language=plan.task.language,
        summary=plan.task.style,
        sections=len(sections([hit.chunk for hit in plan.hits])),
    )


def _answered(inquiry: Inquiry) -> list[str]:
    return [
        turn.text
        for turn, following in pairwise(inquiry.history)
        if turn.role == "user" and following.role == "assistant"
    ]


def _continues(inquiry: Inquiry, asked: Sequence[str]) -> bool:
    return bool(asked) and not inquiry.query.files_attached and requested(asked[-1], asked[:-1]) is None


def _commonest(chunks: Sequence[Chunk]) -> str:
    languages = Counter(chunk.language for chunk in chunks if chunk.language)
    return languages.most_common(1)[0][0] if languages else ""


def _not_to_be_had(found: TargetMatch, language: str) -> str:
    if found.finding == "several":
        names = list(dict.fromkeys(_title(record) for record in found.documents))
        more = ["…"] if len(names) > _MOST_NAMED else []
        return phrase("which_file", language=language, titles=", ".join([*names[:_MOST_NAMED], *more]))
    if found.finding == "unknown":
        return phrase("unknown_file", language=language, title=_harmless(found.name))
    return phrase("no_file", language=language)


def _state(record: DocumentRecord, language: str) -> str:
    if record.state == "failed":
        return _said("file_failed", record, language, reason=in_language(record.reason, language))
    return _said("still_reading", record, language)


def _said(name: Phrase, record: DocumentRecord, language: str, **values: object) -> str:
    return phrase(name, language=language, **values, title=_title(record))


def _title(record: DocumentRecord) -> str:
    return _harmless(record.document.title)


def _harmless(name: str) -> str:
    return neutral(shown(name), keep_markers=False)


__all__ = ["STAGE", "Plan", "Sentence", "Summaries", "SummaryLimits", "quoting"]
