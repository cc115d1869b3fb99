from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

from bot.composition import application, loader
from bot.data_directory import data_lock
from bot.maintenance import data_files, reindex, reindex_journal
from bot.maintenance.erasure import marks as erasure_marks
from bot.maintenance.erasure import residue, rules
from bot.maintenance.erasure.targets import TargetFinder
from bot.store.channel_sources import digest_of, is_talk
from rag_engine.storage.concurrency import worker_liveness
from rag_engine.storage.sqlite.database import connect
from rag_engine.storage.sqlite.erase import erase

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from bot.composition.components import IndexingComponents
    from bot.maintenance.data_files import DataFiles
    from bot.maintenance.erasure.marks import ErasureMarks
    from bot.settings import Settings
    from rag_engine.storage.sqlite.database import Database

_WRITING_SECONDS: Final = 60.0
_HANDLING_SECONDS: Final = 10.0
"""For an event: one that crashed a process stays until the next."""
_ROUNDS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    store: str
    what: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureOutcome:
    left: tuple[Count, ...]
    """Another program wrote it meanwhile, or the index did not answer."""
    bytes_in: Mapping[str, int] = field(default_factory=dict[str, int])
    """How many ids and texts still occur in each file."""
    erased_index: bool = True
    """False for a server, in its own time."""
    removed_backups: tuple[str, ...] = ()

    @property
    def verified(self) -> bool:
        return not self.left and not self.bytes_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Eraser:
    settings: Settings
    contents: DataFiles
    library: IndexingComponents
    databases: Mapping[str, Database]
    poll_seconds: float = 0.2

    @property
    def finder(self) -> TargetFinder:
        return TargetFinder(
            library=self.library,
            engine=self.databases[data_files.CATALOG],
            chat=self.databases.get(data_files.CHAT),
        )

    async def survey(self, marks: ErasureMarks) -> list[Count]:
        counts: dict[tuple[str, str], int] = {}
        for rule in rules.of(marks):
            if database := self.databases.get(rule.store):
                counts[rule.store, rule.what] = counts.get((rule.store, rule.what), 0) + await rule.count(
                    database
                )
        marked = {document.document for document in marks.documents}
        bases = {document.knowledge_base for document in marks.documents if document.knowledge_base}
        bases.update(marks.knowledge_bases)
        records = [record for base in bases for record in await self.library.catalog.records(base)]
        counts[data_files.CATALOG, "documents"] = sum(record.document.id in marked for record in records)
        existing = await self.library.catalog.select(ids=marks.knowledge_bases)
        counts[data_files.CATALOG, "knowledge bases"] = len(existing)
        for base in bases:
            async for chunk, _ in self.library.index.scan(base):
                if chunk.document in marked or base in marks.knowledge_bases:
                    counts["index", "passages"] = counts.get(("index", "passages"), 0) + 1
        return [
            Count(store=store, what=what, count=count) for (store, what), count in counts.items() if count
        ]

    async def forget(
        self, marks: ErasureMarks, *, writing_seconds: float = _WRITING_SECONDS
    ) -> ErasureOutcome:
        """Waits up to `writing_seconds` for answers being written."""
        data_dir = self.settings.data_dir
        pieces = await self._pieces(marks)
        await asyncio.to_thread(erasure_marks.save, marks, data_dir)
        await self._exclude(marks)
        await self._remove_documents(marks)
        marks, writing = await self.erase_rows(marks, writing_seconds=writing_seconds)
        await self.library.forget_audio()
        if await asyncio.to_thread((data_dir / reindex.FILE).exists):
            await reindex_journal.remove(data_dir / reindex.FILE)
            await application.abandon_rebuild(self.settings)
        backups = self.contents.migration_backups()
        for path in backups:
            await asyncio.to_thread(path.unlink, missing_ok=True)
        erased_index = await self._erase_bytes()
        left = [*await self.survey(marks), *writing]
        if not left:
            await asyncio.to_thread(erasure_marks.delete, data_dir)
        texts = [*residue.sampled(marks.ids()), *pieces]
        bytes_in = await residue.files_with(data_dir, texts)
        if bytes_in and not left:
            await self._erase_bytes()
            bytes_in = await residue.files_with(data_dir, texts)
        return ErasureOutcome(
            left=tuple(left),
            bytes_in={} if left else bytes_in,
            erased_index=erased_index,
            removed_backups=tuple(path.name for path in backups),
        )

    async def erase_rows(
        self, marks: ErasureMarks, *, writing_seconds: float
    ) -> tuple[ErasureMarks, list[Count]]:
        writing: list[Count] = []
        for number in range(_ROUNDS):
            writing = await self._still_writing(marks, writing_seconds)
            marks = await self.finder.renewed(marks)
            await asyncio.to_thread(erasure_marks.save, marks, self.settings.data_dir)
            for rule in rules.of(marks):
                if database := self.databases.get(rule.store):
                    await rule.apply(database)
            # An answer that began before may store what it read.
            began = number == 0 and await self.finder.unfinished_answers(marks)
            if writing or not (began or await self.survey(marks)):
                break
        return marks, writing

    async def _erase_bytes(self) -> bool:
        for database in self.databases.values():
            await asyncio.to_thread(erase, database.path)
        module, own = loader.index_module(self.settings.index, self.settings)
        return await module.erase(own, data_dir=self.settings.data_dir)

    async def _exclude(self, marks: ErasureMarks) -> None:
        if chat := self.databases.get(data_files.CHAT):
            async with chat.transaction() as transaction:
                await transaction.execute_many(
                    "INSERT OR IGNORE INTO channel_optouts VALUES (?)",
                    [(digest_of(person.platform, person.id),) for person in marks.people],
                )

    async def _remove_documents(self, marks: ErasureMarks) -> None:
        for base in marks.knowledge_bases:
            await self.library.forget(base)
        for document in marks.documents:
            if document.knowledge_base and document.knowledge_base not in marks.knowledge_bases:
                await self.library.forget(document.knowledge_base, document.document)

    async def _still_writing(self, marks: ErasureMarks, seconds: float) -> list[Count]:
        """What would store removed data again."""
        others = partial(
            worker_liveness.others, self.settings.data_dir / "workers", self.library.storage.claims.worker
        )
        now = asyncio.get_running_loop().time
        answers = set(await self.finder.unfinished_answers(marks))
        events = set(await self.finder.events_under_way(marks))
        ends, gives_up = now() + seconds, now() + min(seconds, _HANDLING_SECONDS)
        while (answers or events) and await asyncio.to_thread(others):
            if now() > gives_up:
                events.clear()
            if answers and now() > ends:
                return [
                    Count(store=data_files.CHAT, what="answers that are being written", count=len(answers))
                ]
            await asyncio.sleep(self.poll_seconds)
            answers.intersection_update(await self.finder.unfinished_answers(marks))
            events.intersection_update(await self.finder.events_under_way(marks))
        return []

    async def _pieces(self, marks: ErasureMarks) -> list[str]:
        texts: list[str] = []
        files = [each for each in marks.documents if not (marks.people and is_talk(each.uris))]
        for document in files[: residue.MOST]:
            texts += [section.text for section in await self.library.catalog.sections(document.document)]
        for rule in rules.of(marks):
            if rule.table == "channel_messages" and (chat := self.databases.get(rule.store)):
                sql = f"SELECT text FROM channel_messages WHERE {rule.condition}"  # noqa: S608
                texts += [text for (text,) in await chat.fetch(sql, rule.parameters)]
            if rule.table == "turns":
                sql = f"SELECT role, text FROM turns WHERE {rule.condition}"  # noqa: S608
                rows = await self.databases[rule.store].fetch(sql, rule.parameters)
                # Questions belong to people and stay.
                with_questions = bool(marks.people or marks.channels)
                texts += [text for role, text in rows if with_questions or role == "assistant"]
        return residue.pieces(texts)


@asynccontextmanager
async def opened(settings: Settings) -> AsyncGenerator[Eraser]:
    """Other programs may use the stores meanwhile."""
    contents = data_files.of(settings)
    async with AsyncExitStack() as stack:
        library = await stack.enter_async_context(application.library(settings))
        await stack.enter_async_context(data_lock.forgetting(settings.data_dir))
        databases: dict[str, Database] = {}
        for name, scripts in data_files.migrations().items():
            if await asyncio.to_thread((settings.data_dir / name).exists):
                opening = connect(settings.data_dir / name, scripts=scripts)
                databases[name] = await stack.enter_async_context(opening)
        yield Eraser(settings=settings, contents=contents, library=library, databases=databases)
