"""Each expansion is made once and stored before it is used."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from rag_engine.errors import ModelUnavailable, RagError, Unavailable, UnknownKnowledgeBase, first_error
from rag_engine.expansion.types import (
    TASKS,
    ExpansionCost,
    ExpansionJob,
    ExpansionKey,
    ExpansionLimits,
    ExpansionReport,
    ExpansionStore,
    ExpansionVector,
    MadeExpansion,
)
from rag_engine.generation.generate import bounded
from rag_engine.ingestion.expansion.prompts import expected_tokens, key_of, prompt_of, texts_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager

    from rag_engine.ports import Embedder, LanguageModel, StoredIndex
    from rag_engine.types import Chunk, ChunkId, DocumentRecord, Expansion, KnowledgeBaseId, Prompt

_log = logging.getLogger(__name__)

_PAGE: Final = 500
_EMBEDDED: Final = 64
_OUTAGE: Final = 5

Alone: TypeAlias = "Callable[[DocumentRecord], AbstractAsyncContextManager[bool]]"
"""False if the document has changed or is gone."""
_Id: TypeAlias = "tuple[Expansion, ExpansionKey]"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    kind: Expansion
    chunk: Chunk
    prompt: Prompt
    model: LanguageModel

    @property
    def id(self) -> _Id:
        return self.kind, key_of(self.prompt, self.model.name)


@dataclass(slots=True, kw_only=True)
class _Progress:
    texts: dict[_Id, tuple[str, ...]] = field(default_factory=dict["_Id", tuple[str, ...]])
    made: int = 0
    reused: int = 0
    failed: int = 0
    in_a_row: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Expander:
    store: ExpansionStore
    index: StoredIndex
    embedder: Embedder
    models: Mapping[Expansion, LanguageModel]
    """A kind without one is not made."""
    alone: Alone
    limits: ExpansionLimits

    async def cost(self, records: Sequence[DocumentRecord], kinds: Sequence[Expansion]) -> ExpansionCost:
        cost = ExpansionCost()
        for record in records:
            known = {
                (made.kind, made.key) for made in await self.store.made(record.document.id) if made.texts
            }
            async for chunks in self._chunks(record, kinds):
                wanted = await asyncio.to_thread(self._wanted, chunks, kinds)
                new = {each.id: each for each in wanted if each.id not in known}
                known.update(new)
                cost = ExpansionCost(
                    calls=cost.calls + len(new),
                    prompt_tokens=cost.prompt_tokens + sum(each.prompt.tokens for each in new.values()),
                    reply_tokens=cost.reply_tokens
                    + sum(expected_tokens(each.kind, self.limits) for each in new.values()),
                )
        return cost

    async def work(
        self,
        knowledge_base: KnowledgeBaseId | None = None,
        progress: Callable[[DocumentRecord, ExpansionReport], None] | None = None,
    ) -> ExpansionReport:
        """All that wait. Raises `Unavailable`; they wait further."""
        total = ExpansionReport()
        for job in await self.store.jobs(knowledge_base):
            try:
                done = await self._carry_out(job)
            except UnknownKnowledgeBase:
                continue  # removed meanwhile
            total = ExpansionReport(
                documents=total.documents + 1,
                made=total.made + done.made,
                reused=total.reused + done.reused,
                failed=total.failed + done.failed,
                kinds=total.kinds | done.kinds,
            )
            _log.info(
                "expanded document=%s made=%d failed=%d", job.record.document.id, done.made, done.failed
            )
            if progress is not None:
                progress(job.record, done)
        return total

    async def _carry_out(self, job: ExpansionJob) -> ExpansionReport:
        record = job.record
        kinds = await self._kinds(record)
        done = _Progress()
        for made in await self.store.made(record.document.id) if kinds else ():
            if made.texts:
                done.texts[made.kind, made.key] = made.texts
        used: set[_Id] = set()
        async for chunks in self._chunks(record, kinds):
            wanted = await asyncio.to_thread(self._wanted, chunks, kinds)
            new = {each.id: each for each in wanted if each.id not in {*done.texts, *used}}
            used.update(each.id for each in wanted)
            done.reused += sum(each.id in done.texts for each in wanted)
            await self._make(record, list(new.values()), done)
        async with self.alone(record) as same:
            if same:
                await self._put(record, kinds, done.texts)
                # Another kind may be switched on again.
                others = [
                    made for made in await self.store.made(record.document.id) if made.kind not in kinds
                ]
                await self.store.finish(job, {*used, *((made.kind, made.key) for made in others)})
        return ExpansionReport(
            documents=1, made=done.made, reused=done.reused, failed=done.failed, kinds=frozenset(kinds)
        )

    async def _kinds(self, record: DocumentRecord) -> list[Expansion]:
        base = record.document.knowledge_base
        return [kind for kind in await self.store.enabled([base]) if kind in self.models]

    async def _chunks(self, record: DocumentRecord, kinds: Sequence[Expansion]) -> AsyncIterator[list[Chunk]]:
        document, start = record.document, 0
        while kinds:
            chunks = await self.index.chunks(document.knowledge_base, document.id, limit=_PAGE, start=start)
            if not chunks:
                return
            yield chunks
            start = chunks[-1].ordinal + 1

    def _wanted(self, chunks: Sequence[Chunk], kinds: Sequence[Expansion]) -> list[_Wanted]:
        return [
            _Wanted(
                kind=kind,
                chunk=chunk,
                prompt=prompt_of(chunk, kind, self.limits),
                model=self.models[kind],
            )
            for chunk in chunks
            if len(chunk.text) > self.limits.longer_than
            for kind in kinds
        ]

    async def _make(self, record: DocumentRecord, wanted: Sequence[_Wanted], done: _Progress) -> None:
        waiting = iter(wanted)

        async def work() -> None:
            for each in waiting:
                await self._make_one(record, each, done)

        with first_error():
            async with asyncio.TaskGroup() as group:
                for number in range(min(self.limits.at_once, len(wanted))):
                    group.create_task(work(), name=f"expand-{number}")

    async def _make_one(self, record: DocumentRecord, wanted: _Wanted, done: _Progress) -> None:
        kind, key = wanted.id
        texts, failure = await self._reply(wanted), ""
        if isinstance(texts, RagError):
            done.in_a_row = done.in_a_row + 1 if isinstance(texts, Unavailable) else 0
            if done.in_a_row >= _OUTAGE:
                raise texts
            failure, texts = str(texts), ()
            done.failed += 1
        else:
            done.in_a_row = 0
            done.made += 1
        made = MadeExpansion(kind=kind, key=key, passage=wanted.chunk.ordinal, texts=texts, failure=failure)
        await self.store.keep(record.document.id, [made])
        if texts:
            done.texts[kind, key] = texts

    async def _reply(self, wanted: _Wanted) -> tuple[str, ...] | RagError:
        task = TASKS[wanted.kind]
        try:
            async with (
                asyncio.timeout(self.limits.seconds),
                wanted.model.stream(wanted.prompt, task=task) as pieces,
            ):
                said = "".join([piece async for piece in bounded(pieces, wanted.prompt)])
        except RagError as error:
            return error
        except TimeoutError:
            return ModelUnavailable(
                f"The language model {wanted.model.name} took longer than {self.limits.seconds:g} s.",
                backend=wanted.model.name,
            )
        texts = texts_of(said, wanted.kind, self.limits)
        return texts or RagError(f"The language model {wanted.model.name} answered nothing.")

    async def _put(
        self, record: DocumentRecord, kinds: Sequence[Expansion], made: Mapping[_Id, Sequence[str]]
    ) -> None:
        texts: list[tuple[ChunkId, Expansion, str]] = []
        async for chunks in self._chunks(record, kinds):
            wanted = await asyncio.to_thread(self._wanted, chunks, kinds)
            for each in wanted:
                for text in made.get(each.id, ()):
                    texts.append((each.chunk.id, each.kind, text))
        vectors: list[ExpansionVector] = []
        for start in range(0, len(texts), _EMBEDDED):
            part = texts[start : start + _EMBEDDED]
            matrix = await self.embedder.embed([text for _, _, text in part], side="passage")
            vectors += [
                ExpansionVector(chunk=chunk, kind=kind, vector=vector)
                for (chunk, kind, _), vector in zip(part, matrix, strict=True)
            ]
        await self.index.expand(record.document, vectors)
