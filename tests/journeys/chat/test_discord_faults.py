"""Faults of Discord: `footnote run` with the real discord.py against the double."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from tests.doubles.discord_double.server import DiscordServer
from tests.journeys.chat.interrupted import answers_again, asked, half, taught
from tests.journeys.chat.scenario import Scenario, file, scenario

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def town(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scenario]:
    folder = tmp_path_factory.mktemp("discord_faults")
    async with scenario("discord", folder, FOOTNOTE_DISCORD__RETRY_SECONDS="0.1") as opened:
        yield opened


@pytest.fixture
def discord(town: Scenario) -> DiscordServer:
    assert isinstance(town.chat.server, DiscordServer)
    return town.chat.server


async def test_a_question_delivered_three_times_is_answered_once(
    town: Scenario, discord: DiscordServer
) -> None:
    begun = await half(town, "repeated")
    await discord.redeliver(begun.question)
    answer = await begun.whole()
    await discord.redeliver(begun.question)
    await answers_again(town, begun.room, "unrepeated")
    assert [each.id for each in town.ours("ben", begun.room, begun.question) if each.thread] == [answer.id]
    assert len([request for request in town.model.requests if " repeated logs" in request.text]) == 1


async def test_a_first_message_whose_confirmation_is_lost_is_posted_once(
    town: Scenario, discord: DiscordServer
) -> None:
    room = await taught(town)
    discord.fail("create_message", status=502, applied=True)
    question = await asked(town, room, "confirmed")
    (answer,) = await town.answered("ben", room, question)
    assert [each.id for each in town.chat.visible(town.chat.people["ben"], room, question) if each.ours] == [
        answer.id
    ]


async def test_an_edit_whose_confirmation_is_lost_is_done_again(
    town: Scenario, discord: DiscordServer
) -> None:
    begun = await half(town, "edited")
    discord.fail("edit_message", lost=True, applied=True)
    answer = await begun.whole()
    edits = [call for call in discord.calls_of("edit_message") if call.arguments["message"] == answer.id]
    lost = [number for number, call in enumerate(edits) if not call.status]
    await town.until(lambda: len(discord.calls_of("edit_message")) > lost[-1] + 1)
    assert answer.text.count("Logs are kept") == 1


async def test_discord_is_left_alone_for_as_long_as_it_says(town: Scenario, discord: DiscordServer) -> None:
    begun = await half(town, "throttled")
    discord.fail("edit_message", status=429, retry_after=1.0)
    answer = await begun.whole()
    edits = [call for call in discord.calls_of("edit_message") if call.arguments["message"] == answer.id]
    (refused,) = [number for number, call in enumerate(edits) if call.status == 429]
    assert edits[refused + 1].at - edits[refused].answered >= 1.0


@pytest.mark.parametrize("how", ["cut", "closed", "asked to reconnect", "session lost"])
async def test_an_answer_continues_while_the_connection_is_replaced(
    town: Scenario, discord: DiscordServer, how: str
) -> None:
    begun = await half(town, how.replace(" ", "-"))
    identified, resumed = discord.gateway.identified, discord.gateway.resumed
    if how == "cut":
        await discord.drop_connection()
    elif how == "closed":
        await discord.drop_connection(4000)
    elif how == "asked to reconnect":
        await discord.reconnect_requested()
    else:
        await discord.lose_session()
    await begun.whole()
    await town.until(lambda: (discord.gateway.identified, discord.gateway.resumed) != (identified, resumed))
    await answers_again(town, begun.room, f"after-{how.replace(' ', '-')}")
    assert (discord.gateway.identified > identified) == (how == "session lost")


async def test_what_was_asked_in_the_gap_is_answered(town: Scenario, discord: DiscordServer) -> None:
    room = await taught(town)
    await discord.reconnect_requested()
    question = await asked(town, room, "unheard")
    await town.answered("ben", room, question)


async def test_an_event_that_cannot_be_read_does_not_make_the_bot_deaf(
    town: Scenario, discord: DiscordServer
) -> None:
    begun = await half(town, "readable")
    identified = discord.gateway.identified + discord.gateway.resumed
    await discord.unparsable_dispatch()
    await begun.whole()
    assert discord.gateway.identified + discord.gateway.resumed == identified
    await answers_again(town, begun.room, "later")


async def test_an_answer_that_is_deleted_while_it_grows_stays_deleted(
    town: Scenario, discord: DiscordServer
) -> None:
    begun = await half(town, "deleted")
    (growing,) = [each for each in town.ours("ben", begun.room, begun.question) if each.thread]
    await discord.user_deletes(growing.id)
    begun.rest.set()
    await answers_again(town, begun.room, "undeleted")
    assert [each.text for each in town.ours("ben", begun.room, begun.question) if each.thread] == []


async def test_a_link_that_expired_is_asked_for_again(town: Scenario, discord: DiscordServer) -> None:
    discord.fail("download", status=404, body=b"This content is no longer available.")
    await taught(town)


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ({"status": 404, "body": b"This content is no longer available."}, "send the file again"),
        ({"status": 302, "headers": {"Location": "https://example.org/"}, "body": b""}, "send it again"),
    ],
)
async def test_a_file_that_discord_does_not_give_gets_a_sentence(
    town: Scenario, discord: DiscordServer, fault: dict[str, object], sentence: str
) -> None:
    room = town.room()
    discord.fail("download", times=-1, **fault)
    message = await town.says("ada", room, "@footnote", files=(file("plan.md", "# Plan\n\nWe go north.\n"),))
    await town.written("ada", room, message, sentence)
    discord.repair("download")


async def test_no_limit_was_broken_and_nobody_was_pinged(town: Scenario, discord: DiscordServer) -> None:
    """Last: covers the whole module."""
    assert discord.violations == []
    assert discord.pings == []
