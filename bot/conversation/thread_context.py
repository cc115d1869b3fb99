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

_READ_SECONDS = 10.0
_MOST_MESSAGES = 30
_MOST_CHARACTERS = 12_000
_MESSAGE_CHARACTERS = 2_000
_BARE_MENTION_SECONDS = 300.0
_SOMEONE = "Someone"

_log = logging.getLogger(__name__)


async def read_earlier(room: Room, *, limit: int) -> list[IncomingMessage] | None:
    """Oldest first; None without the platform's answer."""
    try:
        async with asyncio.timeout(_READ_SECONDS):
            return await room.earlier(limit=limit)
    except (ChatError, TimeoutError) as error:
        _log.warning("earlier messages could not be read: %s", str(error) or type(error).__name__)
        return None


def speaker(platform: str, person: str) -> str:
    """A person's id in traces."""
    return f"{platform}:{person}"


def count_people(messages: Sequence[IncomingMessage], asker: str) -> int:
    return len({asker, *(each.person.id for each in messages if not each.ours and not each.by_bot)})


def other_turns(
    messages: Sequence[IncomingMessage],
    *,
    known: Collection[str],
    before: float,
    conversation: ConversationId,
) -> tuple[Turn, ...]:
    """The latest that fit, without ours and `known` ones."""
    turns: list[Turn] = []
    left = _MOST_CHARACTERS
    for message in reversed(messages):
        line = _line(message)
        if message.ours or message.id in known or (before and message.at >= before) or not line:
            continue
        if len(turns) == _MOST_MESSAGES or len(line) > left:
            break
        left -= len(line)
        turns.append(_turn(message, line, conversation))
    return tuple(reversed(turns))


def _turn(message: IncomingMessage, line: str, conversation: ConversationId) -> Turn:
    return Turn(
        id=TurnId(f"heard-{message.id}"),
        conversation=conversation,
        role="user",
        text=line,
        at=message.at,
        speaker=speaker(message.place.platform, message.person.id),
    )


def _line(message: IncomingMessage) -> str:
    files = ", ".join(attachment.name for attachment in message.attachments)
    text = message.text.strip()[:_MESSAGE_CHARACTERS]
    if files:
        text = f"{text} (with the files {files})" if text else f"(sent the files {files})"
    return f"{message.person.name or _SOMEONE}: {text}" if text else ""


def previous_message(mention: IncomingMessage, messages: Sequence[IncomingMessage]) -> IncomingMessage | None:
    """By the same author, if recent and not empty."""
    for message in reversed(messages):
        if message.ours or message.person.id != mention.person.id or message.id == mention.id:
            continue
        is_recent = 0 <= mention.at - message.at <= _BARE_MENTION_SECONDS
        return message if is_recent and (message.text.strip() or message.attachments) else None
    return None
