"""`footnote run`, killed while a tool of the operator is called and after it: the call is not made again."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from tests.doubles.chats import PLATFORMS
from tests.doubles.model_servers.openai_server import streamed
from tests.faults.mortal import mortal
from tests.journeys.chat.scenario import paced
from tests.unit.models.test_openai_tools import called, part
from tests.unit.operator_tools.test_http_tools import service

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = json.dumps({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]})


@pytest.mark.parametrize(
    ("path", "moment"), [("slow", "during"), ("weather", "after"), ("weather", "answer")]
)
@pytest.mark.parametrize("platform", PLATFORMS)
async def test_a_call_is_not_made_again(platform: str, path: str, moment: str, tmp_path: Path) -> None:
    async with service() as here:
        settings = {
            "FOOTNOTE_TOOLS__HTTP__ORDER__URL": f"{here.url}/{path}/{{city}}",
            "FOOTNOTE_TOOLS__HTTP__ORDER__METHOD": "POST",
            "FOOTNOTE_TOOLS__HTTP__ORDER__DESCRIPTION": "Orders a taxi.",
            "FOOTNOTE_TOOLS__HTTP__ORDER__ARGUMENTS": SCHEMA,
        }
        async with mortal(platform, tmp_path, **settings) as bot:
            town, model = bot.town, bot.town.model
            room = town.room()
            await town.commands("ada", room, "/kb settings tools:all")
            await town.knows(room, "Taxis are ordered in Rome.")
            order = called([part(0, "order", '{"city": "Rome"}', "a")])
            model.on(order, task="agent", times=1)
            if moment == "after":
                model.on(paced(asyncio.Event()), task="agent", times=1)
            model.on(streamed("done"), task="agent")
            if moment == "answer":
                model.on(paced("It is ", asyncio.Event()), task="answer", times=1)
            model.on(streamed("It is ordered [1]."), task="answer")
            question = await town.says("ben", room, "@footnote tools: order a taxi in Rome")
            seen = {"during": 1, "after": 2, "answer": 2}[moment]
            await town.until(
                lambda: (
                    here.seen
                    and len([one for one in model.requests if one.task == "agent"]) >= seen
                    and (moment != "answer" or any(one.task == "answer" for one in model.requests))
                )
            )
            await bot.kill()
            await bot.start()
            await town.chat.redelivers(question)
            await bot.settled(question)
            (answer,) = await town.answered("ben", room, question)
            assert "It is ordered" in answer.text
        assert [one[:2] for one in here.seen] == [("POST", f"/{path}/Rome")]
        replies = [one for one in model.requests if one.task == "agent"]
        if moment == "during":
            assert "is not made again" in json.dumps(replies[-1].body)
        else:
            assert "temperature" in json.dumps(
                [one for one in model.requests if one.task == "answer"][-1].body
            )
