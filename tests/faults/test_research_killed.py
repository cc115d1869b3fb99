"""`footnote run`, killed at ten moments of a research: it goes on from what it found, with one answer in one message."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from tests.doubles.chats import PLATFORMS
from tests.doubles.model_servers.openai_server import streamed
from tests.faults.mortal import Calls, Mortal, mortal
from tests.faults.test_turn_killed import CREATE, END, GROW
from tests.journeys.chat.scenario import has, paced

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.doubles.model_servers.openai_server import Reply

pytestmark = pytest.mark.asyncio(loop_scope="module")

FILES = {
    "logs.md": "Logs are kept for two weeks in the cellar.",
    "backups.md": "Backups are kept for one year in the vault.",
    "contracts.md": "The tower holds contracts: ten years of contracts, all contracts.",
}
FACTS = {"logs": FILES["logs.md"], "backups": FILES["backups.md"], "contracts": FILES["contracts.md"]}
REPORT = "Logs are kept for two weeks in the cellar. Backups are kept for one year in the vault."
MOMENTS = (
    "created",
    "grown",
    "subqueries",
    "extract logs",
    "extract backups",
    "sufficiency 1",
    "extract contracts",
    "sufficiency 2",
    "answer",
    "ended",
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bot(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Mortal]:
    folder = tmp_path_factory.mktemp(f"research_{request.param}")
    async with mortal(request.param, folder, FOOTNOTE_RESEARCH__READ="2") as opened:
        yield opened


def scripted(bot: Mortal, which: str, moment: str) -> None:
    """The replies for the question about these papers; the one of the moment never ends, once."""
    model = bot.town.model

    def on(name: str, reply: Reply, *, task: str, matching: str) -> None:
        if name == moment:
            held = paced("Logs are kept ", asyncio.Event()) if task == "answer" else paced(asyncio.Event())
            model.on(held, task=task, matching=matching, times=1)
        model.on(reply, task=task, matching=matching)

    parts = [f"How long are {which} logs kept?", f"How long are {which} backups kept?"]
    on("subqueries", said(questions=parts), task="subqueries", matching=which)
    for subject, fact in FACTS.items():
        facts = said(facts=[{"fact": fact, "passages": [1, 2]}])
        on(
            f"extract {subject}",
            facts,
            task="extract",
            matching=rf"Part:\S{{0,4}}How long are {which} {subject}",
        )
    on("sufficiency 2", said(sufficient=True), task="sufficiency", matching=f"{which} contracts")
    further = said(
        sufficient=False, missing=["contracts"], questions=[f"How long are {which} contracts kept?"]
    )
    on("sufficiency 1", further, task="sufficiency", matching=which)
    on("answer", streamed(REPORT), task="answer", matching=which)


def said(**values: object) -> Reply:
    return streamed(json.dumps(values))


async def reached(bot: Mortal, moment: str, which: str, room: str, question: str) -> None:
    town = bot.town
    if moment == "ended":
        await town.until(lambda: [each for each in bot.in_thread(room, question) if has(each, "Regenerate")])
    else:
        task, _, subject = moment.partition(" ")
        count = int(subject) if subject.isdecimal() else 1
        words = which if subject.isdecimal() or not subject else f"How long are {which} {subject}"
        asked = town.model.requests
        await town.until(
            lambda: len([one for one in asked if one.task == task and words in one.text]) >= count, 60
        )


@pytest.mark.parametrize(
    ("bot", "moment"),
    [(platform, moment) for platform in PLATFORMS for moment in MOMENTS],
    indirect=["bot"],
    scope="module",
)
async def test_killed_in_a_research_it_goes_on_with_one_answer(bot: Mortal, moment: str) -> None:
    town = bot.town
    platform = town.chat.platform
    which = f"kind{MOMENTS.index(moment)}"
    room = town.room()
    for name, text in FILES.items():
        await town.knows(room, text, name=name)
    scripted(bot, which, moment)
    method = CREATE[platform] if moment == "created" else GROW[platform]
    calls = Calls(bot, method)
    if moment in ("created", "grown"):
        town.chat.server.fail(method, status=500, hold=asyncio.Event(), times=-1)
    elif moment == "ended":
        withheld = asyncio.Event()
        town.chat.server.fail(
            END[platform], withheld=withheld, when=lambda arguments: "Regenerate" in str(arguments)
        )
    question = await town.says("ben", room, f"@footnote /research How long are {which} papers kept?")
    if moment in ("created", "grown"):
        await calls.waiting()
    else:
        await reached(bot, moment, which, room, question)
    await bot.kill()
    town.chat.server.repair()
    await bot.start()
    await town.chat.redelivers(question)
    await bot.settled(question)
    (answer,) = await town.answered("ben", room, question)
    assert all(said in answer.text for said in ("two weeks in the cellar", "one year in the vault"))
    assert bot.in_thread(room, question) == [answer]
    assert bot.states(question) == ["final"]
    plans = [one for one in town.model.requests if one.task == "subqueries" and which in one.text]
    assert len(plans) == (2 if moment == "subqueries" else 1)
    if moment in ("sufficiency 2", "answer", "ended"):
        extracts = [one for one in town.model.requests if one.task == "extract" and which in one.text]
        assert len(extracts) == len(FACTS)
