"""`footnote chat`: ask several questions in the terminal; answers appear as they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.cli._shared import options
from bot.composition import application as composition
from bot.composition import chat_service, loader

if TYPE_CHECKING:
    import argparse

    from bot.settings import Settings


EXAMPLE = """footnote chat
echo "How many days of leave do I have?" | footnote chat"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_knowledge_bases(parser)
    parser.add_argument(
        "--conversation", default="", metavar="NAME", help="continue the conversation of this name"
    )


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    console = loader.console()
    async with (
        composition.application(settings) as application,
        chat_service.console_service(application, arguments.kb) as service,
    ):
        await console.run(console.Settings(conversation=arguments.conversation), service)
    return 0
