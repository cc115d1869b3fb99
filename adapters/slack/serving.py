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
from adapters.slack.kept import Kept, Told, told
from adapters.slack.messages import PLATFORM, Messages
from adapters.slack.people import People
from adapters.slack.wire import Wire, clients, identify, sdk_logger
from bot.port import Refused, Throttled, Unreachable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
    from contextlib import AbstractAsyncContextManager

    from adapters.slack.settings import Settings
    from adapters.slack.wire import Workspace
    from bot.port import ChatService, Signals

    Spawn = Callable[[str, Coroutine[Any, Any, None]], None]

log = logging.getLogger(__name__)
_ANY = re.compile(".*", re.DOTALL)
_SLOWEST = 30.0


async def run(settings: Settings, service: ChatService, *, signals: Signals) -> None:
    """Serve until cancelled. Raises `Refused` for what the operator must mend."""
    if settings.app_token is None and settings.signing_secret is None:
        raise Refused(
            "Slack's events need a way to the bot: set SLACK_APP_TOKEN (xapp-…, Socket Mode) or SLACK_SIGNING_SECRET (HTTP)."
        )
    async with _connected(settings) as wire:
        people = People(wire)
        try:
            await _serve(wire, Intake(messages=Messages(wire=wire, people=people), service=service), signals)
        finally:
            people.close()


async def _serve(wire: Wire, intake: Intake, signals: Signals) -> None:
    try:
        async with asyncio.TaskGroup() as tasks:

            def spawn(name: str, work: Coroutine[Any, Any, None]) -> None:
                tasks.create_task(_guarded(work), name=name)

            kept = Kept(inbox=intake.service.inbox)

            def take(event: Told) -> None:
                spawn(f"slack {event.kind}", kept.through(event, intake.deal))

            async with _events(_listening(wire, kept, take), wire, signals) as facts:
                signals.ready({"workspace": wire.workspace.name, "bot": wire.workspace.user_name, **facts})
                spawn("slack resumption", intake.service.resume(PLATFORM, intake.recall))
                spawn("slack events left", _take_left(kept, take))
                await _stay_known(wire)
    except BaseExceptionGroup as group:
        raise group.exceptions[0] from None


async def _take_left(kept: Kept, take: Callable[[Told], None]) -> None:
    for event in await kept.left():
        take(event)


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


def _events(app: AsyncApp, wire: Wire, signals: Signals) -> AbstractAsyncContextManager[dict[str, str]]:
    if wire.settings.app_token is not None:
        return socket_mode.connections(app, wire, signals)
    return web_events.served(app, wire.settings, signals)


def _listening(wire: Wire, kept: Kept, take: Callable[[Told], None]) -> AsyncApp:
    """One listener for each kind of thing Slack tells, whatever its name: what nobody listens to would be sent again."""
    secret = wire.settings.signing_secret
    app = AsyncApp(
        name="slack_bolt.footnote",  # the logger of that name gets the filters of theirs: it must not be one of ours
        logger=sdk_logger(),
        client=AsyncWebClient(base_url=wire.settings.api_base_url, session=wire.session, logger=sdk_logger()),
        signing_secret=secret.get_secret_value() if secret is not None else "",
        authorize=_known(wire),
        attaching_conversation_kwargs_enabled=False,
    )

    def heard(body: Mapping[str, Any], headers: Mapping[str, Any]) -> Told | None:
        return told(body, wire.workspace, repeated=bool(headers.get("x-slack-retry-num")))

    async def keep(body: Mapping[str, Any], req: Any, next: Any) -> None:  # noqa: A002 - Bolt's name for it
        """Runs before Bolt acknowledges anything."""
        event = heard(body, req.headers)
        if event is not None:
            await kept.keep(event)
        await next()

    async def on_event(body: Mapping[str, Any], req: Any) -> None:
        event = heard(body, req.headers)
        if event is not None:
            take(event)

    async def on_interaction(ack: Any, body: Mapping[str, Any], req: Any) -> None:
        await ack()
        await on_event(body, req)

    app.middleware(keep)
    app.event(_ANY)(on_event)
    for listening in (app.command, app.action, app.shortcut, app.view):
        listening(_ANY)(on_interaction)
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
