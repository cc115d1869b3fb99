"""Forgetting what is marked: out of the index and the catalog, by every rule, off the disk, and then looked for."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

from bot import compose, parts, rebuild_log, reindexing
from bot.keeping import contents, directory, threads
from bot.keeping.forgetting import marks as writing_down
from bot.keeping.forgetting import remains, rules
from bot.keeping.forgetting.finding import Finder
from rag_engine.storage import erasing, sqlite, workers

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from bot.keeping.contents import Contents
    from bot.keeping.forgetting.marks import Marks
    from bot.library import Library
    from bot.settings import Settings
    from rag_engine.storage.sqlite import Database

_WRITING_SECONDS: Final = 60.0
"""For so long answers that are being written are waited for."""
_POLL_SECONDS: Final = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How many of something stand in a store."""

    store: str
    what: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What was removed, and what a search of everything found afterwards."""

    left: tuple[Count, ...]
    """Rows and passages that are still there: another program wrote them meanwhile, or the index did not answer."""
    bytes_in: Mapping[str, int] = field(default_factory=dict[str, int])
    """Files in whose bytes an id, or a piece of a text, stands: then it is a part of something else that stays."""
    erased_index: bool = True
    """False where the index is on a server, which erases when it likes."""
    removed_backups: tuple[str, ...] = ()
    """Copies from before an upgrade, which held it too."""

    @property
    def verified(self) -> bool:
        """Whether nothing is left."""
        return not self.left and not self.bytes_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetter:
    """Everything in a data directory that can hold something of somebody, open."""

    settings: Settings
    contents: Contents
    library: Library
    databases: Mapping[str, Database]

    @property
    def finder(self) -> Finder:
        """Finds what is meant in the same databases."""
        return Finder(
            library=self.library,
            engine=self.databases[contents.CATALOG],
            chat=self.databases.get(contents.CHAT),
        )

    async def survey(self, marks: Marks) -> list[Count]:
        """What there is of it now."""
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
        counts[contents.CATALOG, "documents"] = sum(record.document.id in marked for record in records)
        there = await self.library.catalog.select(ids=marks.knowledge_bases)
        counts[contents.CATALOG, "knowledge bases"] = len(there)
        for base in bases:
            async for chunk, _ in self.library.index.scan(base):
                if chunk.document in marked or base in marks.knowledge_bases:
                    counts["index", "passages"] = counts.get(("index", "passages"), 0) + 1
        return [
            Count(store=store, what=what, count=count) for (store, what), count in counts.items() if count
        ]

    async def forget(self, marks: Marks, *, writing_seconds: float = _WRITING_SECONDS) -> Outcome:
        """Forget it everywhere. Interrupted, the next one goes on with it: `interrupted` of the marks tells.

        What a bot answers at this moment is waited for, for so long.
        """
        data_dir = self.settings.data_dir
        pieces = await self._pieces(marks)
        await asyncio.to_thread(writing_down.write_down, marks, data_dir)
        await self._remove_documents(marks)
        writing = await self._still_writing(marks, writing_seconds)
        # What was answered from the documents while they were still there.
        marks = await self.finder.again(marks)
        await asyncio.to_thread(writing_down.write_down, marks, data_dir)
        for rule in rules.of(marks):
            if database := self.databases.get(rule.store):
                await rule.apply(database)
        if await asyncio.to_thread(
            (data_dir / reindexing.FILE).exists
        ):  # an interrupted rebuild, which has it too
            await rebuild_log.remove(data_dir / reindexing.FILE)
            await compose.abandon_rebuild(self.settings)
        backups = self.contents.migration_backups()
        for path in backups:
            await asyncio.to_thread(path.unlink, missing_ok=True)
        for database in self.databases.values():
            await asyncio.to_thread(erasing.erase, database.path)
        module, own = parts.index_module(self.settings.index, self.settings)
        erased_index = await module.erase(own, data_dir=data_dir)
        left = [*await self.survey(marks), *writing]
        if not left:
            await asyncio.to_thread(writing_down.strike, data_dir)
        wanted = [*remains.sampled(marks.ids()), *pieces]
        bytes_in = await threads.run(lambda check: remains.files_with(data_dir, wanted, check=check))
        return Outcome(
            left=tuple(left),
            bytes_in={} if left else bytes_in,
            erased_index=erased_index,
            removed_backups=tuple(path.name for path in backups),
        )

    async def _remove_documents(self, marks: Marks) -> None:
        for base in marks.knowledge_bases:
            await self.library.forget(base)
        for document in marks.documents:
            if document.knowledge_base and document.knowledge_base not in marks.knowledge_bases:
                await self.library.forget(document.knowledge_base, document.document)

    async def _still_writing(self, marks: Marks, seconds: float) -> list[Count]:
        """Wait for the answers that a bot is writing, which would put back what is removed now; what is not done then."""
        others = partial(
            workers.others, self.settings.data_dir / "workers", self.library.storage.claims.worker
        )
        writing = set(await self.finder.under_way(marks))
        ends = asyncio.get_running_loop().time() + seconds
        while writing and await asyncio.to_thread(others):
            if asyncio.get_running_loop().time() > ends:
                return [Count(store=contents.CHAT, what="answers that are being written", count=len(writing))]
            await asyncio.sleep(_POLL_SECONDS)
            writing.intersection_update(await self.finder.under_way(marks))
        return []

    async def _pieces(self, marks: Marks) -> list[str]:
        """Of the texts that are to go."""
        texts: list[str] = []
        for document in marks.documents[: remains.MOST]:
            texts += [section.text for section in await self.library.catalog.sections(document.document)]
        for rule in rules.of(marks):
            if rule.table == "turns":
                sql = f"SELECT role, text FROM turns WHERE {rule.condition}"  # noqa: S608 - our own words
                rows = await self.databases[rule.store].fetch(sql, rule.parameters)
                # Of a document goes what was answered from it; what people asked is their own, and stays.
                asked = bool(marks.people or marks.channels)
                texts += [text for role, text in rows if asked or role == "assistant"]
        return remains.pieces(texts)


@asynccontextmanager
async def opened(settings: Settings) -> AsyncGenerator[Forgetter]:
    """All stores of the data directory, while other programs may use them. Raises what opening them raises."""
    kept = contents.of(settings)
    async with AsyncExitStack() as stack:
        library = await stack.enter_async_context(compose.library(settings))
        await stack.enter_async_context(directory.forgetting(settings.data_dir))
        databases: dict[str, Database] = {}
        for name, scripts in contents.migrations().items():
            if await asyncio.to_thread((settings.data_dir / name).exists):
                opening = sqlite.connect(settings.data_dir / name, scripts=scripts)
                databases[name] = await stack.enter_async_context(opening)
        yield Forgetter(settings=settings, contents=kept, library=library, databases=databases)
