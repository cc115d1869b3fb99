"""Summaries of whole documents: what is meant, what can be read of it, and the prompt for each model that may be asked."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import aclosing
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from rag_engine import tokens
from rag_engine.media_types import shown
from rag_engine.phrases import phrase
from rag_engine.summarizing.condensing import STAGE, Condensed, Condenser
from rag_engine.summarizing.naming import meant
from rag_engine.summarizing.notes import NoteCache, NoteTaker
from rag_engine.summarizing.outline import representative, sections
from rag_engine.summarizing.prompting import MOST_NUMBERED, Task
from rag_engine.summarizing.requests import requested
from rag_engine.types import Hit, Prompt, Stage
from rag_engine.untrusted import neutral

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from rag_engine.phrases import Phrase
    from rag_engine.pipeline import Inquiry
    from rag_engine.ports import Embedder, IndexContents, LanguageModel, Library, Unfinished
    from rag_engine.summarizing.naming import Meant
    from rag_engine.summarizing.requests import SummaryRequest
    from rag_engine.types import Chunk, DocumentRecord

_MOST_NAMED = 8
_QUOTING = "extractive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """`documents` and `passages` are the most of one summary, the latter from the beginning of each document.

    `at_once` parts of a long document are read by a language model at the same time, which may take `seconds` for one. Of a
    document of more than `parts` only the beginning of each section is read.
    """

    documents: int = 20
    passages: int = 20_000
    at_once: int = 4
    parts: int = 200
    seconds: float = 90.0


_LIMITS = Limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be summarised: all passages of the documents, in their order."""

    hits: tuple[Hit, ...]
    task: Task
    scope: str
    notices: tuple[str, ...] = ()


class Summaries:
    """Plans summaries and makes their prompts. Keeps notes on parts of documents, so that asking again is cheap."""

    def __init__(
        self,
        *,
        index: IndexContents,
        library: Library,
        unfinished: Unfinished,
        embedder: Embedder,
        limits: Limits = _LIMITS,
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

    async def planned(self, inquiry: Inquiry) -> Plan | str | None:
        """What to summarise; a sentence where that is not to be had; None where no summary is asked for.

        Only documents of the query's knowledge bases are looked at. Raises what the index raises.
        """
        query = inquiry.query
        asked = _answered(inquiry)
        # Off the event loop: the first time, the patterns of all languages are made.
        request = await asyncio.to_thread(requested, query.text, asked)
        if request is None:
            return None
        records = await self._seen(inquiry)
        found = await asyncio.to_thread(
            meant,
            request,
            records,
            recent=query.files,
            named=query.names,
            goes_on=_goes_on(inquiry, asked),
        )
        if found.finding == "topic":
            return None
        language = query.language or request.wishes.language or request.language
        if found.finding != "documents":
            return _not_to_be_had(found, language)
        return await self._read(inquiry, request, found.documents, language)

    async def prompts(
        self, plan: Plan, model: LanguageModel, *, thinkers: set[str]
    ) -> AsyncGenerator[Stage | Condensed]:
        """The prompt for this model, last; before it a stage for each part that must be read by itself."""
        if model.name == _QUOTING:
            yield Condensed(prompt=quoting(plan))
            return
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
                if isinstance(item, Condensed):
                    yield replace(item, prompt=replace(item.prompt, scope=plan.scope))
                else:
                    yield item

    async def _seen(self, inquiry: Inquiry) -> list[DocumentRecord]:
        """The documents that everyone who reads the reply may see, but for those that are to go."""
        leaving = await self._unfinished.leaving()
        listed = [await self._library.records(base) for base in sorted(inquiry.query.knowledge_bases)]
        return [record for records in listed for record in records if record.document.id not in leaving]

    async def _read(
        self,
        inquiry: Inquiry,
        request: SummaryRequest,
        documents: Sequence[DocumentRecord],
        language: str,
    ) -> Plan | str:
        ready = [record for record in documents if record.state == "ready"]
        notices = [_state(record, language) for record in documents if record.state != "ready"]
        if len(ready) > self._limits.documents:
            left = str(len(ready) - self._limits.documents)
            notices.append(phrase("documents_left_out", language=language, count=left))
            ready = ready[: self._limits.documents]
        chunks: list[Chunk] = []
        for record in ready:
            room = max(self._limits.passages - len(chunks), 1)
            read = await self._index.chunks(
                record.document.knowledge_base, record.document.id, limit=room + 1
            )
            if len(read) > room:
                notices.append(_said("passages_left_out", record, language, count=f"{room:,}"))
            elif not read:
                notices.append(_said("no_text", record, language))
            chunks += read[:room]
        if not chunks:
            return " ".join(notices[:_MOST_NAMED])
        language = language or _commonest(chunks)
        hits = tuple(Hit(chunk=chunk, score=0.0, rank=rank) for rank, chunk in enumerate(chunks, 1))
        task = Task(
            question=inquiry.query.text,
            wishes=request.wishes,
            language=language,
            focus=request.focus,
        )
        return Plan(hits=hits, task=task, scope=inquiry.query.scope, notices=tuple(notices))


def quoting(plan: Plan) -> Prompt:
    """For the answerer that needs no model: it reads the passages."""
    return Prompt(
        messages=(),
        question=plan.task.question,
        passages=representative(plan.hits, most=MOST_NUMBERED),
        scope=plan.scope,
        language=plan.task.language,
        summary=plan.task.wishes,
        sections=len(sections([hit.chunk for hit in plan.hits])),
    )


def _answered(inquiry: Inquiry) -> list[str]:
    """What was asked and answered before, oldest first: not what others said in between."""
    return [
        turn.text
        for turn, following in pairwise(inquiry.history)
        if turn.role == "user" and following.role == "assistant"
    ]


def _goes_on(inquiry: Inquiry, asked: Sequence[str]) -> bool:
    """Whether something other than a summary was answered before, which "it" may mean as well as a file."""
    return bool(asked) and not inquiry.query.brought and requested(asked[-1], asked[:-1]) is None


def _commonest(chunks: Sequence[Chunk]) -> str:
    languages = Counter(chunk.language for chunk in chunks if chunk.language)
    return languages.most_common(1)[0][0] if languages else ""


def _not_to_be_had(found: Meant, language: str) -> str:
    """One sentence: which files there are to choose from, or that there is none."""
    if found.finding == "several":
        names = list(dict.fromkeys(_title(record) for record in found.documents))
        more = ["…"] if len(names) > _MOST_NAMED else []
        return phrase("which_file", language=language, titles=", ".join([*names[:_MOST_NAMED], *more]))
    if found.finding == "unknown":
        return phrase("unknown_file", language=language, title=_harmless(found.name))
    return phrase("no_file", language=language)


def _state(record: DocumentRecord, language: str) -> str:
    """Why it cannot be summarised now."""
    if record.state == "failed":
        return _said("file_failed", record, language, reason=record.reason)
    return _said("still_reading", record, language)


def _said(name: Phrase, record: DocumentRecord, language: str, **values: str) -> str:
    return phrase(name, language=language, **values, title=_title(record))


def _title(record: DocumentRecord) -> str:
    return _harmless(record.document.title)


def _harmless(name: str) -> str:
    """A name in a sentence of ours: no marker, no tag, one line."""
    return neutral(shown(name), keep_markers=False)


__all__ = ["STAGE", "Limits", "Plan", "Summaries", "quoting"]
