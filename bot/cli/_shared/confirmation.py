from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from bot.composition import loader

if TYPE_CHECKING:
    import argparse

EXIT_UNCONFIRMED: Final = 2


def add_yes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--yes", action="store_true", help="do not ask first; required without a terminal")


def is_possible(arguments: argparse.Namespace) -> bool:
    """`--yes`, or somebody can be asked; else says so."""
    if arguments.yes or (sys.stdin and sys.stdin.isatty() and not getattr(arguments, "json", False)):
        return True
    why = "with --json" if getattr(arguments, "json", False) else "without a terminal"
    print(f"footnote: {why} nobody can be asked, so nothing was changed: add --yes.", file=sys.stderr)
    return False


async def confirmed(question: str, arguments: argparse.Namespace) -> bool:
    if arguments.yes:
        return True
    answer = await loader.console().read_line(f"{question} [y/N] ")
    return answer.strip().casefold() in {"y", "yes"}
