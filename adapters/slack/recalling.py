"""The way back to what was asked before a restart."""

from __future__ import annotations

import json
import logging
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from adapters.slack.messages import is_direct
from adapters.slack.outlet import Target
from bot.port import Refused

if TYPE_CHECKING:
    from adapters.slack.messages import Messages
    from bot.port import IncomingMessage

_log = logging.getLogger(__name__)
_TS = re.compile(r"\d+\.\d+")


def handle(target: Target) -> str:
    """What answers to a command or a shortcut need beside their message: the address they go to is good for half an hour."""
    return json.dumps({"source": target.source, "asked": target.asked, "response_url": target.response_url})


async def recall(messages: Messages, message: IncomingMessage) -> tuple[IncomingMessage | None, Target]:
    """The message as it stands now (None: it was deleted), and what is answered. Raises `ChatError`."""
    target = Target(
        place=message.place,
        source=message.id,
        asked=message.about or message.id,
        in_thread=message.in_thread,
        person=message.person.id,
        doubtful=True,
    )
    if message.handle:
        target = replace(target, by_command=True, **json.loads(message.handle))
    if not _TS.fullmatch(message.about or message.id):
        return message, replace(target, asked="")  # a command stands nowhere
    channel, ts = message.place.channel, message.about or message.id
    try:
        raw = await messages.find(channel, ts, message.place.thread if message.in_thread else "")
    except Refused as error:
        _log.warning("A question is answered as it was, it may not be read again: %s", error)
        return message, target
    now = await messages.read(raw, channel=channel, direct=is_direct(channel)) if raw is not None else None
    if raw is None or now is None:
        return None, target
    target = replace(target, recipient_team=str(raw.get("user_team") or raw.get("team") or ""))
    return (
        replace(
            now,
            id=message.id,
            place=message.place,
            person=message.person,
            private=message.private,
            about=message.about,
            handle=message.handle,
        ),
        target,
    )
