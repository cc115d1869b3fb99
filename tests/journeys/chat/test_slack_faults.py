"""Faults of Slack: `footnote run` with the real slack-bolt against the double."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from tests.doubles.slack_double.server import SlackServer
from tests.journeys.chat.interrupted import answers_again, asked, half, taught
from tests.journeys.chat.scenario import Scenario, file, paced, scenario

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def town(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scenario]:
    quick = {"FOOTNOTE_SLACK__PING_SECONDS": "2", "FOOTNOTE_SLACK__DEAD_SECONDS": "2"}
    async with scenario("slack", tmp_path_factory.mktemp("slack_faults"), **quick) as opened:
        yield opened


@pytest.fixture
def slack(town: Scenario) -> SlackServer:
    assert isinstance(town.chat.server, SlackServer)
    return town.chat.server


async def test_a_person_who_stops_the_stream_by_slacks_own_button(town: Scenario, slack: SlackServer) -> None:
    """First: later tests use up the minute's streams."""
    room = await taught(town)
    more, never = asyncio.Event(), asyncio.Event()
    town.model.on(
        paced("Logs are kept ", more, "for two weeks or ", never, "so [1]."),
        task="answer",
        matching="stopped logs",
        times=1,
    )
    question = await town.says("ben", room, "@footnote How long are stopped logs kept?")
    await town.written("ben", room, question, "Logs are")
    (growing,) = [each for each in town.ours("ben", room, question) if each.thread]
    await slack.user_stops_stream(growing.id)
    more.set()  # the next write notices the stop
    stopped = await town.written("ben", room, question, "Stopped.")
    assert not stopped.streaming
    assert stopped.text.startswith("Logs are kept")
    assert "so" not in stopped.text.partition("Stopped.")[0].split()
    await answers_again(town, room, "unstopped")


async def test_a_question_delivered_three_times_is_answered_once(town: Scenario, slack: SlackServer) -> None:
    begun = await half(town, "repeated")
    await slack.redeliver(begun.question)
    answer = await begun.whole()
    await slack.redeliver(begun.question)
    await answers_again(town, begun.room, "unrepeated")
    assert [each.id for each in town.ours("ben", begun.room, begun.question) if each.thread] == [answer.id]
    assert len([request for request in town.model.requests if " repeated logs" in request.text]) == 1


@pytest.mark.parametrize("method", ["chat.startStream", "chat.appendStream", "chat.stopStream"])
async def test_a_call_whose_confirmation_is_lost_doubles_and_loses_nothing(
    town: Scenario, slack: SlackServer, method: str
) -> None:
    room = await taught(town)
    slack.fail(method, lost=True, applied=True)
    question = await asked(town, room, method.partition(".")[2])
    (answer,) = await town.answered("ben", room, question)
    assert answer.text.count("Logs are kept") == 1
    slack.repair(method)


async def test_the_final_write_honours_retry_after(town: Scenario, slack: SlackServer) -> None:
    begun = await half(town, "throttled")
    slack.fail("chat.stopStream", status=429, retry_after=1)
    answer = await begun.whole()
    refused, done = [call for call in slack.calls_of("chat.stopStream") if call.arguments["ts"] == answer.id]
    assert (refused.status, done.status) == (429, 200)
    assert done.at - refused.answered >= 1.0


async def test_growing_text_honours_retry_after(town: Scenario, slack: SlackServer) -> None:
    room, more, rest = await taught(town), asyncio.Event(), asyncio.Event()
    reply = paced("Logs are kept ", more, "for two weeks [1]. ", rest, "Backups for one year.")
    town.model.on(reply, task="answer", matching="growing logs", times=1)
    question = await town.says("ben", room, "@footnote How long are growing logs kept?")
    growing = await town.written("ben", room, question, "Logs are")
    slack.fail("chat.appendStream", status=429, retry_after=1)
    more.set()
    await town.written("ben", room, question, "two weeks")
    rest.set()
    await town.answered("ben", room, question)
    calls = [call for call in slack.calls_of("chat.appendStream") if call.arguments["ts"] == growing.id]
    (refused,) = [number for number, call in enumerate(calls) if call.status == 429]
    assert calls[refused + 1].at - calls[refused].answered >= 1.0


