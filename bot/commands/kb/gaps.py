from __future__ import annotations

from typing import TYPE_CHECKING

from bot.commands.specs import kb_command
from bot.messages.refusals import Invalid
from bot.port import Option

if TYPE_CHECKING:
    from bot.commands.context import CommandContext
    from bot.commands.dependencies import ShownGaps
    from bot.port import Reply


async def gaps(use: CommandContext) -> Reply:
    channel = use.values.get("digest", "").strip()
    gaps = _gaps(use)
    return await (gaps.choose_channel(use, channel) if channel else gaps.show(use))


async def press(use: CommandContext, act: str, gap: str) -> Reply:
    return await _gaps(use).press(use, act, gap)


async def turn_page(use: CommandContext, _: str, page: int) -> Reply:
    return await _gaps(use).show(use, page=page)


def _gaps(use: CommandContext) -> ShownGaps:
    if use.dependencies.gaps is None:
        raise Invalid("command_button_stale")
    return use.dependencies.gaps


COMMANDS = (
    kb_command(
        "gaps",
        "What was asked here and not answered, grouped by meaning",
        Option(
            name="digest",
            description="The channel of a weekly digest, as #help; off: none",
            named=True,
            value="#CHANNEL|off",
        ),
        position=194,
        summary="command_kb_gaps",
        execute=gaps,
        press=press,
        turn_page=turn_page,
    ),
)
