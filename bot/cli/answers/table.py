"""`footnote table`: compute an answer from tables in the files, with a chart if you want one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bot.cli.answers import ask

if TYPE_CHECKING:
    import argparse

    from bot.settings import Settings

EXAMPLE = """footnote table "total spent by department" --kb finance
footnote table "total spent by month" --chart spent.png"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    ask.add_arguments(parser)
    parser.add_argument("--chart", metavar="FILE.png", type=Path, help="draw the result into this file")


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    arguments.table = True
    return await ask.run(arguments, settings)
