"""Discord tells nobody what was written while no process ran: the next one finds the questions, and answers each once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.doubles.model_servers.openai_server import streamed
from tests.faults.mortal import mortal
from tests.journeys.chat.interrupted import HANDBOOK, WHOLE, answers_again

if TYPE_CHECKING:
    from pathlib import Path


async def test_questions_in_a_channel_and_in_private(tmp_path: Path) -> None:
    async with mortal("discord", tmp_path) as bot:
        town = bot.town
        room, direct = town.room(), town.direct("ben")
        await town.knows(room, HANDBOOK)
        await town.answered("ben", direct, await town.says("ben", direct, "How long are early logs kept?"))
        await bot.kill()
        town.model.on(streamed(WHOLE), task="answer", matching="away logs")
        in_room = await town.says("ben", room, "@footnote How long are away logs kept?")
        in_private = await town.says("ben", direct, "How long are away logs kept?")
        await bot.start()
        await bot.settled(in_room, in_private)
        (answer,) = await town.answered("ben", room, in_room)
        assert answer.text.startswith(WHOLE)
        (private,) = await town.answered("ben", direct, in_private)
        await answers_again(town, room, "later")
        assert bot.in_thread(room, in_room) == [answer]
        assert town.ours("ben", direct, in_private) == [private]
