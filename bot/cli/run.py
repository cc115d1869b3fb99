"""`footnote run`: every platform whose settings are present, else the console."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from bot import compose, telemetry
from bot.patience import Patience, patient

if TYPE_CHECKING:
    import argparse

    from bot.settings import Settings
    from rag_engine.errors import Unavailable


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Serve until the input ends or the process is told to stop. What does not answer at the start is waited for."""
    console = compose.console()
    starting = Patience(
        seconds=settings.ingestion.patience_seconds, on_wait=_log_wait, on_resume=_log_resumption
    )
    async with AsyncExitStack() as stack:
        meters = await stack.enter_async_context(compose.metrics(settings))
        with patient(starting):
            application = await stack.enter_async_context(compose.application(settings, meters=meters))
        telemetry.event("ready", platform="console")
        await console.run(console.Settings(), compose.service(application))
    return 0


async def _log_wait(error: Unavailable) -> None:
    telemetry.event("waiting", backend=error.backend, reason=error.reason, sentence=str(error))


async def _log_resumption() -> None:
    telemetry.event("going_on")
