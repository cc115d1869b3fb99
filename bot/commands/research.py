from __future__ import annotations

import re
from typing import Final

from bot.commands.help import QUESTION_OPTIONS
from bot.commands.specs import SlashCommand
from bot.port import CommandSpec

NAME: Final = "research"
_ASKED: Final = re.compile(r"\A\s*+(?:/research\s++|research:\s*+)(?=\S)", re.IGNORECASE)


def asks_for_research(text: str) -> bool:
    return _ASKED.match(text) is not None


def research_question(text: str) -> str:
    """As it is stored, so that a restart researches it too."""
    return f"/{NAME} {without_request(text)}"


def without_request(text: str) -> str:
    return _ASKED.sub("", text)


COMMANDS = (
    SlashCommand(
        position=12,
        summary="command_research",
        spec=CommandSpec(
            name=NAME,
            description="Answer a question that takes several searches, with a plan; takes up to two minutes",
            options=QUESTION_OPTIONS,
        ),
    ),
)
