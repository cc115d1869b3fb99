from __future__ import annotations

from typing import Final

from bot.commands.help import QUESTION_OPTIONS
from bot.commands.specs import SlashCommand
from bot.port import CommandSpec

NAME: Final = "about"


def about_question(name: str) -> str:
    return f"/{NAME} {name}"


COMMANDS = (
    SlashCommand(
        position=13,
        summary="command_about",
        spec=CommandSpec(
            name=NAME,
            description="What the files say of a person, firm, product or code; best with /kb graph on",
            options=QUESTION_OPTIONS,
        ),
    ),
)
