"""What is read is stored page by page, so that killed work goes on."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rag_engine.errors import RagError, Unavailable, UnknownKnowledgeBase, first_error
from rag_engine.graph import rules
from rag_engine.graph.types import Extraction, PassagePlace, ReadPassage
from rag_engine.ingestion.graph.task import GraphLimits, ask_for_entities, prompt_of
from rag_engine.text.chunk_text import searchable_text

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Collection, Sequence

    from rag_engine.graph.types import GraphJob, GraphStore
    from rag_engine.ingestion.expansion.expander import Alone
    from rag_engine.ports import IndexContents, LanguageModel
    from rag_engine.types import Chunk, DocumentRecord, KnowledgeBaseId

_PAGE: Final = 200
_OUTAGE: Final = 5
_VERSION: Final = "1"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphReport:
    """Counts; `reused` passages were read earlier."""

    documents: int = 0
    read: int = 0
    reused: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphCost:
    calls: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0


@dataclass(slots=True)
class _Failures:
    in_a_row: int = 0
    count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphBuilder:
    store: GraphStore
    index: IndexContents
    alone: Alone
    model: LanguageModel | None = None
    """None: by rules alone."""
    limits: GraphLimits = field(default_factory=GraphLimits)

    async def cost(self, records: Sequence[DocumentRecord]) -> GraphCost:
        if self.model is None:
            return GraphCost()
        prompts: list[int] = []
        for record in records:
            known = await self.store.read(record.document.id)
            async for page in self._pages(record, self.model):
                new = [chunk for key, chunk in page if key not in known]
                prompts += await asyncio.to_thread(_prompt_tokens, new)
        rounds = 1 + self.limits.gleanings
        return GraphCost(
            calls=len(prompts) * rounds,
            prompt_tokens=sum(prompts) * rounds,
            reply_tokens=len(prompts) * rounds * self.limits.expected_tokens,
        )

    async def work(
        self,
        knowledge_base: KnowledgeBaseId | None = None,
        progress: Callable[[DocumentRecord, GraphReport], None] | None = None,
    ) -> GraphReport:
        """All that wait. Raises `Unavailable`; they wait further."""
        total = GraphReport()
        for job in await self.store.jobs(knowledge_base):
            try:
                done = await self._carry_out(job)
            except UnknownKnowledgeBase:
                continue  # removed meanwhile
            total = GraphReport(
                documents=total.documents + 1,
                read=total.read + done.read,
                reused=total.reused + done.reused,
                failed=total.failed + done.failed,
            )
            if progress is not None:
                progress(job.record, done)
        return total

    async def _carry_out(self, job: GraphJob) -> GraphReport:
        document = job.record.document
        by_model = await self.store.source(document.knowledge_base) == "model"
        model = self.model if by_model else None
        known = await self.store.read(document.id)
        keys: set[str] = set()
        failures, read = _Failures(), 0
        async for page in self._pages(job.record, model):
            passages = await self._read(page, known, model, failures)
            async with self.alone(job.record) as same:
                if not same:
                    return GraphReport()
                await self.store.keep(passages)
            keys.update(key for key, _ in page)
            read += sum(each.extraction is not None for each in passages)
        async with self.alone(job.record) as same:
            if same:
                await self.store.finish(job, keys)
        _log.info("graph document=%s read=%d failed=%d", document.id, read, failures.count)
        return GraphReport(documents=1, read=read, reused=len(keys) - read, failed=failures.count)

    async def _pages(
        self, record: DocumentRecord, model: LanguageModel | None
    ) -> AsyncIterator[list[tuple[str, Chunk]]]:
        document, start = record.document, 0
        seen: Counter[str] = Counter()
        while chunks := await self.index.chunks(
            document.knowledge_base, document.id, limit=_PAGE, start=start
        ):
            page: list[tuple[str, Chunk]] = []
            for chunk in chunks:
                key = _key_of(chunk, model)
                seen[key] += 1
                page.append((key if seen[key] == 1 else f"{key}-{seen[key]}", chunk))
            yield page
            start = chunks[-1].ordinal + 1

    async def _read(
        self,
        page: Sequence[tuple[str, Chunk]],
        known: Collection[str],
        model: LanguageModel | None,
        failures: _Failures,
    ) -> list[ReadPassage]:
        new = {key: chunk for key, chunk in page if key not in known}
        found = dict(
            zip(new, await asyncio.to_thread(lambda: list(map(rules.extract, new.values()))), strict=True)
        )
        if model is not None:
            await self._complete(new, found, model, failures)
        return [
            ReadPassage(
                place=PassagePlace(
                    document=chunk.document,
                    knowledge_base=chunk.knowledge_base,
                    chunk=chunk.id,
                    ordinal=chunk.ordinal,
                ),
                key=key,
                extraction=found.get(key),
            )
            for key, chunk in page
        ]

    async def _complete(
        self,
        chunks: dict[str, Chunk],
        found: dict[str, Extraction],
        model: LanguageModel,
        failures: _Failures,
    ) -> None:
        waiting = iter(chunks.items())

        async def work() -> None:
            for key, chunk in waiting:
                try:
                    found[key] = await ask_for_entities(model, chunk, found[key], self.limits)
                except RagError as error:
                    failures.in_a_row = failures.in_a_row + 1 if isinstance(error, Unavailable) else 0
                    if failures.in_a_row >= _OUTAGE:
                        raise
                    failures.count += 1
                    by_rules = found[key]
                    found[key] = Extraction(
                        mentions=by_rules.mentions, relations=by_rules.relations, failure=str(error)
                    )
                else:
                    failures.in_a_row = 0

        with first_error():
            async with asyncio.TaskGroup() as group:
                for number in range(min(self.limits.at_once, len(chunks))):
                    group.create_task(work(), name=f"graph-{number}")


def _prompt_tokens(chunks: Sequence[Chunk]) -> list[int]:
    return [prompt_of(chunk).tokens for chunk in chunks]


def _key_of(chunk: Chunk, model: LanguageModel | None) -> str:
    said = "\x1f".join((_VERSION, model.name if model else "", chunk.language, searchable_text(chunk)))
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:32]
