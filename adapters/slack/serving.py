"""The adapter at work: events are acknowledged at once and dealt with in tasks of their own."""

from __future__ import annotations

import asyncio
import logging
import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack import socket_mode, web_events
from adapters.slack.intake import Intake
from adapters.slack.messages import Messages
from adapters.slack.people import People
from adapters.slack.wire import Wire, clients, identify, sdk_logger
from bot.port import Refused, Throttled, Unreachable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
    from contextlib import AbstractAsyncContextManager

    from adapters.slack.settings import Settings
    from adapters.slack.wire import Workspace
    from bot.port import ChatService

    Spawn = Callable[[str, Coroutine[Any, Any, None]], None]

log = logging.getLogger(__name__)
_ANY = re.compile(".*", re.DOTALL)
_SLOWEST = 30.0


async def run(
    settings: Settings, service: ChatService, *, ready: Callable[[Mapping[str, str]], None]
) -> None:
    """Serve until cancelled. Raises `Refused` for what the operator must mend."""
    if settings.app_token is None and settings.signing_secret is None:
        raise Refused(
            "Slack's events need a way to the bot: set SLACK_APP_TOKEN (xapp-…, Socket Mode) or SLACK_SIGNING_SECRET (HTTP)."
        )
    async with _connected(settings) as wire:
        people = People(wire)
        try:
            await _serve(wire, Intake(messages=Messages(wire=wire, people=people), service=service), ready)
        finally:
            people.close()


async def _serve(wire: Wire, intake: Intake, ready: Callable[[Mapping[str, str]], None]) -> None:
    try:
        async with asyncio.TaskGroup() as tasks:

            def spawn(name: str, work: Coroutine[Any, Any, None]) -> None:
                tasks.create_task(_guarded(work), name=name)

            async with _events(_listening(wire, intake, spawn), wire) as facts:
                ready({"workspace": wire.workspace.name, "bot": wire.workspace.user_name, **facts})
                await _stay_known(wire)
    except BaseExceptionGroup as group:
        raise group.exceptions[0] from None


async def _guarded(work: Coroutine[Any, Any, None]) -> None:
    """One event that goes wrong is no end of the others."""
    try:
        await work
    except Exception:
        log.exception("An event of Slack could not be dealt with")


@asynccontextmanager
async def _connected(settings: Settings) -> AsyncIterator[Wire]:
    async with clients(settings) as (session, writer, reader):
        workspace = await _patiently(lambda: identify(reader))
        yield Wire(settings=settings, session=session, writer=writer, reader=reader, workspace=workspace)


async def _patiently(call: Callable[[], Awaitable[Workspace]]) -> Workspace:
    """What the call gives, as soon as Slack answers."""
    pause = 1.0
    while True:
        try:
            return await call()
        except Throttled as error:
            await asyncio.sleep(error.seconds)
        except Unreachable as error:
            log.warning("Slack cannot be reached yet: %s", error)
            await asyncio.sleep(pause)
            pause = min(pause * 2, _SLOWEST)


async def _stay_known(wire: Wire) -> None:
    """Ask now and then whether the token is still good; it also keeps idle connections delivering."""
    while True:
        await asyncio.sleep(wire.settings.heartbeat_seconds)
        try:
            await identify(wire.reader)
        except (Throttled, Unreachable) as error:
            log.warning("Slack does not answer at the moment: %s", error)


def _events(app: AsyncApp, wire: Wire) -> AbstractAsyncContextManager[dict[str, str]]:
    if wire.settings.app_token is not None:
        return socket_mode.connections(app, wire)
    return web_events.served(app, wire.settings)


def _listening(wire: Wire, intake: Intake, spawn: Spawn) -> AsyncApp:
    """One listener for each kind of thing Slack tells, whatever its name: what nobody listens to would be sent again."""
    secret = wire.settings.signing_secret
    app = AsyncApp(
        name="footnote",
        logger=sdk_logger(),
        client=AsyncWebClient(base_url=wire.settings.api_base_url, session=wire.session, logger=sdk_logger()),
        signing_secret=secret.get_secret_value() if secret is not None else "",
        authorize=_known(wire),
        attaching_conversation_kwargs_enabled=False,
    )

    async def on_event(event: Mapping[str, Any], req: Any) -> None:
        repeated = bool(req.headers.get("x-slack-retry-num"))
        spawn("slack event", intake.event(event, repeated=repeated))

    async def on_command(ack: Any, body: Mapping[str, Any]) -> None:
        await ack()
        spawn("slack command", intake.command(body))

    async def on_action(ack: Any, body: Mapping[str, Any]) -> None:
        await ack()
        if body.get("type") == "block_actions":
            spawn("slack action", intake.action(body))

    async def on_shortcut(ack: Any, body: Mapping[str, Any]) -> None:
        await ack()
        if body.get("type") == "message_action":
            spawn("slack shortcut", intake.shortcut(body))

    async def on_view(ack: Any) -> None:
        await ack()

    app.event(_ANY)(on_event)
    app.command(_ANY)(on_command)
    app.action(_ANY)(on_action)
    app.shortcut(_ANY)(on_shortcut)
    app.view(_ANY)(on_view)
    return app


def _known(wire: Wire) -> Callable[[], Awaitable[AuthorizeResult]]:
    """Who we are is asked once, before the first event, and not within it."""
    workspace = wire.workspace
    known = AuthorizeResult(
        enterprise_id=None,
        team_id=workspace.team,
        bot_user_id=workspace.user,
        bot_id=workspace.bot,
        bot_token=wire.settings.bot_token.get_secret_value(),
    )

    async def authorize() -> AuthorizeResult:
        return known

    return authorize
