"""A message of ours that the program before us put somewhere without having been able to record it.

Discord takes a nonce for a few minutes only. After that, such a message is known by what it answers: by the question that it refers
to, by what its buttons are about, or by where it stands. At most one of an answer is lost: each is recorded before the next is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import discord

from adapters.discord import buttons
from adapters.discord.reading import is_written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.port import Page

_MOST_MESSAGES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """The next part of an answer whose other parts are known."""

    us: int
    page: Page | None
    """What is to be written; None where the answer is taken away."""
    question: int
    """The message that it answers, where that stands beside it."""
    behind: int = 0
    """The part before it; 0 for the first."""
    in_its_own_thread: bool = False
    """It stands in the thread that was made from the question."""
    others: frozenset[int] = frozenset()
    """Messages that are known to belong to an answer, this one or another."""


async def standing(where: discord.abc.Messageable, *, after: int) -> list[discord.Message]:
    """What was written there since, the first of it, oldest first; nothing where that cannot be read.

    Inside `border.calls`.
    """
    try:
        history = where.history(limit=_MOST_MESSAGES, after=discord.Object(after), oldest_first=True)
        return [each async for each in history if is_written(each)]
    except (discord.Forbidden, discord.NotFound):
        return []


def found(sought: Sought, messages: Sequence[discord.Message]) -> int:
    """The message that is sought; 0 when none of them is it. What may be of another answer is not it."""
    later = [each for each in messages if each.id > sought.behind]
    ours = [each for each in later if each.author.id == sought.us and each.id not in sought.others]
    shown = sought.page.buttons if sought.page is not None else ()
    about = frozenset(buttons.subject(button.value) for button in shown)
    for each in ours:
        if about & buttons.subjects(each) or (not sought.behind and _answers(each, sought.question)):
            return each.id
    if sought.behind:
        return _next(later, ours)
    if not (ours and sought.in_its_own_thread):
        return 0
    first = next(each for each in later if each.author.id == sought.us)
    taken_away = sought.page is None and ours[0] is first  # where nothing is to be shown, no button tells
    return ours[0].id if taken_away or not buttons.subjects(ours[0]) else 0


def _answers(message: discord.Message, question: int) -> bool:
    return bool(question) and message.reference is not None and message.reference.message_id == question


def _next(later: Sequence[discord.Message], ours: Sequence[discord.Message]) -> int:
    """What follows a part at once, and was not touched since: the last part of an answer has buttons, those between have none."""
    if not ours or later[0] is not ours[0]:
        return 0
    untouched = later[0].edited_at is None and not buttons.subjects(later[0])
    return later[0].id if untouched else 0
