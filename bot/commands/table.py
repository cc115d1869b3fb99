from __future__ import annotations

from typing import Final

from bot.commands.help import QUESTION_OPTIONS
from bot.commands.specs import SlashCommand
from bot.port import CommandSpec
from rag_engine.tables.answers.requests import OPTION

NAME: Final = "table"


def table_question(text: str) -> str:
    """As stored: a restart computes it too."""
    return text if OPTION in text else f"{text} {OPTION}"


COMMANDS = (
    SlashCommand(
        position=14,
        summary="command_table",
        spec=CommandSpec(
            name=NAME,
            description="Compute an answer over the tables of the files: a sum, a count, the largest",
            options=tuple(option for option in QUESTION_OPTIONS if option.name != NAME),
        ),
    ),
)
