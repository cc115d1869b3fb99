from __future__ import annotations

from typing import TYPE_CHECKING

from bot.commands.specs import SlashCommand
from bot.port import CommandSpec

if TYPE_CHECKING:
    from bot.commands.context import CommandContext
    from bot.port import Reply


async def explain(use: CommandContext) -> Reply:
    return await use.dependencies.explain(use.place, use.person, use.room, use.language)


COMMANDS = (
    SlashCommand(
        position=16,
        summary="command_why",
        spec=CommandSpec(
            name="why", description="Why my last answer to you says what it says; only you see it"
        ),
        execute=explain,
    ),
)
