from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from bot.port import CommandSpec, Option

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bot.commands.context import CommandContext
    from bot.messages.names import Sentence
    from bot.port import Form, Reply

KNOWLEDGE_BASE = Option(
    name="name",
    description="The knowledge base: its name, or #channel for a channel's own; empty: this place's own",
)
REQUIRED_KNOWLEDGE_BASE = Option(
    name="name", description="The knowledge base: its name, or #channel for a channel's own", required=True
)

_LONGEST_USAGE: Final = 60

QUESTIONS: Final = frozenset({"ask", "research", "about", "table"})
"""The commands that are answered like messages."""

Handler: TypeAlias = "Callable[[CommandContext], Awaitable[Reply]]"
PageTurn: TypeAlias = "Callable[[CommandContext, str, int], Awaitable[Reply]]"


ButtonHandler: TypeAlias = "Callable[[CommandContext, str, str], Awaitable[Reply]]"
FormHandler: TypeAlias = "Callable[[CommandContext, str, str], Awaitable[Form | None]]"


@dataclass(frozen=True, slots=True, kw_only=True)
class SlashCommand:
    """Listing it in its module's `COMMANDS` suffices."""

    spec: CommandSpec
    """Descriptions in English."""
    position: int
    summary: Sentence | None = None
    execute: Handler | None = None
    """None: the service answers it."""
    turn_page: PageTurn | None = None
    """Buttons carry the command's last word."""
    press: ButtonHandler | None = None
    """Of its other buttons, with an act and a subject; it checks who may."""
    form: FormHandler | None = None


def kb_command(
    name: str,
    description: str,
    *options: Option,
    position: int,
    summary: Sentence,
    execute: Handler,
    turn_page: PageTurn | None = None,
    press: ButtonHandler | None = None,
    form: FormHandler | None = None,
    admin: bool = False,
) -> SlashCommand:
    spec = CommandSpec(name=f"kb {name}", description=description, options=options, admin=admin)
    return SlashCommand(
        spec=spec,
        position=position,
        summary=summary,
        execute=execute,
        turn_page=turn_page,
        press=press,
        form=form,
    )


def usage(spec: CommandSpec) -> str:
    """`/kb create NAME [channel|workspace]`."""
    return " ".join((f"/{spec.name}", *(_slot(option, spec) for option in spec.options)))


def short_usage(spec: CommandSpec) -> str:
    full = usage(spec)
    return full if len(full) <= _LONGEST_USAGE else brief_usage(spec)


def brief_usage(spec: CommandSpec) -> str:
    """Without what may be left out."""
    return " ".join((f"/{spec.name}", *(_slot(each, spec) for each in spec.options if each.required)))


def _slot(option: Option, spec: CommandSpec) -> str:
    shown = option.value or "|".join(option.choices) or option.name.upper()
    is_alone = not option.choices or [each.choices for each in spec.options].count(option.choices) == 1
    if option.named or not is_alone:
        return f"[{option.name}:{shown}]"
    return shown if option.required else f"[{shown}]"
