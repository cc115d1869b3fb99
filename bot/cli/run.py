"""`footnote run`: every platform whose settings are present, else the console."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot import compose, telemetry

if TYPE_CHECKING:
    import argparse

    from bot.settings import Settings


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Serve until the input ends or the process is told to stop."""
    console = compose.console()
    async with compose.application(settings) as application:
        telemetry.event("ready", platform="console")
        await console.run(console.Settings(), compose.service(application))
    return 0
