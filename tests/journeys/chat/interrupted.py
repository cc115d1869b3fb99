"""An answer that pauses in the middle."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.doubles.model_servers.openai_server import streamed
from tests.journeys.chat.scenario import paced

if TYPE_CHECKING:
    from tests.doubles.chat_server import Shown
    from tests.journeys.chat.scenario import Scenario

HANDBOOK = "# Logs\n\nLogs are kept for two weeks. Backups are kept for one year.\n"
WHOLE = "Logs are kept for two weeks [1]."


@dataclass(frozen=True, slots=True, kw_only=True)
class Half:
    """`rest` releases the second half."""

    town: Scenario
    room: str
    question: str
    rest: asyncio.Event

    async def whole(self) -> Shown:
        self.rest.set()
        (answer,) = await self.town.answered("ben", self.room, self.question)
        assert answer.text.startswith(WHOLE)
        return answer


async def taught(town: Scenario) -> str:
    room = town.room()
    await town.knows(room, HANDBOOK)
    return room


async def half(town: Scenario, which: str) -> Half:
    """Ask in a new channel and wait for the first half; the log kind tells questions apart."""
    room = await taught(town)
    rest = asyncio.Event()
    town.model.on(
        paced("Logs are kept ", rest, "for two weeks [1]."), task="answer", matching=f"{which} logs", times=1
    )
    question = await town.says("ben", room, f"@footnote How long are {which} logs kept?")
    await town.written("ben", room, question, "Logs are")
    return Half(town=town, room=room, question=question, rest=rest)


async def asked(town: Scenario, room: str, which: str) -> str:
    town.model.on(streamed(WHOLE), task="answer", matching=f"{which} logs", times=1)
    return await town.says("ben", room, f"@footnote How long are {which} logs kept?")


async def answers_again(town: Scenario, room: str, which: str) -> None:
    """The next question is answered, once."""
    question = await asked(town, room, which)
    (answer,) = await town.answered("ben", room, question)
    assert answer.text.startswith(WHOLE)
