"""`footnote prompts`: the rules that are sent to the language model, each with its id."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rich.text import Text

from bot.cli._shared import options, terminal
from rag_engine.errors import UserError
from rag_engine.generation import prompts

if TYPE_CHECKING:
    import argparse

    from bot.settings import Settings


EXAMPLE = "footnote prompts answer"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", metavar="TASK", nargs="?", default="", help="the rules of one task")
    options.add_json(parser, "[{task, id, text}]")


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    if arguments.task and arguments.task not in prompts.TASKS:
        raise UserError(f"There is no task {arguments.task!r}; there are: {', '.join(prompts.TASKS)}.")
    rows = [
        {"task": task, "id": rule.id, "text": rule.text}
        for task in prompts.TASKS
        if arguments.task in {"", task}
        for rule in prompts.rules(task)
    ]
    if arguments.json:
        print(json.dumps(rows, ensure_ascii=False, indent=2))
        return 0
    console = terminal.console()
    for row in rows:
        console.print(Text.assemble((f"{row['task']} · {row['id']}", "bold"), f"\n  {row['text']}"))
    return 0
