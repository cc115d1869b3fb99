from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from adapters.slack.api import call_api
from adapters.slack.context import identify, open_clients
from adapters.slack.installation import required_permissions
from bot.port import ChatError, Finding, WriteRefused

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping, Sequence

    from slack_sdk.web.async_client import AsyncWebClient

    from adapters.slack.context import Workspace
    from adapters.slack.settings import Settings
    from bot.port import CommandSpec

_CHECK_NETWORK = "Check that this computer reaches slack.com, then try again."
_HOW_TO_CONNECT = (
    "Create an app-level token (xapp-…) with the scope connections:write under Basic Information of the app at api.slack.com/apps "
    "and set SLACK_APP_TOKEN."
)


_REJECTED: Mapping[str, str] = dict.fromkeys(
    (
        "invalid_auth",
        "not_authed",
        "account_inactive",
        "token_revoked",
        "token_expired",
        "not_allowed_token_type",
    ),
    "Slack rejects the app token (SLACK_APP_TOKEN).",
)
_KINDS = {
    "xoxb-": "a bot token",
    "xapp-": "an app-level token",
    "xoxp-": "a user token",
    "xoxe": "a token for configuration or renewal",
    "xoxa-": "a token of an old kind of app",
    "xoxs-": "a token of a browser session",
    "xoxc-": "a token of a browser session",
}


async def check(settings: Settings, commands: Sequence[CommandSpec]) -> AsyncIterator[Finding]:
    """Wrong tokens are named before anything is sent."""
    misplaced = list(_misplaced(settings))
    for finding in misplaced:
        yield finding
    if misplaced:
        return
    async with open_clients(settings) as (_, _, client):
        try:
            workspace = await identify(client)
        except ChatError as error:
            refused = "bot_token" if isinstance(error, WriteRefused) else ""
            yield replace(_bad("Slack token", error), refused=refused)
            return
        identity = f"answers as @{workspace.user_name} in {workspace.name} ({workspace.team})"
        yield Finding(check="Slack token", state="ok", detail=identity, workspace=workspace.team)
        for finding in _permissions(workspace):
            yield finding
        yield await _events(settings, client)
    yield _commands(commands)


def _misplaced(settings: Settings) -> Iterator[Finding]:
    tokens = (
        (
            "bot_token",
            "SLACK_BOT_TOKEN",
            settings.bot_token,
            "xoxb-",
            "the Bot User OAuth Token under OAuth & Permissions",
        ),
        (
            "app_token",
            "SLACK_APP_TOKEN",
            settings.app_token,
            "xapp-",
            "the App-Level Token under Basic Information",
        ),
    )
    for setting, variable, token, prefix, where in tokens:
        value = token.get_secret_value() if token is not None else ""
        kind = next((name for start, name in _KINDS.items() if value.startswith(start)), "")
        if kind and not value.startswith(prefix):
            yield Finding(
                check=variable,
                state="bad",
                refused=setting,
                detail=f"holds {kind}, and needs {_KINDS[prefix]} ({prefix}…)",
                remedy=f"Set {variable} to {where} of the app at api.slack.com/apps.",
            )


def _permissions(workspace: Workspace) -> Iterator[Finding]:
    if not workspace.scopes:
        yield Finding(
            check="Slack permissions",
            state="note",
            detail="Slack does not say which permissions the token has",
        )
        return
    missing = [scope for scope in required_permissions.SCOPES if scope.name not in workspace.scopes]
    for scope in missing:
        yield Finding(
            check=f"Slack permission {scope.name}",
            state="note" if scope.optional else "bad",
            detail=f"not granted; without it the bot cannot {scope.why}",
            remedy=f"Add {scope.name} under OAuth & Permissions > Bot Token Scopes at api.slack.com/apps (or paste the manifest of "
            "`footnote setup slack` again), then install the app again.",
        )
    if not any(not scope.optional for scope in missing):
        detail = f"all {len(required_permissions.SCOPES) - len(missing)} that are needed are granted"
        yield Finding(check="Slack permissions", state="ok", detail=detail)


async def _events(settings: Settings, client: AsyncWebClient) -> Finding:
    if settings.app_token is None:
        if settings.signing_secret is None:
            detail = "there is neither an app token nor a signing secret, so no event can reach the bot"
            return Finding(check="Slack events", state="bad", detail=detail, remedy=_HOW_TO_CONNECT)
        where = f"by HTTP on {settings.http_host}:{settings.http_port}{settings.http_path}"
        remedy = (
            "Set the Request URL of the app to this path as Slack reaches it, and check that it turns green."
        )
        detail = f"come {where}; the bot cannot check whether Slack reaches it"
        return Finding(check="Slack events", state="note", detail=detail, remedy=remedy)
    try:
        token = settings.app_token.get_secret_value()
        await call_api("apps.connections.open", client.apps_connections_open(app_token=token), _REJECTED)
    except WriteRefused as error:
        refused = Finding(check="Slack Socket Mode", state="bad", detail=str(error), remedy=_HOW_TO_CONNECT)
        return replace(refused, refused="app_token")
    except ChatError as error:
        return _bad("Slack Socket Mode", error)
    return Finding(check="Slack Socket Mode", state="ok", detail="a connection can be opened")


def _commands(commands: Sequence[CommandSpec]) -> Finding:
    names = ", ".join(f"/{command.name}" for command in required_permissions.slash_commands(commands))
    return Finding(
        check="Slack commands and events",
        state="note",
        detail=f"Slack does not list these to bots; needed: {names}; events {', '.join(required_permissions.EVENTS)}",
        remedy="Compare the app's manifest at api.slack.com/apps with `footnote setup slack`.",
    )


def _bad(what: str, error: ChatError) -> Finding:
    remedy = "" if isinstance(error, WriteRefused) else _CHECK_NETWORK
    return Finding(check=what, state="bad", detail=str(error), remedy=remedy)
