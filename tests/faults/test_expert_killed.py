"""`footnote run`, killed in every state of a question to experts: nothing is lost, nothing comes twice.

draft, sending, waiting, handing, asking, asked, replying, answered (with a file), delivered, declined, withdrawn.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from tests.doubles.chats import PLATFORMS
from tests.faults.mortal import Mortal, mortal
from tests.journeys.chat.expert_scenes import Scene, experts_of, posts, preview, sent
from tests.journeys.chat.scenario import file, has, words

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable

    from tests.doubles.chat_server import Shown

pytestmark = pytest.mark.asyncio(loop_scope="module")

POST = {"slack": "chat.postMessage", "discord": "create_message"}
EDIT = {"slack": "chat.update", "discord": "edit_message"}


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=PLATFORMS)
async def bot(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Mortal]:
    async with mortal(request.param, tmp_path_factory.mktemp(f"experts_{request.param}")) as opened:
        yield opened


def state(bot: Mortal, subject: str) -> str:
    path = bot.town.folder / "data" / "chat.sqlite"
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute(
            "SELECT state FROM expert_requests WHERE instr(question, ?)", (subject,)
        ).fetchall()
    return str(rows[0][0]) if rows else ""


async def becomes(bot: Mortal, subject: str, wanted: str) -> None:
    await bot.town.stores(lambda: state(bot, subject) == wanted, seconds=60)


async def again(bot: Mortal) -> None:
    """Killed and started on what was left."""
    await bot.kill()
    await bot.start()


async def restarted_and_caught_up(bot: Mortal, room: str) -> None:
    """On Discord the new process has read the latest messages of the room."""
    server = bot.town.chat.server
    await bot.kill()
    before = len(server.calls_of("list_messages"))
    await bot.start()
    if bot.town.chat.platform == "discord":
        await bot.town.until(
            lambda: any(
                call.arguments["channel"] == room for call in server.calls_of("list_messages")[before:]
            )
        )


async def killed_during(bot: Mortal, method: str, act: Awaitable[object]) -> None:
    """What people do leads to a call of the method; the process dies before it is answered."""
    server = bot.town.chat.server
    held = server.silence(method, times=1)
    before = len(server.calls_of(method))
    await act
    await bot.town.until(lambda: len(server.calls_of(method)) > before)
    await bot.kill()
    held.set()
    await bot.start()


async def waiting(bot: Mortal, subject: str, experts: int = 1) -> tuple[Scene, list[str], Shown]:
    """A question that its experts have: the scene, their channels, and its first post."""
    town = bot.town
    room, channels = town.room(), [town.room() for _ in range(experts)]
    await experts_of(town, room, *channels)
    scene = await sent(town, room, subject)
    await becomes(bot, subject, "waiting")
    return scene, channels, await scene.post(channels[0])


async def test_draft_sending_and_waiting(bot: Mortal) -> None:
    town = bot.town
    room, experts = town.room(), town.room()
    await experts_of(town, room, experts)
    question, shown = await preview(town, room, "archive")
    await again(bot)
    assert posts(town, experts, "archive") == []
    await killed_during(bot, POST[town.chat.platform], town.clicks("ben", shown, "Send"))
    await becomes(bot, "archive", "waiting")
    assert len(posts(town, experts, "archive")) == 1
    await again(bot)
    (asked,) = posts(town, experts, "archive")
    hints = [
        each for each in town.ours("cleo", experts, asked.id) if "Please answer in this thread" in words(each)
    ]
    assert len(hints) == 1
    await town.says("cleo", experts, "Ada has it.", thread=asked.id)
    await becomes(bot, "archive", "delivered")
    answers = [each for each in town.ours("ben", room, question) if "Ada has it." in words(each)]
    assert len(answers) == 1


async def test_an_answer_with_a_file_comes_back(bot: Mortal) -> None:
    town = bot.town
    scene, (experts,), asked = await waiting(bot, "cellar")
    plan = file("plan.md", "# Plan\n\nThe cellar is below the mill.\n")
    says = scene.says(experts, asked, "Ada has it.", files=(plan,))
    await killed_during(bot, POST[town.chat.platform], says)
    await becomes(bot, "cellar", "delivered")
    (back,) = scene.back("Ada has it.")
    assert "cleo answers" in words(back)
    assert scene.back("plan.md [2]") == [back]
    assert has(back, "Save as verified")
    await again(bot)
    assert len(scene.back("Ada has it.")) == 1
    receipts = [each for each in town.ours("cleo", experts, asked.id) if "as your answer" in words(each)]
    assert len(receipts) == 1


async def test_a_hand_over_and_a_refusal(bot: Mortal) -> None:
    town = bot.town
    scene, (first, second), asked = await waiting(bot, "garage", experts=2)
    method = POST[town.chat.platform]
    await killed_during(bot, method, town.clicks("cleo", asked, "I cannot answer"))
    await becomes(bot, "garage", "waiting")
    assert len(posts(town, first, "garage")) == 1
    (handed,) = posts(town, second, "garage")
    await killed_during(bot, method, town.clicks("cleo", handed, "I cannot answer"))
    await becomes(bot, "garage", "closed")
    assert len(scene.back("could not answer")) == 1


async def test_a_question_back_and_its_reply(bot: Mortal) -> None:
    town = bot.town
    scene, (experts,), asked = await waiting(bot, "studio")
    method = POST[town.chat.platform]
    await killed_during(bot, method, scene.says(experts, asked, "Which door?"))
    await becomes(bot, "studio", "asked")
    assert len(scene.back("cleo asks about")) == 1
    await again(bot)
    reply = town.says("ben", scene.room, "The blue one.", thread=scene.question)
    await killed_during(bot, method, reply)
    await becomes(bot, "studio", "waiting")
    brought = [each for each in town.ours("cleo", experts, asked.id) if "The blue one." in words(each)]
    assert len(brought) == 1
    await scene.says(experts, asked, "Ada has it.")
    await becomes(bot, "studio", "delivered")
    assert len(scene.back("Ada has it.")) == 1
    assert len(scene.back("cleo asks about")) == 1


async def test_what_discord_gives_again_after_a_restart_is_nobodys_reply(bot: Mortal) -> None:
    town = bot.town
    scene, (experts,), asked = await waiting(bot, "attic")
    await scene.says(experts, asked, "Which door?")
    await becomes(bot, "attic", "asked")
    await restarted_and_caught_up(bot, scene.room)
    await town.says("ben", scene.room, "The blue one.", thread=scene.question)
    await becomes(bot, "attic", "waiting")
    await scene.says(experts, asked, "Which side?")
    await becomes(bot, "attic", "asked")
    await restarted_and_caught_up(bot, experts)
    await town.says("ben", scene.room, "The left one.", thread=scene.question)
    await becomes(bot, "attic", "waiting")
    below = [words(each) for each in town.ours("cleo", experts, asked.id)]
    brought = [text for text in below if "ben replies" in text]
    assert len(brought) == 2, below
    assert ("The blue one." in brought[0], "The left one." in brought[1]) == (True, True)
    assert len(scene.back("cleo asks about")) == 2


async def test_a_withdrawal(bot: Mortal) -> None:
    town = bot.town
    scene, (experts,), asked = await waiting(bot, "tower")
    await killed_during(bot, EDIT[town.chat.platform], town.clicks("ben", scene.told, "Withdraw"))
    await becomes(bot, "tower", "closed")
    assert "is withdrawn" in words(posts(town, experts, "tower")[0])
    await scene.says(experts, asked, "Ada has it.")
    await again(bot)
    assert scene.back("Ada has it.") == []
