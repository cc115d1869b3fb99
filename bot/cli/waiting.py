"""What a person at the command line reads while it waits for a service that does not answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from bot.patience import Patience

if TYPE_CHECKING:
    from rich.console import Console

    from bot.settings import Settings
    from rag_engine.errors import Unavailable


def patience(settings: Settings, console: Console) -> Patience:
    """The patience of the settings, with one line when the waiting begins and one when it is over."""

    async def waits(error: Unavailable) -> None:
        console.print(Text(f"Waiting: {error}"), soft_wrap=True)

    async def resumes() -> None:
        console.print(Text("Going on."))

    return Patience(seconds=settings.ingestion.patience_seconds, on_wait=waits, on_resume=resumes)
