"""Readiness per platform, while one of two is down."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from tests.doubles import chats
from tests.doubles.fetching import answered, fetch
from tests.journeys.chat.interrupted import answers_again, taught
from tests.journeys.chat.test_both_platforms import both

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.journeys.chat.scenario import Bot

QUICK = {
    "FOOTNOTE_METRICS__PORT": "0",
    "FOOTNOTE_METRICS__DEAF_SECONDS": "0.5",
    "FOOTNOTE_SLACK__HEARTBEAT_SECONDS": "0.2",
    "FOOTNOTE_DISCORD__RETRY_SECONDS": "0.2",
    "FOOTNOTE_DISCORD__DEAD_SECONDS": "1",
}


def metrics_url(bot: Bot) -> str:
    lines = [json.loads(line) for line in bot.log().splitlines() if line.startswith("{")]
    return next(line["url"] for line in lines if line["event"] == "metrics")


async def readiness(bot: Bot, true: Callable[[int, dict[str, Any]], bool]) -> dict[str, Any]:
    """The body of `/readyz`, once its status and checks match."""
    url = metrics_url(bot).replace("/metrics", "/readyz")
    async with asyncio.timeout(30):
        while True:
            status, body = await asyncio.to_thread(answered, url)
            told = json.loads(body)
            if true(status, told["checks"]):
                assert told["ready"] is (status == 200)
                return told["checks"]


def ready(status: int, checks: dict[str, Any]) -> bool:
    return status == 200 and {"slack", "discord", "storage", "index"} <= set(checks)


def deaf(platform: str) -> Callable[[int, dict[str, Any]], bool]:
    others = {"slack", "discord"} - {platform}

    def is_deaf(status: int, checks: dict[str, Any]) -> bool:
        heard = all(checks[other]["ready"] for other in others)
        return status == 503 and heard and not checks[platform]["ready"]

    return is_deaf


async def test_while_one_platform_is_deaf_it_is_not_ready_and_the_other_answers(tmp_path: Path) -> None:
    async with chats.serve("slack") as slack, chats.serve("discord") as discord:
        slack.server.fail("auth.test", status=503, times=-1)
        async with both(tmp_path, slack, discord, **QUICK) as (on_slack, on_discord):
            bot = on_slack.bot
            await readiness(bot, deaf("slack"))
            on_discords = await taught(on_discord)
            slack.server.repair()
            await readiness(bot, ready)
            on_slacks = await taught(on_slack)

            slack.server.wire.dead_tickets = 4
            await slack.drops()
            told = await readiness(bot, deaf("slack"))
            assert told["slack"]["detail"] == "0 of 2 connections deliver events."
            await answers_again(on_discord, on_discords, "one")
            await readiness(bot, ready)
            await answers_again(on_slack, on_slacks, "two")

            discord.server.gateway.refusals = 4
            await discord.drops()
            await readiness(bot, deaf("discord"))
            await answers_again(on_slack, on_slacks, "three")
            await readiness(bot, ready)
            await answers_again(on_discord, on_discords, "four")

            counted = await asyncio.to_thread(fetch, metrics_url(bot))
            assert 'footnote_recoveries_total{fault="dead_ticket",platform="slack"} 2.0' in counted
            assert 'footnote_connections{platform="slack"} 2.0' in counted
            assert 'footnote_connections{platform="discord"} 1.0' in counted
            assert "footnote_event_loop_lag_seconds_count" in counted

            revoked = b'{"ok": false, "error": "token_revoked"}'
            kind = {"Content-Type": "application/json"}
            slack.server.fail("auth.test", status=200, times=-1, headers=kind, body=revoked)
            told = await readiness(
                bot, lambda status, checks: status == 503 and "token" in checks["slack"]["detail"]
            )
            assert told["discord"]["ready"]
            await answers_again(on_discord, on_discords, "five")
