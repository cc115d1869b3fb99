"""The room of each kind of event."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.discord.room import ChannelRoom
from adapters.discord.texts import heading

if TYPE_CHECKING:
    from adapters.discord.connection import Connection
    from adapters.discord.interactions import Response
    from bot.port import IncomingMessage


def of_message(
    event: IncomingMessage, connection: Connection, *, in_thread: bool, doubtful: bool
) -> ChannelRoom:
    """`in_thread`: it stands in a thread itself, be it as the first message of a forum's post, which has the thread's id."""
    names = (event.text, *(attachment.name for attachment in event.attachments))
    return ChannelRoom(
        connection,
        event.place,
        event=int(event.id),
        key=event.handle,
        person=int(event.person.id),
        question=0 if in_thread else int(event.id),
        thread_name=next((named for name in names if (named := heading(name))), ""),
        doubtful=doubtful,
    )


def of_use(response: Response, connection: Connection, *, doubtful: bool = False) -> ChannelRoom:
    """Where a command was given or a button pressed."""
    used = response.used
    return ChannelRoom(
        connection,
        used.place,
        event=used.id,
        person=int(used.person.id),
        response=response,
        doubtful=doubtful,
    )
