"""`footnote run`: start the bot on each platform that is set up, or in the console if none is."""

from __future__ import annotations

import asyncio
import sys
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from bot.composition import application as composition
from bot.composition import chat_service, loader
from bot.maintenance import data_files
from bot.observability import log
from bot.observability.health import PROGRAM, Health
from bot.observability.turn_measurements import TurnMeasurements
from bot.process import allocator, event_loop_lag, supervisor
from bot.process.graceful_shutdown import ClosableService
from bot.process.termination_signal import ended_by_sigterm
from bot.process.watchdog import Watch, probe
from bot.resilience.retry import RetryPolicy, patient
from rag_engine import plugins
from rag_engine.storage.sqlite import write_probe
from rag_engine.types import KnowledgeBaseId

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncGenerator

    from bot.composition.chat.page_parts import OpenPage
    from bot.composition.components import Application
    from bot.observability.metrics import Meters
    from bot.process.termination_signal import TerminationSignal
    from bot.settings import Settings
    from rag_engine.errors import Unavailable

EXAMPLE = "footnote run"

_TURN_SECONDS = 0.0005
"""The longest a computing thread holds the interpreter."""
_NO_KNOWLEDGE_BASE = KnowledgeBaseId("")


def add_arguments(parser: argparse.ArgumentParser) -> None: ...


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Until the input ends or SIGTERM."""
    allocator.return_large_blocks()
    sys.setswitchinterval(_TURN_SECONDS)
    console = loader.console()
    health = Health()
    starting = RetryPolicy(
        seconds=settings.ingestion.patience_seconds, on_wait=_log_wait, on_resume=_log_resumption
    )
    async with ended_by_sigterm() as stopping, AsyncExitStack() as stack:
        meters = await stack.enter_async_context(composition.metrics(settings, health))
        await stack.enter_async_context(event_loop_lag.watched(health, meters.event_loop if meters else None))
        measurements = TurnMeasurements() if settings.web.port is not None else None
        observers = await stack.enter_async_context(composition.observers(settings, meters, measurements))
        with patient(starting):
            application = await stack.enter_async_context(
                composition.application(settings, observers=observers)
            )
        page = await _page(health, measurements)
        if loader.platform_names(settings):
            await _serve(application, stopping, health, meters, page)
        else:
            log.event("ready", platform="console")
            service = await stack.enter_async_context(chat_service.console_service(application, page=page))
            health.record(PROGRAM, ready=True, detail="The console is served.")
            await console.run(console.Settings(), service)
    return 0


async def _serve(
    application: Application,
    stopping: TerminationSignal,
    health: Health,
    meters: Meters | None,
    page: OpenPage | None,
) -> None:
    settings = application.settings
    platforms = {
        await loader.platform(name, settings): Watch(
            name,
            health,
            deaf_seconds=settings.metrics.deaf_seconds,
            meter=meters.connections if meters else None,
        )
        for name in loader.platform_names(settings)
    }
    async with chat_service.service(application, page=page) as behind, _probed(application, health):
        health.record(PROGRAM, ready=True, detail="The program serves.")
        try:
            await supervisor.serve(
                platforms,
                ClosableService(behind),
                stopping,
                grace_seconds=settings.chat.grace_seconds,
                on_stopping=lambda: health.record(PROGRAM, ready=False, detail="The program ends."),
            )
        finally:
            health.record(PROGRAM, ready=False, detail="The program ends.")


async def _page(health: Health, measurements: TurnMeasurements | None) -> OpenPage | None:
    """Raises `MissingExtra`."""
    if measurements is None:
        return None
    module = await asyncio.to_thread(plugins.load, "bot.web", "server", extra="web")
    return partial(module.served, health=health, measurements=measurements)


@asynccontextmanager
async def _probed(application: Application, health: Health) -> AsyncGenerator[None]:
    library, folder = application.library, application.settings.data_dir

    async def write() -> None:
        for name in (data_files.CATALOG, data_files.CHAT):
            await asyncio.to_thread(write_probe.write, folder / name)

    probes = {"storage": write, "index": partial(library.index.count, _NO_KNOWLEDGE_BASE)}
    tasks = [
        asyncio.create_task(probe(name, ask, health), name=f"probe-{name}") for name, ask in probes.items()
    ]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _log_wait(error: Unavailable) -> None:
    log.event("waiting", backend=error.backend, reason=error.reason, sentence=str(error))


async def _log_resumption() -> None:
    log.event("going_on")
