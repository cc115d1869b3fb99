"""What a test asks of a chat in memory, or changes in it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.port import Action, Attachment, Command, IncomingMessage, Person, Place
from rag_engine.models.scripted import ScriptedLine, ScriptedModel
from tests.unit.bot.chat_platform import ANN, CHANNEL, Chat, Everybody, Here, Post, attachment

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.composition.conversation import ChatStores, Removals
    from bot.conversation.service import Service
    from bot.files.uploads import Uploads
    from bot.port import Directory, Room
    from bot.store.turns import Turns
    from rag_engine.ingestion.ingestion import Ingestion
    from rag_engine.storage.catalog import SqliteCatalog
    from rag_engine.storage.history import SqliteHistory
    from tests.unit.bot.open_town import OpenTown


@dataclass
class World:
    """Everything a test asks or changes."""

    chat: Chat
    town: OpenTown
    service: Service
    model: ScriptedModel
    turns: Turns
    history: SqliteHistory
    catalog: SqliteCatalog
    stores: ChatStores
    removals: Removals
    uploads: Uploads
    assemble: Callable[..., Service]
    """Makes the service again, as a restart does; takes other `stores` or `removals`."""
    ingestion: Ingestion
    intake: Ingestion
    script: list[ScriptedLine]

    async def send(self, message: IncomingMessage, *, into: Room | None = None) -> None:
        """Deliver the message and wait until it is handled."""
        async with asyncio.timeout(10):
            await self.service.on_message(message, into or Here(self.chat, message.place, message))

    async def ask(self, text: str, *attachments: Attachment, **values: object) -> Post:
        """Send a message; returns the last state of its answer."""
        await self.send(self.chat.message(text, *attachments, **values))
        return self.last

    @property
    def last(self) -> Post:
        return list(self.chat.posts.values())[-1]

    async def press(
        self,
        post: Post,
        name: str,
        *,
        person: Person = ANN,
        value: str = "",
        ends: str = "",
        directory: Directory | None = None,
    ) -> None:
        """Press a button under the message."""
        action = Action(
            id=f"a{next(self.chat.numbers)}",
            name=name,
            value=value or post.button(name, ends=ends),
            place=post.place,
            person=person,
            message=post.id,
        )
        async with asyncio.timeout(10):
            room = Here(self.chat, post.place, directory=directory or Everybody())
            await self.service.on_action(action, room)

    async def command(
        self, name: str, line: str = "", *, place: Place = CHANNEL, person: Person = ANN
    ) -> None:
        command = Command(id=f"c{next(self.chat.numbers)}", name=name, line=line, place=place, person=person)
        async with asyncio.timeout(10):
            await self.service.on_command(command, Here(self.chat, place))

    async def file(self, name: str, text: str, *, place: Place = CHANNEL) -> None:
        """Something to find, in the place's own knowledge base."""
        base = await self.town.own(place)
        taken = await self.uploads.add(
            [attachment(name, text)], knowledge_base=base.id, show=lambda lines: None
        )
        assert taken[0].searchable, taken

    def says(self, *pieces: str, pattern: str = "", **values: object) -> None:
        """What the model answers from now on."""
        self.script.insert(0, ScriptedLine(pieces=pieces, pattern=pattern, **values))
