"""`footnote chat`: the console adapter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot import chat, compose

if TYPE_CHECKING:
    import argparse

    from bot.settings import Settings


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Answer what is typed or piped in until the input ends."""
    console = compose.console()
    async with (
        compose.application(settings) as application,
        chat.console_service(application, arguments.kb) as service,
    ):
        await console.run(console.Settings(conversation=arguments.conversation), service)
    return 0
