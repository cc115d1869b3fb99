from __future__ import annotations

from typing import Final

from bot.commands.help import QUESTION_OPTIONS
from bot.commands.specs import SlashCommand
from bot.port import CommandSpec
from rag_engine.text import written_request
from rag_engine.text.written_request import request_pattern

NAME: Final = "research"
_ASKED: Final = request_pattern(r"/research\s++", r"research:\s*+")


def asks_for_research(text: str) -> bool:
    return _ASKED.match(text) is not None


def research_question(text: str) -> str:
    """As stored: a restart researches it too."""
    return f"/{NAME} {without_request(text)}"


def without_request(text: str) -> str:
    return written_request.without_request(text, _ASKED)


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
