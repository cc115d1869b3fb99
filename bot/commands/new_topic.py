from __future__ import annotations

from typing import TYPE_CHECKING

from bot.commands.context import reply
from bot.commands.specs import SlashCommand
from bot.port import CommandSpec

if TYPE_CHECKING:
    from bot.commands.context import CommandContext
    from bot.port import Reply


async def start(use: CommandContext) -> Reply:
    for person in (None, use.person):
        await use.dependencies.topics.start(use.place, person)
    return reply(use.say("new_topic"))


COMMANDS = (
    SlashCommand(
        position=15,
        summary="command_new",
        spec=CommandSpec(name="new", description="A new topic: earlier questions no longer count"),
        execute=start,
    ),
)
