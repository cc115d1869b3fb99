"""`footnote run`: every platform whose settings are present, else the console."""

from __future__ import annotations

import asyncio
import sys
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from bot import chat, compose, parts, telemetry
from bot.keeping import contents
from bot.patience import Patience, patient
from bot.process import event_loop, supervising
from bot.process.closing import ClosableService
from bot.process.health import PROGRAM, Health
from bot.process.stopping import told_by_sigterm
from bot.process.watching import Watch, probe
from rag_engine.storage import probing
from rag_engine.types import KnowledgeBaseId

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncGenerator

    from bot.library import Application
    from bot.measuring import Meters
    from bot.process.stopping import Stopping
    from bot.settings import Settings
    from rag_engine.errors import Unavailable

_TURN_SECONDS = 0.0005
"""How long a thread that computes may keep the interpreter while the event loop wants it."""
_NO_KNOWLEDGE_BASE = KnowledgeBaseId("")


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Serve until the input ends or the process is told to stop. What does not answer at the start is waited for."""
    sys.setswitchinterval(_TURN_SECONDS)
    console = compose.console()
    health = Health()
    starting = Patience(
        seconds=settings.ingestion.patience_seconds, on_wait=_log_wait, on_resume=_log_resumption
    )
    async with told_by_sigterm() as stopping, AsyncExitStack() as stack:
        meters = await stack.enter_async_context(compose.metrics(settings, health))
        await stack.enter_async_context(event_loop.watched(health, meters.event_loop if meters else None))
        observers = await stack.enter_async_context(compose.observers(settings, meters))
        with patient(starting):
            application = await stack.enter_async_context(compose.application(settings, observers=observers))
        if parts.platform_names(settings):
            await _serve(application, stopping, health, meters)
        else:
            telemetry.event("ready", platform="console")
            service = await stack.enter_async_context(chat.console_service(application))
            health.tell(PROGRAM, ready=True, detail="The console is served.")
            await console.run(console.Settings(), service)
    return 0


async def _serve(application: Application, stopping: Stopping, health: Health, meters: Meters | None) -> None:
    """Serve the platforms, watched, until told to stop."""
    settings = application.settings
    platforms = {
        await parts.platform(name, settings): Watch(
            name,
            health,
            deaf_seconds=settings.metrics.deaf_seconds,
            meter=meters.connections if meters else None,
        )
        for name in parts.platform_names(settings)
    }
    async with chat.service(application) as behind, _probed(application, health):
        health.tell(PROGRAM, ready=True, detail="The program serves.")
        try:
            await supervising.serve(
                platforms,
                ClosableService(behind),
                stopping,
                grace_seconds=settings.chat.grace_seconds,
                on_stopping=lambda: health.tell(PROGRAM, ready=False, detail="The program ends."),
            )
        finally:
            health.tell(PROGRAM, ready=False, detail="The program ends.")


@asynccontextmanager
async def _probed(application: Application, health: Health) -> AsyncGenerator[None]:
    """The parts that every answer needs are asked now and then, until the block ends."""
    library, folder = application.library, application.settings.data_dir

    async def write() -> None:
        for name in (contents.CATALOG, contents.CHAT):
            await asyncio.to_thread(probing.write, folder / name)

    asked = {"storage": write, "index": partial(library.index.count, _NO_KNOWLEDGE_BASE)}
    tasks = [
        asyncio.create_task(probe(name, ask, health), name=f"probe-{name}") for name, ask in asked.items()
    ]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _log_wait(error: Unavailable) -> None:
    telemetry.event("waiting", backend=error.backend, reason=error.reason, sentence=str(error))


async def _log_resumption() -> None:
    telemetry.event("going_on")
