"""One process serves Slack and Discord, and trouble on one does not affect the other."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from tests.doubles import chats
from tests.doubles.model_servers import openai_server
from tests.journeys.chat.interrupted import answers_again, asked, taught
from tests.journeys.chat.scenario import Scenario, running

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from tests.doubles.chats import Chat


@asynccontextmanager
async def both(
    folder: Path, slack: Chat, discord: Chat, **more: str
) -> AsyncGenerator[tuple[Scenario, Scenario]]:
    async with openai_server.serve() as model:
        settings = {
            "OPENAI_BASE_URL": model.base_url,
            "OPENAI_API_KEY": "sk-test",
            "FOOTNOTE_MODEL__NAME": "scripted",
            **slack.environment(),
            **more,
        }
        async with running(folder, discord, **settings) as bot:
            await discord.connected()
            yield (
                Scenario(chat=slack, model=model, bot=bot, folder=folder),
                Scenario(chat=discord, model=model, bot=bot, folder=folder),
            )


async def test_a_slack_that_is_down_keeps_nobody_on_discord_waiting(tmp_path: Path) -> None:
    async with chats.serve("slack") as slack, chats.serve("discord") as discord:
        slack.server.fail("auth.test", status=503, times=-1)
        async with both(tmp_path, slack, discord) as (on_slack, on_discord):
            await answers_again(on_discord, await taught(on_discord), "early")
            assert on_slack.chat.server.calls_of("auth.test")
            slack.server.repair()
            await slack.connected()
            await answers_again(on_slack, await taught(on_slack), "late")
            held = [
                slack.server.silence(method, times=-1) for method in ("chat.postMessage", "chat.startStream")
            ]
            room = await taught(on_discord)
            await asked(on_slack, on_slack.room(), "unwritten")
            await answers_again(on_discord, room, "undisturbed")
            for each in held:
                each.set()


async def test_what_one_platform_knows_the_other_does_not(tmp_path: Path) -> None:
    async with (
        chats.serve("slack") as slack,
        chats.serve("discord") as discord,
        both(tmp_path, slack, discord) as (on_slack, on_discord),
    ):
        await slack.connected()
        await taught(on_discord)
        room = on_slack.room()
        question = await on_slack.says("ben", room, "@footnote How long are logs kept?")
        told = await on_slack.written("ben", room, question, "/kb")
        assert "two weeks" not in told.text
        assert [request for request in on_slack.model.requests if request.task == "answer"] == []


async def test_a_token_that_is_revoked_ends_its_platform_and_not_the_other(tmp_path: Path) -> None:
    async with chats.serve("slack") as slack, chats.serve("discord") as discord:
        quick = {"FOOTNOTE_SLACK__HEARTBEAT_SECONDS": "0.2"}
        async with both(tmp_path, slack, discord, **quick) as (on_slack, on_discord):
            await slack.connected()
            room = await taught(on_discord)
            told = {
                "headers": {"Content-Type": "application/json"},
                "body": b'{"ok": false, "error": "token_revoked"}',
            }
            slack.server.fail("auth.test", status=200, times=-1, **told)
            await slack.server.wait_for(lambda: not slack.server.wire.connections, seconds=20)
            await answers_again(on_discord, room, "later")
            assert on_slack.bot.process.returncode is None
