from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from bot.access.permissions import answer_or_none

if TYPE_CHECKING:
    from bot.port import Directory

MOST_PEOPLE: Final = 20
"""Of a group: each is written to."""
_CHANNEL: Final = re.compile(r"<#([^|>\s]+)(?:\|[^>]*)?>|([^<>@\s]+)")


def named_experts(text: str) -> str:
    """A channel's id, or the mention of a person or group."""
    return channel_of(text) or text.replace("<@!", "<@")


def channel_of(experts: str) -> str:
    found = _CHANNEL.fullmatch(experts)
    return found[1] or found[2] if found else ""


async def label_of(experts: str, directory: Directory) -> str:
    if identity := channel_of(experts):
        channel = await answer_or_none(directory.channel(identity))
        return f"#{(channel.name or '…').removeprefix('#')}" if channel is not None else ""
    people = await answer_or_none(directory.people(experts))
    return f"@{people.name.removeprefix('@')}" if people is not None else ""
