"""Finds a message that an earlier process posted without recording it, at most one of an answer.

Discord honours a nonce for minutes; later, the question replied to, the buttons or the position identify the
message.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import discord

from adapters.discord.incoming.history import messages_after
from adapters.discord.incoming.message_reader import is_written
from adapters.discord.outlets import buttons

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.port import Page


@dataclass(frozen=True, slots=True, kw_only=True)
class PartSearch:
    own_id: int
    page: Page | None
    """None to remove the answer."""
    question: int
    """The message replied to, if in the same channel."""
    previous_part: int = 0
    in_own_thread: bool = False
    recorded: frozenset[int] = frozenset()


async def written_after(
    client: discord.Client, channel: discord.abc.Messageable, *, after: int
) -> list[discord.Message]:
    """Oldest first. Call inside `api_calls`."""
    try:
        return [each for each in await messages_after(client, channel, after=after) if is_written(each)]
    except (discord.Forbidden, discord.NotFound):
        return []


def find_part(search: PartSearch, messages: Sequence[discord.Message]) -> int:
    """0 if none is certain."""
    later = [each for each in messages if each.id > search.previous_part]
    ours = [each for each in later if each.author.id == search.own_id and each.id not in search.recorded]
    page_buttons = search.page.buttons if search.page is not None else ()
    subjects = frozenset(buttons.subject(button.value) for button in page_buttons)
    for each in ours:
        if subjects & buttons.subjects(each) or (
            not search.previous_part and _replies_to(each, search.question)
        ):
            return each.id
    if search.previous_part:
        return _next_part(later, ours)
    if not (ours and search.in_own_thread):
        return 0
    first = next(each for each in later if each.author.id == search.own_id)
    removed = search.page is None and ours[0] is first
    return ours[0].id if removed or not buttons.subjects(ours[0]) else 0


def _replies_to(message: discord.Message, question: int) -> bool:
    return bool(question) and message.reference is not None and message.reference.message_id == question


def _next_part(later: Sequence[discord.Message], ours: Sequence[discord.Message]) -> int:
    if not ours or later[0] is not ours[0]:
        return 0
    untouched = later[0].edited_at is None and not buttons.subjects(later[0])
    return later[0].id if untouched else 0
