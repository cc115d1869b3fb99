"""ChatService: what happens with a message, the same on every platform."""

from __future__ import annotations

import asyncio
import weakref
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bot import streaming, telemetry
from bot.patience import Patience, patient
from bot.port import Attachment, IncomingMessage, MessageStream, Place, Reply
from rag_engine.errors import RagError
from rag_engine.types import ConversationId, Ingested, Query

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bot.access import Scope
    from rag_engine.engine import Engine

_HELP = "Ask a question about the files, or add a file and ask about it."


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """Turns messages into calls on the engine. Every failure ends as one plain sentence in the message."""

    engine: Engine
    scope_of: Callable[[Place], Awaitable[Scope]]
    """The knowledge bases that everyone who can read a reply in that place may see."""
    receive: Callable[[Place, Attachment], Awaitable[Ingested]]
    """Takes a file into the place's own knowledge base."""
    passages: int = 8
    patience_seconds: float = 0.0
    """How long a file waits for what does not answer; a question never does."""
    _turns: weakref.WeakValueDictionary[Place, asyncio.Lock] = field(
        default_factory=weakref.WeakValueDictionary[Place, asyncio.Lock], init=False
    )

    async def on_message(self, message: IncomingMessage, stream: MessageStream) -> None:
        """Take the files in, then answer; one message at a time per place, so that a follow-up sees what came before."""
        turn = self._turns.setdefault(message.place, asyncio.Lock())
        async with turn:
            try:
                await self._handle(message, stream)
            except BrokenPipeError:
                raise  # nobody reads what we say any more
            except RagError as error:
                await stream.finish(Reply(text=str(error)))
            except (
                Exception
            ) as error:  # the edge towards people: a bug becomes a sentence with an id, and a log entry
                await stream.finish(Reply(text=telemetry.report(telemetry.unwrapped(error))))

    async def _handle(self, message: IncomingMessage, stream: MessageStream) -> None:
        received = [
            await self._receive(message.place, attachment, stream) for attachment in message.attachments
        ]
        if not message.text.strip():
            await stream.finish(Reply(text="\n".join(f"- {line}" for line in received) or _HELP))
            return
        scope = await self.scope_of(message.place)
        query = Query(
            text=message.text,
            knowledge_bases=scope.knowledge_bases,
            conversation=conversation(message.place),
            scope=scope.name,
            limit=self.passages,
        )
        async with aclosing(self.engine.answer(query)) as events:
            await streaming.relay(events, stream)

    async def _receive(self, place: Place, attachment: Attachment, stream: MessageStream) -> str:
        async def reading() -> None:
            await stream.show(Reply(status=f"Reading {attachment.name}…"))

        async def waiting(error: RagError) -> None:
            await stream.show(Reply(status=f"{attachment.name} is waiting: {error}"))

        await reading()
        try:
            with patient(Patience(seconds=self.patience_seconds, on_wait=waiting, on_resume=reading)):
                return sentence(await self.receive(place, attachment))
        except RagError as error:
            return f"{attachment.name}: {error}"


def conversation(place: Place) -> ConversationId:
    """The conversation a place holds: its thread, else its channel."""
    return ConversationId(":".join((place.platform, place.workspace, place.channel, place.thread)))


def sentence(ingested: Ingested) -> str:
    """What became of one file, as a person reads it."""
    record = ingested.record
    name = record.document.title
    if record.state == "failed":
        return f"{name}: {record.reason}"
    passages = "1 passage" if record.chunks == 1 else f"{record.chunks} passages"
    state = f"{passages}, searchable" if ingested.changed else f"{passages}, unchanged"
    return f"{name}: {state}" + (f" ({record.reason})" if record.reason else "")
