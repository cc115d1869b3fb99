"""`footnote run`: every platform whose settings are present, else the console."""

from __future__ import annotations

import asyncio
import signal
import sys
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import chain, repeat
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

_PAUSES = (5.0, 30.0, 300.0)
"""Seconds before an adapter that ended by a bug begins anew."""
_TURN_SECONDS = 0.0005
"""How long a thread that computes may keep the interpreter while the event loop wants it."""


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Serve until the input ends or the process is told to stop. What does not answer at the start is waited for."""
    sys.setswitchinterval(_TURN_SECONDS)
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
    """Every platform in a task of its own: what ends one is logged and ends no other, but the last one ends the program."""
    service = await stack.enter_async_context(chat.service(application))
    running = {
        asyncio.create_task(_run(platform, service), name=f"platform-{platform.name}")
        for platform in platforms
    }
    try:
        while running:
            ended, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in ended:
                error = task.exception()
                if error is not None and (not running or isinstance(error, _NeverReady)):
                    raise error.__cause__ or error
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


class _NeverReady(Exception):
    """A platform would not let us in at the start: whoever starts the program is there to mend it."""


async def _run(platform: parts.Platform, service: ChatService) -> None:
    """Serve the platform; a bug that ends its adapter is logged, and the adapter begins anew after a while."""
    was_ready = False

    def ready(facts: Mapping[str, str]) -> None:
        nonlocal was_ready
        was_ready = True
        telemetry.event("ready", **{**facts, "platform": platform.name})

    pauses = chain(_PAUSES, repeat(_PAUSES[-1]))
    while True:
        try:
            return await platform.module.run(platform.settings, service, ready=ready)
        except Refused as error:
            telemetry.event("platform_ended", platform=platform.name, sentence=str(error))
            sentence = Misconfigured(str(error))
            if was_ready:
                raise sentence from error
            raise _NeverReady from sentence
        except Exception as error:  # the edge of an adapter: it must not take the other platform with it
            telemetry.record(telemetry.unwrapped(error))
            await asyncio.sleep(next(pauses))


async def _log_wait(error: Unavailable) -> None:
    telemetry.event("waiting", backend=error.backend, reason=error.reason, sentence=str(error))


async def _log_resumption() -> None:
    telemetry.event("going_on")
