"""Every fault of a language model: the answer is quoted or marked, once, and the next question is answered."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from tests.doubles.model_servers.openai_server import CUT, Reply, chunk, refused, streamed
from tests.journeys.chat.interrupted import answers_again, taught

if TYPE_CHECKING:
    from tests.journeys.chat.scenario import Scenario

pytestmark = pytest.mark.asyncio(loop_scope="module")

SETTINGS = {
    "FOOTNOTE_MODEL__FIRST_TOKEN_SECONDS": "2",
    "FOOTNOTE_MODEL__BETWEEN_TOKENS_SECONDS": "2",
    "FOOTNOTE_MODEL__BACK_OFF_SECONDS": "0.01",
    "FOOTNOTE_BREAKERS__FAILURES": "1000",
}
BEGUN = chunk({"content": "Logs are kept for two weeks [1]. And when the"})

BEFORE = {
    "refuses the key": (refused(401), "refuses our key"),
    "knows no such model": (refused(404), "was not found"),
    "has too much to do": (refused(429, headers={"Retry-After": "60"}), "asks us to slow down"),
    "is broken": (refused(500), "is out of order"),
    "is away": (refused(503), "is out of order"),
    "hangs up": (Reply(parts=[CUT]), "broke off"),
    "stalls": (Reply(parts=[asyncio.Event()]), "takes too long"),
    "talks nonsense": (Reply(parts=[b"data: {nonsense\n\n"]), "broke off"),
    "is a web page": (
        Reply(parts=[b"<html>Sign in</html>"], headers={"Content-Type": "text/html"}),
        "A web page answered",
    ),
    "says nothing": (streamed(""), "empty answer"),
    "filters": (streamed("", finish="content_filter"), "content filter"),
}
IN_THE_MIDDLE = {
    "hangs up": [CUT],
    "stalls": [asyncio.Event()],
    "talks nonsense": [b"data: {nonsense\n\n", CUT],
    "fails": [b'data: {"error": {"message": "boom"}}\n\n'],
    "filters": [chunk(finish="content_filter")],
    "has no room left": [chunk(finish="length")],
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def room(town: Scenario) -> str:
    """One bot for all: platforms limit posts per minute."""
    return await taught(town)


async def asked(town: Scenario, room: str, reply: Reply, which: str) -> str:
    town.model.on(reply, task="answer", matching=f" {which} logs")
    return await town.says("ben", room, f"@footnote How long are {which} logs kept?")


@pytest.mark.parametrize("fault", BEFORE)
async def test_a_model_that_does_not_begin_is_replaced(town: Scenario, room: str, fault: str) -> None:
    reply, told = BEFORE[fault]
    which = f"early{list(BEFORE).index(fault):02}"
    question = await asked(town, room, reply, which)
    (answer,) = await town.answered("ben", room, question)
    assert "two weeks" in answer.text
    assert told in answer.text
    assert "The best passages are quoted instead." in answer.text
    await answers_again(town, room, f"next{which}")


@pytest.mark.parametrize("fault", IN_THE_MIDDLE)
async def test_a_model_that_breaks_off_leaves_its_text_marked(town: Scenario, room: str, fault: str) -> None:
    which = f"late{list(IN_THE_MIDDLE).index(fault):02}"
    question = await asked(town, room, Reply(parts=[BEGUN, *IN_THE_MIDDLE[fault]]), which)
    (answer,) = await town.answered("ben", room, question)
    assert answer.text.startswith("Logs are kept for two weeks [1]. And when the")
    assert answer.text.count("The answer broke off: ") == 1
    await answers_again(town, room, f"next{which}")
