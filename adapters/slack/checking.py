"""Live checks for `footnote doctor`: what Slack granted, compared with what is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.slack import needs
from adapters.slack.wire import ask, clients, identify
from bot.port import ChatError, Finding, Refused

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from slack_sdk.web.async_client import AsyncWebClient

    from adapters.slack.settings import Settings
    from adapters.slack.wire import Workspace
    from bot.port import CommandSpec

_REACH = "See that this computer reaches slack.com, then try again."
_CONNECT = (
    "Make an app-level token (xapp-…) with the scope connections:write under Basic Information of the app at api.slack.com/apps "
    "and set SLACK_APP_TOKEN."
)


async def check(settings: Settings, commands: Sequence[CommandSpec]) -> AsyncIterator[Finding]:
    """Ask Slack, and say of each thing how it is and what mends it."""
    async with clients(settings) as (_, _, client):
        try:
            workspace = await identify(client)
        except ChatError as error:
            yield _bad("Slack token", error)
            return
        who = f"answers as @{workspace.user_name} in {workspace.name} ({workspace.team})"
        yield Finding(check="Slack token", state="ok", detail=who)
        for finding in _scopes(workspace):
            yield finding
        yield await _delivery(settings, client)
    yield _commands(commands)


def _scopes(workspace: Workspace) -> Iterator[Finding]:
    if not workspace.scopes:
        yield Finding(
            check="Slack permissions",
            state="note",
            detail="Slack does not say which permissions the token has",
        )
        return
    missing = [scope for scope in needs.SCOPES if scope.name not in workspace.scopes]
    for scope in missing:
        yield Finding(
            check=f"Slack permission {scope.name}",
            state="note" if scope.wanted_only else "bad",
            detail=f"not granted; without it the bot cannot {scope.why}",
            mend=f"Add {scope.name} under OAuth & Permissions > Bot Token Scopes at api.slack.com/apps (or paste the manifest of "
            "`footnote setup slack` again), then install the app again.",
        )
    if not any(not scope.wanted_only for scope in missing):
        detail = f"all {len(needs.SCOPES) - len(missing)} that are needed are granted"
        yield Finding(check="Slack permissions", state="ok", detail=detail)


async def _delivery(settings: Settings, client: AsyncWebClient) -> Finding:
    """Whether events can reach us."""
    if settings.app_token is None:
        if settings.signing_secret is None:
            detail = "there is neither an app token nor a signing secret, so no event can reach the bot"
            return Finding(check="Slack events", state="bad", detail=detail, mend=_CONNECT)
        where = f"by HTTP on {settings.http_host}:{settings.http_port}{settings.http_path}"
        mend = "Set the Request URL of the app to this path as Slack reaches it, and see that it turns green."
        detail = f"come {where}; from here nobody can tell whether Slack reaches it"
        return Finding(check="Slack events", state="note", detail=detail, mend=mend)
    try:
        token = settings.app_token.get_secret_value()
        await ask("apps.connections.open", client.apps_connections_open(app_token=token))
    except Refused as error:
        return Finding(check="Slack Socket Mode", state="bad", detail=str(error), mend=_CONNECT)
    except ChatError as error:
        return _bad("Slack Socket Mode", error)
    return Finding(check="Slack Socket Mode", state="ok", detail="a connection can be opened")


def _commands(commands: Sequence[CommandSpec]) -> Finding:
    names = ", ".join(f"/{command.name}" for command in needs.slash_commands(commands))
    return Finding(
        check="Slack commands and events",
        state="note",
        detail=f"Slack tells no bot which it has; needed: {names}; events {', '.join(needs.EVENTS)}",
        mend="Compare the app's manifest at api.slack.com/apps with `footnote setup slack`.",
    )


def _bad(what: str, error: ChatError) -> Finding:
    mend = "" if isinstance(error, Refused) else _REACH
    return Finding(check=what, state="bad", detail=str(error), mend=mend)
