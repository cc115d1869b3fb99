from __future__ import annotations

import json
import logging
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from adapters.slack.api import NotServed
from adapters.slack.incoming.message_reader import recipient_team
from adapters.slack.locations import is_direct
from adapters.slack.outlets.channel import SlackTarget
from adapters.slack.room import SlackRoom
from bot.port import WriteRefused

if TYPE_CHECKING:
    from adapters.slack.incoming.message_reader import MessageReader
    from bot.port import ChatService, IncomingMessage

_log = logging.getLogger(__name__)
_TS = re.compile(r"\d+\.\d+")


def handle(target: SlackTarget) -> str:
    """A response URL is valid for half an hour."""
    # the keys are stored data
    return json.dumps(
        {"source": target.source, "asked": target.question, "response_url": target.response_url}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackRecovery:
    reader: MessageReader
    service: ChatService

    async def recall(self, message: IncomingMessage) -> tuple[IncomingMessage | None, SlackRoom]:
        current, target = await self._current(message, _target(message))
        return current, SlackRoom.of(self.reader, target, self.service)

    async def _current(
        self, message: IncomingMessage, target: SlackTarget
    ) -> tuple[IncomingMessage | None, SlackTarget]:
        channel, ts = message.place.channel, message.about or message.id
        if not _TS.fullmatch(ts):
            return message, replace(target, question="")
        try:
            raw = await self.reader.find(channel, ts, message.place.thread if message.in_thread else "")
        except (WriteRefused, NotServed) as error:
            _log.warning("A question cannot be read again and is answered as it was stored: %s", error)
            return message, target
        if raw is None:
            return None, target
        current = await self.reader.read(raw, channel=channel, direct=is_direct(channel))
        if current is None:
            return None, target
        target = replace(target, recipient_team=recipient_team(raw))
        return (
            replace(
                current,
                id=message.id,
                place=message.place,
                person=message.person,
                private=message.private,
                about=message.about,
                handle=message.handle,
            ),
            target,
        )


def _target(message: IncomingMessage) -> SlackTarget:
    target = SlackTarget(
        place=message.place,
        source=message.id,
        question=message.about or message.id,
        in_thread=message.in_thread,
        person=message.person.id,
        doubtful=True,
    )
    if not message.handle:
        return target
    stored = json.loads(message.handle)
    return replace(
        target,
        by_command=True,
        source=stored["source"],
        question=stored["asked"],
        response_url=stored["response_url"],
    )