async def test_a_stream_that_slack_ends_in_the_middle_becomes_a_whole_message(
    town: Scenario, slack: SlackServer
) -> None:
    begun = await half(town, "expiring")
    (growing,) = [each for each in town.ours("ben", begun.room, begun.question) if each.thread]
    slack.world.messages[growing.id].stream.open = False
    answer = await begun.whole()
    assert answer.id == growing.id
    updates = [call for call in slack.calls_of("chat.update") if call.arguments["ts"] == answer.id]
    assert updates


async def test_an_answer_of_more_than_five_minutes_is_whole(town: Scenario, slack: SlackServer) -> None:
    begun = await half(town, "slow")
    slack.advance(400)
    answer = await begun.whole()
    assert answer.text.count("two weeks") == 1
    assert [call for call in slack.calls_of("chat.update") if call.arguments["ts"] == answer.id]


@pytest.mark.parametrize("how", ["cut", "warning", "refresh_requested", "link_disabled"])
async def test_an_answer_continues_while_a_connection_is_renewed(
    town: Scenario, slack: SlackServer, how: str
) -> None:
    begun = await half(town, how)
    opened = slack.wire.opened
    if how == "cut":
        slack.drop_connection()
    else:
        await slack.disconnect(how)
    await begun.whole()
    await town.until(lambda: slack.wire.opened > opened)
    await answers_again(town, begun.room, f"after-{how}")


async def test_a_handshake_that_is_refused_does_not_make_the_bot_deaf(
    town: Scenario, slack: SlackServer
) -> None:
    room = await taught(town)
    slack.wire.refused_handshakes = 3
    slack.drop_connection()
    await answers_again(town, room, "shaken")


async def test_an_answer_that_is_deleted_while_it_grows_stays_deleted(
    town: Scenario, slack: SlackServer
) -> None:
    begun = await half(town, "deleted")
    (growing,) = [each for each in town.ours("ben", begun.room, begun.question) if each.thread]
    await slack.user_deletes(growing.id)
    begun.rest.set()
    await answers_again(town, begun.room, "undeleted")
    assert [each.text for each in town.ours("ben", begun.room, begun.question) if each.thread] == []


async def test_a_login_page_is_not_taken_for_the_file(town: Scenario, slack: SlackServer) -> None:
    room = town.room()
    slack.login_pages = True
    message = await town.says("ada", room, "@footnote", files=(file("plan.md", "# Plan\n\nWe go north.\n"),))
    await town.written("ada", room, message, "files:read")
    slack.login_pages = False


async def test_files_of_a_mention_are_read_while_look_ups_fail(town: Scenario, slack: SlackServer) -> None:
    """The mention is acknowledged before the message with the file is sent."""
    methods, subscribed = ("conversations.history", "conversations.replies"), set(slack.subscriptions)
    for method in methods:
        slack.fail(method, status=429, retry_after=30, times=-1)
    room = town.room()
    slack.subscriptions = {"app_mention"}
    question = await town.says("ada", room, "@footnote", files=(file("plan.md", "# Plan\n\nWe go north.\n"),))
    await town.until(lambda: slack.wire.deliveries[-1].done.is_set())
    slack.subscriptions = subscribed - {"app_mention"}
    slack.announce(slack.world.messages[question])
    slack.subscriptions = subscribed
    await town.written("ada", room, question, "`plan.md`: 1 passage, searchable")
    for method in methods:
        slack.repair(method)


async def test_an_answer_whose_blocks_are_refused_is_whole_and_can_be_checked(
    town: Scenario, slack: SlackServer
) -> None:
    body = b'{"ok": false, "error": "invalid_blocks"}'

    def has_text_in_blocks(arguments: Mapping[str, object]) -> bool:
        return "two weeks" in str(arguments.get("blocks")) and "'markdown'" in str(arguments)

    for method in ("chat.postMessage", "chat.update", "chat.stopStream"):
        slack.fail(
            method,
            status=200,
            body=body,
            headers={"Content-Type": "application/json"},
            when=has_text_in_blocks,
            times=-1,
        )
    slack.fail(
        "chat.startStream",
        status=200,
        body=b'{"ok": false, "error": "channel_type_not_supported"}',
        headers={"Content-Type": "application/json"},
        times=-1,
    )
    await answers_again(town, await taught(town), "unformatted")
    assert any("'section'" in str(call.arguments) for call in slack.calls)
    slack.repair()


async def test_no_limit_was_broken_and_nobody_was_pinged(town: Scenario, slack: SlackServer) -> None:
    """Last: covers the whole module."""
    assert slack.windows.violations == []
    assert slack.pings == []
