from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from bot.resilience.retry import RetryPolicy

if TYPE_CHECKING:
    from rich.console import Console

    from bot.settings import Settings
    from rag_engine.errors import Unavailable


def patience(settings: Settings, console: Console) -> RetryPolicy:
    """The configured retries, printing when waiting begins and ends."""

    async def on_wait(error: Unavailable) -> None:
        console.print(Text(f"Waiting: {error}"))

    async def on_resume() -> None:
        console.print(Text("Continuing."))

    return RetryPolicy(seconds=settings.ingestion.patience_seconds, on_wait=on_wait, on_resume=on_resume)
