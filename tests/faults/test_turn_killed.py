"""`footnote run`, killed in each state of an answer: after the restart there is one answer, in one message, once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from bot.messages import say
from tests.doubles.chats import PLATFORMS
from tests.doubles.model_servers.openai_server import streamed
from tests.doubles.slack_double.events import MESSAGES
from tests.doubles.slack_double.server import SlackServer
from tests.faults.mortal import Calls, Mortal, mortal
from tests.journeys.chat.interrupted import HANDBOOK, WHOLE, answers_again
from tests.journeys.chat.scenario import has, paced

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.doubles.chat_server import Shown

pytestmark = pytest.mark.asyncio(loop_scope="module")

CREATE = {"slack": "chat.startStream", "discord": "create_message"}
GROW = {"slack": "chat.appendStream", "discord": "edit_message"}
PRIVATE = {"slack": "response_url", "discord": "edit_by_token"}
END = {"slack": "chat.stopStream", "discord": "edit_message"}


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=PLATFORMS)
async def bot(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Mortal]:
    async with mortal(request.param, tmp_path_factory.mktemp(f"killed_{request.param}")) as opened:
        yield opened


async def asked(bot: Mortal, which: str) -> tuple[str, str]:
    """A question in a channel of its own, whose answer comes in one go: the channel and the message."""
    town = bot.town
    room = town.room()
    await town.knows(room, HANDBOOK)
    town.model.on(streamed(WHOLE), task="answer", matching=f"{which} logs")
    return room, await town.says("ben", room, f"@footnote How long are {which} logs kept?")


async def one_answer(bot: Mortal, room: str, question: str, which: str) -> None:
    """It is answered, and stays the only answer while the next question is."""
    await bot.settled(question)
    (answer,) = await bot.town.answered("ben", room, question)
    assert answer.text.startswith(WHOLE)
    await answers_again(bot.town, room, f"after-{which}")
    (still,) = bot.in_thread(room, question)
    assert (still.id, still.text, still.streaming) == (answer.id, answer.text, False)
    assert bot.states(question) == ["final"]


async def after_a_restart(
    bot: Mortal, room: str, question: str, which: str, *, told_again: bool = True
) -> None:
    await bot.kill()
    bot.town.chat.server.repair()
    await bot.start()
    if told_again:
        await bot.town.chat.redelivers(question)
    await one_answer(bot, room, question, which)


async def test_killed_after_the_claim_before_the_first_post(bot: Mortal) -> None:
    create = CREATE[bot.town.chat.platform]
    room = bot.town.room()
    await bot.town.knows(room, HANDBOOK)
    calls = Calls(bot, create)
    bot.town.chat.server.fail(create, status=500, hold=asyncio.Event())
    bot.town.model.on(streamed(WHOLE), task="answer", matching="claimed logs")
    question = await bot.town.says("ben", room, "@footnote How long are claimed logs kept?")
    await calls.waiting()
    assert bot.states(question) == ["received"]
    assert bot.in_thread(room, question) == []
    await after_a_restart(bot, room, question, "claimed")


async def test_killed_after_the_first_post_before_its_confirmation(bot: Mortal) -> None:
    create = CREATE[bot.town.chat.platform]
    room = bot.town.room()
    await bot.town.knows(room, HANDBOOK)
    bot.town.chat.server.fail(create, withheld=asyncio.Event())
    bot.town.model.on(streamed(WHOLE), task="answer", matching="posted logs")
    question = await bot.town.says("ben", room, "@footnote How long are posted logs kept?")
    await bot.town.until(lambda: bot.in_thread(room, question))
    assert bot.states(question) == ["received"]
    await after_a_restart(bot, room, question, "posted")


async def test_killed_after_the_first_post_was_recorded(bot: Mortal) -> None:
    grow = GROW[bot.town.chat.platform]
    room = bot.town.room()
    await bot.town.knows(room, HANDBOOK)
    calls = Calls(bot, grow)
    bot.town.chat.server.fail(grow, status=500, hold=asyncio.Event(), times=-1)
    bot.town.model.on(streamed(WHOLE), task="answer", matching="known logs")
    question = await bot.town.says("ben", room, "@footnote How long are known logs kept?")
    await bot.town.until(lambda: bot.in_thread(room, question))
    await calls.waiting()
    await after_a_restart(bot, room, question, "known")


async def test_killed_in_mid_stream(bot: Mortal) -> None:
    first = paced("Logs are kept ", asyncio.Event(), "for ever.")
    bot.town.model.on(first, task="answer", matching="streamed logs", times=1)
    room, question = await asked(bot, "streamed")
    await bot.town.written("ben", room, question, "Logs are")
    await bot.town.until(lambda: bot.states(question) == ["streaming"])
    await after_a_restart(bot, room, question, "streamed")


async def test_killed_after_the_final_edit_before_its_confirmation(bot: Mortal) -> None:
    end = END[bot.town.chat.platform]
    room = bot.town.room()
    await bot.town.knows(room, HANDBOOK)
    bot.town.chat.server.fail(
        end, withheld=asyncio.Event(), when=lambda arguments: "Regenerate" in str(arguments)
    )
    bot.town.model.on(streamed(WHOLE), task="answer", matching="told logs")
    question = await bot.town.says("ben", room, "@footnote How long are told logs kept?")
    await bot.town.until(lambda: [each for each in bot.in_thread(room, question) if has(each, "Regenerate")])
    assert bot.states(question) == ["streaming"]
    await after_a_restart(bot, room, question, "told")


async def test_killed_after_the_acknowledgement_before_the_claim(bot: Mortal) -> None:
    """Slack got its acknowledgement and does not deliver the event again; Discord never does."""
    server = bot.town.chat.server
    room = bot.town.room()
    await bot.town.knows(room, HANDBOOK)
    await answers_again(bot.town, room, "before")  # so that it is known until when Discord was heard
    if isinstance(server, SlackServer):  # it waits for the message that comes with every mention
        server.subscriptions -= set(MESSAGES.values())
    bot.town.model.on(streamed(WHOLE), task="answer", matching="heard logs")
    question = await bot.town.says("ben", room, "@footnote How long are heard logs kept?")
    if isinstance(server, SlackServer):
        await bot.town.until(lambda: server.wire.deliveries[-1].done.is_set())
        assert bot.states(question) == []
        server.subscriptions |= set(MESSAGES.values())
    await after_a_restart(bot, room, question, "heard", told_again=False)


async def test_a_private_answer_while_it_streams(bot: Mortal) -> None:
    town = bot.town
    room = town.room()
    await town.knows(room, HANDBOOK)
    waiting = paced("Logs are kept ", asyncio.Event(), "for ever.")
    town.model.on(waiting, task="answer", matching="private logs", times=1)
    town.model.on(streamed(WHOLE), task="answer", matching="private logs")
    before = len(town.model.requests)
    await town.commands("ben", room, "/ask How long are private logs kept?")
    await town.model.arrival(before + 1)
    await bot.kill()
    await bot.start()
    await town.until(lambda: [each for each in private(bot, room) if each.text.startswith(WHOLE)])
    await answers_again(town, room, "after-private")
    (answer,) = [each for each in private(bot, room) if has(each, "Regenerate")]
    assert answer.text.startswith(WHOLE)


async def test_a_command_reports_that_it_was_interrupted(bot: Mortal) -> None:
    reply = PRIVATE[bot.town.chat.platform]
    room = bot.town.room()
    calls = Calls(bot, reply)
    bot.town.chat.server.fail(reply, status=500, hold=asyncio.Event(), times=-1)
    await bot.town.commands("ben", room, "/kb show")
    await calls.waiting()
    await bot.kill()
    bot.town.chat.server.repair()
    await bot.start()
    await bot.town.until(lambda: private(bot, room))
    (told,) = private(bot, room)
    assert told.text == say("restarted", "en")


def private(bot: Mortal, room: str) -> list[Shown]:
    """What ben alone was told, and does not look as if more would come."""
    return [each for each in bot.town.ours("ben", room) if each.only_for and each.text.strip()]
