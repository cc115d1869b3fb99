"""What a program that was killed left, put into the database by hand, and an adapter that finds messages again."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from bot.messages import say
from bot.port import IncomingMessage, Page, Reply, Write
from bot.store.turns import ChatTurn
from tests.unit.bot.chatting import Here, Outlet, world
from tests.unit.bot.conversation.leave import LEAVE

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from tests.unit.bot.chatting import World

ANSWER = "You have 28 days [1]."
INTERRUPTED = say("interrupted", "en")
RESTARTED = say("restarted", "en")


@asynccontextmanager
async def interrupted(tmp_path: Path) -> AsyncGenerator[World]:
    """A world with one file, and a model that answers from it."""
    async with world(tmp_path) as made:
        await made.file("leave.md", LEAVE)
        made.says(ANSWER)
        yield made


@dataclass
class Platform:
    """An adapter's way back to messages."""

    here: World
    faults: list[Exception] = field(default_factory=list)
    """Raised by the next lookups, one each."""
    gate: asyncio.Event | None = None
    """Nothing is answered before it is set."""
    asked: list[str] = field(default_factory=list)
    looking: asyncio.Event = field(default_factory=asyncio.Event)

    async def recall(self, kept: IncomingMessage) -> tuple[IncomingMessage | None, Here]:
        self.asked.append(kept.id)
        self.looking.set()
        if self.gate is not None:
            await self.gate.wait()
        if self.faults:
            raise self.faults.pop(0)
        now = next((said for said in self.here.chat.said if said.id == kept.id), None)
        return now, Here(self.here.chat, kept.place, now)

    async def resumes(self) -> None:
        async with asyncio.timeout(10):
            await self.here.service.resume("test", self.recall)


async def left(
    here: World, message: IncomingMessage, state: str, *, shows: Page | None = None, **values: object
) -> ChatTurn:
    """The turn of a message as a killed program left it; `shows`: the text in its place."""
    turn = ChatTurn(
        place=message.place,
        message=message.id,
        person=message.person,
        question=message.text,
        asked_at=message.at,
        private=message.private,
        **values,
    )
    assert await here.turns.claim(turn)
    if shows is not None:
        outlet = Outlet(here.chat, message.place, message.person if message.private else None, ())
        posted = await outlet.write(Write(part=0, page=shows, route="plain"))
        turn = replace(turn, messages=(posted,))
    turn = replace(turn, state=state)
    await here.turns.save(turn)
    return turn


async def now(here: World, turn: ChatTurn) -> ChatTurn:
    found = await here.turns.find(turn.id)
    assert found is not None
    return found


def page(**values: object) -> Page:
    return Page(reply=Reply(**values), **values)
