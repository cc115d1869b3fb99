"""`footnote research`: answer one question from several searches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.cli.answers import ask

if TYPE_CHECKING:
    import argparse

    from bot.settings import Settings

EXAMPLE = """footnote research "How did the travel limits change since 2023, and why?" --kb handbook
footnote research "How did the travel limits change since 2023, and why?" --json"""

add_arguments = ask.add_arguments


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    return await ask.run(arguments, settings, research=True)
