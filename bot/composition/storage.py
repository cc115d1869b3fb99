from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from bot.composition.components import StorageComponents
from bot.data_directory import data_lock
from bot.observability import Observers
from rag_engine.storage import jobs
from rag_engine.storage.catalog import SqliteCatalog
from rag_engine.storage.concurrency.active_files import ActiveFiles
from rag_engine.storage.history import SqliteHistory
from rag_engine.storage.research_findings import SqliteFindings
from rag_engine.storage.sqlite.database import connect
from rag_engine.sync.store import SqliteSources

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.settings import Settings

_NOBODY = Observers()


@asynccontextmanager
async def storage(settings: Settings, *, observers: Observers = _NOBODY) -> AsyncGenerator[StorageComponents]:
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(data_lock.in_use(settings.data_dir))
        database = await stack.enter_async_context(
            connect(settings.data_dir / "footnote.sqlite", on_turn=partial(observers.waited, "footnote"))
        )
        claims = await stack.enter_async_context(
            jobs.connect(database, workers=settings.data_dir / "workers")
        )
        active_files = ActiveFiles(database, workers=settings.data_dir / "workers", worker=claims.worker)
        await active_files.sweep()
        yield StorageComponents(
            catalog=SqliteCatalog(database),
            history=SqliteHistory(database),
            findings=SqliteFindings(database),
            queue=jobs.SqliteJobQueue(database),
            claims=claims,
            active_files=active_files,
            sources=SqliteSources(database),
        )
