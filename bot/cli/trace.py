"""`footnote trace`: what happened in a turn."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bot import compose
from rag_engine.errors import UserError
from rag_engine.types import Trace, TurnId

if TYPE_CHECKING:
    import argparse

    from bot.settings import Settings


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Print the trace of one turn."""
    async with compose.storage(settings) as storage:
        trace = await storage.history.trace(TurnId(arguments.turn) if arguments.turn else None)
    if trace is None:
        wanted = f"There is no turn {arguments.turn!r}." if arguments.turn else "Nothing has been asked yet."
        raise UserError(wanted)
    if arguments.json:
        print(json.dumps(as_json(trace), ensure_ascii=False, indent=2))
        return 0
    _print(trace, Console(highlight=False, soft_wrap=not sys.stdout.isatty()))
    return 0


def as_json(trace: Trace) -> dict[str, object]:
    """Everything that was kept of the turn."""
    return {**asdict(trace), "seconds": {name: round(value, 4) for name, value in trace.seconds.items()}}


def _print(trace: Trace, console: Console) -> None:
    console.print(
        Text(
            f"turn {trace.turn}, {datetime.fromtimestamp(trace.at, UTC):%Y-%m-%d %H:%M:%S} UTC", style="bold"
        )
    )
    stages = Table("stage", "ms", box=None, pad_edge=False)
    for name, seconds in trace.seconds.items():
        stages.add_row(name, f"{seconds * 1000:.1f}")
    console.print(stages)
    if trace.fallbacks:
        console.print(Text("done without: " + ", ".join(trace.fallbacks), style="yellow"))
    for name, value in trace.details.items():
        console.print(Text(f"{name}:", style="bold"), Text(_shown(value)))


def _shown(value: object) -> str:
    if isinstance(value, list):
        return "".join(
            "\n  " + json.dumps(item, ensure_ascii=False, default=str) for item in cast("list[object]", value)
        )
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
