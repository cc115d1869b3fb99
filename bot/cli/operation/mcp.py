"""`footnote mcp`: answer one program over MCP on standard input and output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.access.permissions import scope
from bot.cli._shared import options
from bot.cli.operation.serve import MISSING
from bot.composition import application as composition
from rag_engine.errors import MissingExtra

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from bot.server.readers import Reader
    from bot.settings import Settings

EXAMPLE = "footnote mcp --kb handbook"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_knowledge_bases(parser)


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    try:
        from bot.server import readers, tools
        from bot.server.answer_slots import AnswerSlots
    except ModuleNotFoundError as error:
        raise MissingExtra(MISSING) from error
    async with composition.application(settings) as application:
        chosen = await scope(application.catalog, arguments.kb) if arguments.kb else None
        reader = readers.Reader(
            application=application, knowledge_bases=chosen.knowledge_bases if chosen else None
        )

        async def operator(_: Mapping[str, str] | None) -> Reader:
            return reader

        await tools.server(operator, AnswerSlots(settings.chat.answers)).run_stdio_async()
    return 0
