"""What was said before a question: turns of others for the engine, and the message that a bare mention means."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from bot.port import ChatError
from rag_engine.types import Turn, TurnId

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from bot.port import IncomingMessage, Room
    from rag_engine.types import ConversationId

_EARLIER_SECONDS = 10.0
_MOST_MESSAGES = 30
_MOST_CHARACTERS = 12_000
_MESSAGE_CHARACTERS = 2_000
_BARE_SECONDS = 300.0
"""A mention without text means what its asker wrote in so many seconds before it."""
_SOMEONE = "Someone"

_log = logging.getLogger(__name__)


async def earlier(room: Room, *, limit: int) -> list[IncomingMessage] | None:
    """The messages before this event, oldest first; None when the platform does not give them."""
    try:
        async with asyncio.timeout(_EARLIER_SECONDS):
            return await room.earlier(limit=limit)
    except (ChatError, TimeoutError) as error:
        _log.warning("earlier messages could not be read: %s", str(error) or type(error).__name__)
        return None


def people_in(messages: Sequence[IncomingMessage], asker: str) -> int:
    """How many people have written, the asker included."""
    return len({asker, *(said.person.id for said in messages if not said.ours and not said.by_bot)})


def heard(
    messages: Sequence[IncomingMessage],
    *,
    known: Collection[str],
    before: float,
    conversation: ConversationId,
) -> tuple[Turn, ...]:
    """What others said, the latest that fits; without our own words and the questions of `known` ids, which the history has."""
    turns: list[Turn] = []
    left = _MOST_CHARACTERS
    for said in reversed(messages):
        if said.ours or said.id in known or (before and said.at >= before) or not _line(said):
            continue
        line = _line(said)
        if len(turns) == _MOST_MESSAGES or len(line) > left:
            break
        left -= len(line)
        turns.append(
            Turn(id=TurnId(f"heard-{said.id}"), conversation=conversation, role="user", text=line, at=said.at)
        )
    return tuple(reversed(turns))


def _line(said: IncomingMessage) -> str:
    files = ", ".join(attachment.name for attachment in said.attachments)
    text = said.text.strip()[:_MESSAGE_CHARACTERS]
    if files:
        text = f"{text} (with the files {files})" if text else f"(sent the files {files})"
    return f"{said.person.name or _SOMEONE}: {text}" if text else ""


def meant_by(message: IncomingMessage, messages: Sequence[IncomingMessage]) -> IncomingMessage | None:
    """What the asker of a bare mention wrote just before it, if anything."""
    for said in reversed(messages):
        if said.ours or said.person.id != message.person.id or said.id == message.id:
            continue
        recent = 0 <= message.at - said.at <= _BARE_SECONDS
        return said if recent and (said.text.strip() or said.attachments) else None
    return None
