from __future__ import annotations

from typing import TYPE_CHECKING, Any

import discord

from adapters.discord.api import api_calls
from adapters.discord.app import logged_in
from adapters.discord.installation import commands, required_permissions
from adapters.discord.settings import Settings, endpoints
from bot.port import ChatError, Finding, WriteRefused

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from adapters.discord.connection.client import DiscordClient
    from bot.port import CommandSpec

_MOST_SERVERS = 200
_FOREIGN_TOKENS = ("xoxb-", "xapp-", "xoxp-", "sk-")
_WHERE_THE_TOKEN_IS = f"Copy the token from the application's Bot page at {required_permissions.PORTAL}."


async def check(settings: Settings, specs: Sequence[CommandSpec]) -> AsyncIterator[Finding]:
    """By REST only: sessions are limited. A token of another service is named before anything is sent."""
    if settings.token.get_secret_value().startswith(_FOREIGN_TOKENS):
        detail = "DISCORD_TOKEN holds a token of another service"
        yield Finding(
            check="Discord: token", state="bad", detail=detail, remedy=_WHERE_THE_TOKEN_IS, refused="token"
        )
        return
    with endpoints(settings):
        try:
            async with logged_in(settings, retry=False) as bot:
                yield Finding(check="Discord: token", state="ok", detail=f"logged in as {bot.user}")
                for finding in await _findings(bot, settings, specs):
                    yield finding
        except WriteRefused as error:
            refused = "token" if isinstance(error.__cause__, discord.LoginFailure) else ""
            detail, remedy = ("refused", str(error)) if refused else (str(error), "")
            yield Finding(check="Discord: token", state="bad", detail=detail, remedy=remedy, refused=refused)
        except ChatError as error:
            remedy = "Check the network and DISCORD_API_BASE, then try again."
            yield Finding(check="Discord", state="bad", detail=str(error), remedy=remedy)


async def _findings(bot: DiscordClient, settings: Settings, specs: Sequence[CommandSpec]) -> list[Finding]:
    async with api_calls(settings.call_seconds):
        registered: list[Any] = await bot.http.get_global_commands(bot.application_id or 0)
        guilds: list[Any] = await bot.http.get_guilds(_MOST_SERVERS, with_counts=False)
    application = str(bot.application_id)
    return [
        _message_content(bot.application_flags, settings, application),
        _interactions(bot.application, application),
        _invitations(bot.application, application),
        _commands(commands.payloads(specs), registered),
        *_servers(guilds, application),
    ]


def _message_content(flags: discord.ApplicationFlags, settings: Settings, application: str) -> Finding:
    name = "Discord: message content"
    if not settings.message_content:
        return Finding(
            check=name, state="note", detail="not asked for: only mentions, direct messages and commands"
        )
    if flags.gateway_message_content or flags.gateway_message_content_limited:
        return Finding(check=name, state="ok", detail="allowed")
    remedy = (
        f"On {required_permissions.PORTAL}/{application}/bot, switch on Message Content Intent and save; "
        "or set FOOTNOTE_DISCORD__MESSAGE_CONTENT=false."
    )
    return Finding(check=name, state="bad", detail="not allowed: the bot will not start", remedy=remedy)


def _interactions(application: discord.AppInfo | None, application_id: str) -> Finding:
    name = "Discord: interactions"
    if application is None or not application.interactions_endpoint_url:
        return Finding(check=name, state="ok", detail="commands and buttons come to this bot")
    remedy = f"On {required_permissions.PORTAL}/{application_id}/information, empty Interactions Endpoint URL and save."
    return Finding(
        check=name, state="bad", detail="commands and buttons go to another address", remedy=remedy
    )


def _invitations(application: discord.AppInfo | None, application_id: str) -> Finding:
    name = "Discord: invitations"
    if application is not None and not application.bot_public:
        return Finding(check=name, state="ok", detail="only the owner of the application can invite the bot")
    detail = (
        "anyone can invite the bot to their server; a server sees knowledge bases made by `footnote add` only if "
        "FOOTNOTE_ACCESS__WORKSPACES lists it"
    )
    remedy = f"On {required_permissions.PORTAL}/{application_id}/bot, switch off Public Bot and save."
    return Finding(check=name, state="note", detail=detail, remedy=remedy)


def _commands(expected: Sequence[dict[str, Any]], registered: Sequence[Any]) -> Finding:
    name = "Discord: commands"
    different = commands.differences(expected, registered)
    if not different:
        return Finding(check=name, state="ok", detail=f"{len(expected)} registered and up to date")
    detail = f"missing or outdated: {', '.join(different)}"
    return Finding(check=name, state="note", detail=detail, remedy="Start `footnote run`: it registers them.")


def _servers(guilds: Sequence[Any], application: str) -> list[Finding]:
    if not guilds:
        remedy = f"Open {required_permissions.invite(application)} and choose a server."
        return [Finding(check="Discord: servers", state="bad", detail="the bot is in none", remedy=remedy)]
    return [_server(guild, application) for guild in guilds]


def _server(guild: Any, application: str) -> Finding:
    name, identity = f"Discord: permissions in {guild['name']}", str(guild["id"])
    lacking = required_permissions.missing(discord.Permissions(int(guild.get("permissions") or 0)))
    if not lacking:
        detail = f"all granted (server {identity})"
        return Finding(check=name, state="ok", detail=detail, workspace=identity, invited=True)
    permissions = "; ".join(f"{permission.label} (to {permission.purpose})" for permission in lacking)
    remedy = f"In Server Settings > Roles, give them to the bot's role; or open {required_permissions.invite(application)} and choose the server again."
    detail = f"missing: {permissions}"
    return Finding(check=name, state="bad", detail=detail, remedy=remedy, workspace=identity, invited=True)
