"""`footnote run`: every platform whose settings are present, else the console."""

from __future__ import annotations

import asyncio
import signal
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from bot import chat, compose, parts, telemetry
from bot.patience import Patience, patient
from bot.port import Refused
from rag_engine.errors import Misconfigured

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from bot.port import ChatService
    from bot.settings import Settings
    from rag_engine.errors import Unavailable


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Serve until the input ends or the process is told to stop. What does not answer at the start is waited for."""
    console = compose.console()
    starting = Patience(
        seconds=settings.ingestion.patience_seconds, on_wait=_log_wait, on_resume=_log_resumption
    )
    async with _ended_by_sigterm(), AsyncExitStack() as stack:
        meters = await stack.enter_async_context(compose.metrics(settings))
        with patient(starting):
            application = await stack.enter_async_context(compose.application(settings, meters=meters))
        names = parts.platform_names(settings)
        if names:
            await _serve([await parts.platform(name, settings) for name in names], application, stack)
        else:
            telemetry.event("ready", platform="console")
            service = await stack.enter_async_context(chat.console_service(application))
            await console.run(console.Settings(), service)
    return 0


@asynccontextmanager
async def _ended_by_sigterm() -> AsyncGenerator[None]:
    """SIGTERM ends the block as Ctrl-C does, so that answers which are being written get their last word; exit code 0."""
    task, told = asyncio.current_task(), False

    def tell(number: int, frame: object) -> None:
        nonlocal told
        told = True
        if task is not None:
            task.get_loop().call_soon_threadsafe(task.cancel)

    before = signal.signal(signal.SIGTERM, tell)
    try:
        yield
    except asyncio.CancelledError:
        if not told:
            raise
        telemetry.event("stopped")
    finally:
        signal.signal(signal.SIGTERM, before)


async def _serve(
    platforms: Sequence[parts.Platform], application: compose.Application, stack: AsyncExitStack
) -> None:
    """Every platform in a task of its own, until one cannot go on."""
    service = await stack.enter_async_context(chat.service(application))
    async with asyncio.TaskGroup() as tasks:
        for platform in platforms:
            tasks.create_task(_run(platform, service), name=f"platform-{platform.name}")


async def _run(platform: parts.Platform, service: ChatService) -> None:
    try:
        await platform.module.run(platform.settings, service, ready=partial(_ready, platform.name))
    except Refused as error:
        raise Misconfigured(str(error)) from error


def _ready(platform: str, facts: Mapping[str, str]) -> None:
    telemetry.event("ready", **{**facts, "platform": platform})


async def _log_wait(error: Unavailable) -> None:
    telemetry.event("waiting", backend=error.backend, reason=error.reason, sentence=str(error))


async def _log_resumption() -> None:
    telemetry.event("going_on")
