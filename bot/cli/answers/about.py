"""`footnote about`: what the files say about a person, a company, a product or a code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.cli.answers import ask
from bot.commands.about import about_question

if TYPE_CHECKING:
    import argparse

    from bot.settings import Settings

EXAMPLE = """footnote about "Harbour Works Ltd" --kb contracts
footnote about XK-4711 --json"""

add_arguments = ask.add_arguments


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    arguments.question = about_question(arguments.question)
    return await ask.run(arguments, settings)
