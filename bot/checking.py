"""What stands behind an answer, for one person to check: the quoted passages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.port import Reply

if TYPE_CHECKING:
    from bot.port import Action, Room
    from bot.turns import ChatTurn


async def passages_of(turn: ChatTurn, action: Action, room: Room) -> Reply:
    """The quoted passages behind an answer."""
    lines = [f"**[{one.number}]** {one.title} {one.anchor}\n\n> {one.quote}" for one in turn.citations]
    return Reply(text="\n\n".join(lines))
