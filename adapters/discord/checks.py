"""What `footnote doctor` asks Discord: whether all that `needs` lists is granted, and how to grant it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import discord

from adapters.discord import commands, needs
from adapters.discord.border import calls
from adapters.discord.serving import logged_in
from adapters.discord.settings import Settings, endpoints
from bot.port import ChatError, Finding, Refused

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from adapters.discord.bot import Bot
    from bot.port import CommandSpec

_MOST_SERVERS = 200


async def check(settings: Settings, specs: Sequence[CommandSpec]) -> AsyncIterator[Finding]:
    """Live findings, by REST alone: a session of the gateway is scarce."""
    with endpoints(settings):
        try:
            async with logged_in(settings, retry=False) as bot:
                yield Finding(check="Discord: token", state="ok", detail=f"logged in as {bot.user}")
                for finding in await _findings(bot, settings, specs):
                    yield finding
        except Refused as error:
            yield Finding(check="Discord: token", state="bad", detail="refused", mend=str(error))
        except ChatError as error:
            mend = "Check the network and DISCORD_API_BASE, then try again."
            yield Finding(check="Discord", state="bad", detail=str(error), mend=mend)


async def _findings(bot: Bot, settings: Settings, specs: Sequence[CommandSpec]) -> list[Finding]:
    async with calls(settings.call_seconds):
        registered: list[Any] = await bot.http.get_global_commands(bot.application_id or 0)
        guilds: list[Any] = await bot.http.get_guilds(_MOST_SERVERS, with_counts=False)
    application = str(bot.application_id)
    return [
        _content(bot.application_flags, settings, application),
        _endpoint(bot.application, application),
        _commands(commands.payloads(specs), registered),
        *_servers(guilds, application),
    ]


def _content(flags: discord.ApplicationFlags, settings: Settings, application: str) -> Finding:
    name = "Discord: message content"
    if not settings.message_content:
        return Finding(
            check=name, state="note", detail="not asked for: only mentions, direct messages and commands"
        )
    if flags.gateway_message_content or flags.gateway_message_content_limited:
        return Finding(check=name, state="ok", detail="allowed")
    mend = (
        f"On {needs.PORTAL}/{application}/bot, switch on Message Content Intent and save; "
        "or set FOOTNOTE_DISCORD__MESSAGE_CONTENT=false."
    )
    return Finding(check=name, state="bad", detail="not allowed: the bot will not start", mend=mend)


def _endpoint(application: discord.AppInfo | None, application_id: str) -> Finding:
    name = "Discord: interactions"
    if application is None or not application.interactions_endpoint_url:
        return Finding(check=name, state="ok", detail="commands and buttons come to this bot")
    mend = f"On {needs.PORTAL}/{application_id}/information, empty Interactions Endpoint URL and save."
    return Finding(check=name, state="bad", detail="commands and buttons go to another address", mend=mend)


def _commands(wanted: Sequence[dict[str, Any]], registered: Sequence[Any]) -> Finding:
    name = "Discord: commands"
    different = commands.differing(wanted, registered)
    if not different:
        return Finding(check=name, state="ok", detail=f"{len(wanted)} registered as they should be")
    detail = f"not registered as they should be: {', '.join(different)}"
    return Finding(check=name, state="note", detail=detail, mend="Start `footnote run`: it registers them.")


def _servers(guilds: Sequence[Any], application: str) -> list[Finding]:
    if not guilds:
        mend = f"Open {needs.invite(application)} and choose a server."
        return [Finding(check="Discord: servers", state="bad", detail="the bot is in none", mend=mend)]
    return [_server(guild, application) for guild in guilds]


def _server(guild: Any, application: str) -> Finding:
    name = f"Discord: permissions in {guild['name']}"
    lacking = needs.missing(discord.Permissions(int(guild.get("permissions") or 0)))
    if not lacking:
        return Finding(check=name, state="ok", detail="all granted")
    wanted = "; ".join(f"{permission.label} (to {permission.purpose})" for permission in lacking)
    mend = f"In Server Settings > Roles, give them to the bot's role; or open {needs.invite(application)} and choose the server again."
    return Finding(check=name, state="bad", detail=f"missing: {wanted}", mend=mend)
