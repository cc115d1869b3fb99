from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bot.commands import ask_filters, registry
from bot.commands.context import reply
from bot.commands.specs import SlashCommand, usage
from bot.port import CommandSpec, Option

if TYPE_CHECKING:
    from bot.commands.context import CommandContext
    from bot.port import Reply


async def welcome(use: CommandContext) -> Reply:
    return reply(use.say("welcome"))


async def list_commands(use: CommandContext) -> Reply:
    lines = [
        f"- `{usage(command.spec)}`: {_summary(use, command)}" for command in registry.commands().values()
    ]
    return reply("\n".join((use.say("commands_heading"), "", *lines, "", use.say("commands_quotes"))))


def _summary(use: CommandContext, command: SlashCommand) -> str:
    return use.say(command.summary) if command.summary else command.spec.description


QUESTION_OPTIONS: Final = (
    Option(name="question", description="What you want to know", required=True),
    Option(
        name="where",
        description="Who sees the answer: only you, or the channel",
        choices=("private", "channel"),
    ),
    Option(name="model", description="The language model that answers, of those set up", named=True),
    Option(name="scope", description="The one knowledge base to search", named=True),
    *ask_filters.OPTIONS,
)

COMMANDS = (
    SlashCommand(
        position=10,
        summary="command_ask",
        spec=CommandSpec(
            name="ask",
            description="Ask a question; only you see the answer, unless you choose the channel",
            options=QUESTION_OPTIONS,
        ),
    ),
    SlashCommand(
        position=20,
        summary="command_help",
        spec=CommandSpec(name="help", description="What I can do, and how to ask"),
        execute=welcome,
    ),
    SlashCommand(
        position=900,
        summary="command_kb_help",
        spec=CommandSpec(name="kb help", description="All of these commands"),
        execute=list_commands,
    ),
)
