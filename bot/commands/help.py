from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bot.commands import ask_filters, registry
from bot.commands.context import paged, reply
from bot.commands.specs import SlashCommand, brief_usage, usage
from bot.messages.refusals import Invalid
from bot.port import CommandSpec, Option

if TYPE_CHECKING:
    from bot.commands.context import CommandContext
    from bot.port import Reply


async def welcome(use: CommandContext) -> Reply:
    return reply(use.say("welcome"))


async def list_commands(use: CommandContext) -> Reply:
    name = use.values.get("command", "").strip().casefold().removeprefix("/").removeprefix("kb ").strip()
    return _explained(use, name) if name else await turn_page(use, "", 1)


async def turn_page(use: CommandContext, _: str, page: int) -> Reply:
    lines = [
        f"- `{_brief(command.spec)}`: {_summary(use, command)}" for command in registry.commands().values()
    ]
    shown = paged(use, use.say("commands_heading"), lines, page=page, value="help")
    return replace(shown, text=f"{shown.text}\n\n{use.say('commands_more', usage='/kb help COMMAND')}")


def _brief(spec: CommandSpec) -> str:
    required = sum(option.required for option in spec.options)
    return f"{brief_usage(spec)}{' …' if len(spec.options) > required else ''}"


def _explained(use: CommandContext, name: str) -> Reply:
    commands = registry.commands()
    command = commands.get(f"kb {name}") or commands.get(name)
    if command is None:
        raise Invalid("no_such_command")
    spec = registry.spec_on(use.place.platform, command.spec.name)
    lines = [f"- `{option.name}`: {option.description}" for option in spec.options]
    heading = f"`{usage(spec)}`: {_summary(use, command)}"
    return reply("\n".join((heading, "", *lines, "", use.say("commands_quotes"))))


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
        spec=CommandSpec(
            name="kb help",
            description="All of these commands",
            options=(Option(name="command", description="The one to explain, with all that it takes"),),
        ),
        execute=list_commands,
        turn_page=turn_page,
    ),
)
