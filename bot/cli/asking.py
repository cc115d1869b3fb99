"""Asking before something is done that cannot be undone."""

from __future__ import annotations

import sys

from bot import compose


async def confirmed(question: str) -> bool:
    """Ask on a terminal; a script has said what it wants by calling."""
    if not sys.stdin or not sys.stdin.isatty():
        return True
    answer = await compose.console().read_line(f"{question} [y/N] ")
    return answer.strip().casefold() in {"y", "yes"}
