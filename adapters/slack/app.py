from __future__ import annotations

import asyncio
import logging
import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.api import sdk_logger
from adapters.slack.connection import http_events, socket_mode
from adapters.slack.context import SlackContext, identify, open_clients
from adapters.slack.directory import SlackDirectory
from adapters.slack.incoming.arrivals import KINDS, SlackArrivals
from adapters.slack.incoming.events import SlackEvents
from adapters.slack.incoming.interactions import SlackInteractions
from adapters.slack.incoming.message_reader import MessageReader
from adapters.slack.incoming.pending_events import PendingEvent, PendingEvents, parse_event
from adapters.slack.locations import PLATFORM
from adapters.slack.outlets.stream import StreamSupport
from adapters.slack.recovery import SlackRecovery
from bot.port import Attempts, Backoff, Fields, ReadPace, Throttled, Unreachable, WriteRefused, first_error

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
    from contextlib import AbstractAsyncContextManager

    from adapters.slack.context import Workspace
    from adapters.slack.settings import Settings
    from bot.port import ChatService, Signals

    Handler = Callable[[PendingEvent], Awaitable[None]]
    StartEvent = Callable[[PendingEvent], None]

log = logging.getLogger(__name__)
_ANY = re.compile(".*", re.DOTALL)


async def run(settings: Settings, service: ChatService, *, signals: Signals) -> None:
    """Raises `WriteRefused` if the operator must fix something."""
    if settings.app_token is None and settings.signing_secret is None:
        raise WriteRefused(
            "Slack's events cannot reach the bot: set SLACK_APP_TOKEN (xapp-…, Socket Mode) or SLACK_SIGNING_SECRET (HTTP)."
        )
    async with _connect(settings, signals) as context:
        directory = SlackDirectory(context)
        try:
            await _serve(MessageReader(context=context, directory=directory), service, signals)
        finally:
            directory.close()


async def _serve(reader: MessageReader, service: ChatService, signals: Signals) -> None:
    context, pending = reader.context, PendingEvents(inbox=service.inbox)
    handle = _handler(reader, service)
    with first_error():
        async with asyncio.TaskGroup() as tasks:

            def start(name: str, work: Coroutine[Any, Any, None]) -> None:
                tasks.create_task(_log_errors(work), name=name)

            def start_event(event: PendingEvent) -> None:
                start(f"slack {event.kind}", pending.process(event, handle))

            async with _receive(_bolt_app(context, pending, start_event), context, signals) as facts:
                workspace = context.workspace
                signals.ready({"workspace": workspace.name, "bot": workspace.user_name, **facts})
                recovery = SlackRecovery(reader=reader, service=service)
                start("slack resumption", service.resume(PLATFORM, recovery.recall))
                start("slack unfinished events", _start_unfinished(pending, start_event))
                await _check_token_regularly(context)


def _handler(reader: MessageReader, service: ChatService) -> Handler:
    events = SlackEvents(reader=reader, service=service)
    interactions = SlackInteractions(reader=reader, service=service)
    arrivals = SlackArrivals(reader=reader, service=service)

    async def handle(event: PendingEvent) -> None:
        body = Fields.of(event.body, f"a Slack {event.kind}")
        match event.kind:
            case "event":
                inner = body.need_object("event")
                if inner.text("type") in KINDS:
                    await arrivals.handle(inner)
                else:
                    await events.handle(inner, repeated=event.repeated, team=body.text("team_id"))
            case "command":
                await interactions.on_command(body, repeated=event.repeated)
            case "action":
                await interactions.on_action(body)
            case "shortcut":
                await interactions.on_shortcut(body)
            case "form":
                await interactions.on_form(body)

    return handle


async def _start_unfinished(pending: PendingEvents, start_event: StartEvent) -> None:
    for event in await pending.unfinished():
        start_event(event)


async def _log_errors(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except Exception:
        log.exception("A Slack event could not be handled")


@asynccontextmanager
async def _connect(settings: Settings, signals: Signals) -> AsyncIterator[SlackContext]:
    async with open_clients(settings) as (session, write_client, read_client):
        yield SlackContext(
            settings=settings,
            session=session,
            write_client=write_client,
            read_client=read_client,
            workspace=await _identify_with_retry(read_client),
            stream_support=StreamSupport(report=signals.recovered),
            history_pace=ReadPace(settings.history_calls, settings.history_seconds),
            people_pace=ReadPace(settings.history_calls, settings.history_seconds),
        )


async def _identify_with_retry(client: AsyncWebClient) -> Workspace:
    attempts = Attempts(backoff=Backoff(first=1.0, longest=30.0, jitter=0.0))
    while True:
        try:
            return await identify(client)
        except Throttled as error:
            await asyncio.sleep(error.seconds)
        except Unreachable as error:
            log.warning("Slack cannot be reached yet: %s", error)
            await attempts.pause(error)


async def _check_token_regularly(context: SlackContext) -> None:
    while True:
        await asyncio.sleep(context.settings.heartbeat_seconds)
        try:
            await identify(context.read_client)
        except (Throttled, Unreachable) as error:
            log.warning("Slack does not answer at the moment: %s", error)


def _receive(
    app: AsyncApp, context: SlackContext, signals: Signals
) -> AbstractAsyncContextManager[dict[str, str]]:
    if context.settings.app_token is not None:
        return socket_mode.receive_events(app, context, signals)
    return http_events.receive_events(app, context.settings, signals)


def _bolt_app(context: SlackContext, pending: PendingEvents, start_event: StartEvent) -> AsyncApp:
    """Slack redelivers requests that no listener takes."""
    secret = context.settings.signing_secret
    app = AsyncApp(
        name="slack_bolt.footnote",  # this logger gets Bolt's filters
        logger=sdk_logger(),
        client=AsyncWebClient(
            base_url=context.settings.api_base_url, session=context.session, logger=sdk_logger()
        ),
        signing_secret=secret.get_secret_value() if secret is not None else "",
        authorize=_authorize(context),
        attaching_conversation_kwargs_enabled=False,
    )

    def parse(body: Mapping[str, Any], headers: Mapping[str, Any]) -> PendingEvent | None:
        return parse_event(body, context.workspace, repeated=bool(headers.get("x-slack-retry-num")))

    async def store(body: Mapping[str, Any], req: Any, next: Any) -> None:  # noqa: A002 - Bolt's name
        """Runs before Bolt's acknowledgement."""
        event = parse(body, req.headers)
        if event is not None:
            await pending.store(event)
        await next()

    async def on_event(body: Mapping[str, Any], req: Any) -> None:
        event = parse(body, req.headers)
        if event is not None:
            start_event(event)

    async def on_interaction(ack: Any, body: Mapping[str, Any], req: Any) -> None:
        await ack()
        await on_event(body, req)

    app.middleware(store)
    app.event(_ANY)(on_event)
    for listen in (app.command, app.action, app.shortcut, app.view):
        listen(_ANY)(on_interaction)
    return app


def _authorize(context: SlackContext) -> Callable[[], Awaitable[AuthorizeResult]]:
    """Bolt would call `auth.test` within the first event."""
    workspace = context.workspace
    result = AuthorizeResult(
        enterprise_id=None,
        team_id=workspace.team,
        bot_user_id=workspace.user,
        bot_id=workspace.bot,
        bot_token=context.settings.bot_token.get_secret_value(),
    )

    async def authorize() -> AuthorizeResult:
        return result

    return authorize
