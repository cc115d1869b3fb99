from __future__ import annotations

from typing import TYPE_CHECKING

from bot.commands.specs import SlashCommand
from bot.port import CommandSpec

if TYPE_CHECKING:
    from bot.commands.context import CommandContext
    from bot.port import Reply


async def speak(use: CommandContext) -> Reply:
    return await use.dependencies.read_aloud(use.place, use.person, use.room, use.language)


COMMANDS = (
    SlashCommand(
        position=18,
        summary="command_speak",
        spec=CommandSpec(name="speak", description="My last answer to you read aloud; only you get it"),
        execute=speak,
    ),
)
