from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from bot.composition import application, loader
from bot.data_directory import data_lock
from rag_engine.storage.concurrency.uncancellable import uninterrupted

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from bot.composition.components import Application
    from bot.observability import Observers
    from bot.settings import Settings


@asynccontextmanager
async def answer_laboratory(
    settings: Settings, folder: Path, *, index_kind: str = "", observers: Observers
) -> AsyncGenerator[Application]:
    index = loader.temporary_index(settings.index, kind=index_kind)
    temporary = settings.model_copy(update={"data_dir": folder, "index": index})
    module, own = loader.index_module(index, temporary)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(data_lock.in_use(settings.data_dir))
        stack.push_async_callback(lambda: uninterrupted(module.remove(own, data_dir=folder)))
        yield await stack.enter_async_context(
            application.application(temporary, observers=observers, vectors=settings.data_dir)
        )
