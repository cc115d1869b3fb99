"""Faults of a platform by name, for tests that try each and for long random runs.

Each happens while the answer to `question` is being written, and passes by itself.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Final

from tests.doubles.discord_double.server import DiscordServer
from tests.doubles.slack_double.server import SlackServer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    Mischief = Callable[[SlackServer, str], Awaitable[None]] | Callable[[DiscordServer, str], Awaitable[None]]

_JSON: Final = {"Content-Type": "application/json"}
_PAUSE: Final = 1.0


async def _fails(server: SlackServer | DiscordServer, question: str, *, method: str, **fault: object) -> None:
    server.fail(method, **fault)


def _refusing(method: str, error: str) -> Callable[[SlackServer, str], Awaitable[None]]:
    body = b'{"ok": false, "error": "%s"}' % error.encode()
    return partial(_fails, method=method, status=200, body=body, headers=_JSON)


# --- Slack ---------------------------------------------------------------------------------------------------------------


async def _slack_cut(server: SlackServer, question: str) -> None:
    server.drop_connection()


async def _slack_disconnect(server: SlackServer, question: str, *, reason: str) -> None:
    await server.disconnect(reason)


async def _slack_again(server: SlackServer, question: str) -> None:
    await server.redeliver(question)


async def _slack_envelope_then_disconnect(server: SlackServer, question: str) -> None:
    """The acknowledgement goes over another connection."""
    await server.redeliver(question)
    await server.disconnect("refresh_requested")


async def _slack_handshakes(server: SlackServer, question: str) -> None:
    server.wire.refused_handshakes = 3
    server.drop_connection()


async def _slack_dead_tickets(server: SlackServer, question: str) -> None:
    server.wire.dead_tickets = 2
    server.drop_connection()


async def _slack_no_tickets(server: SlackServer, question: str) -> None:
    server.fail("apps.connections.open", status=429, retry_after=_PAUSE, times=2)
    server.drop_connection()


async def _slack_stream_over(server: SlackServer, question: str) -> None:
    """Slack ends the streams."""
    for message in list(server.world.messages.values()):
        if message.stream is not None and message.thread == question:
            message.stream.open = False


async def _slack_stream_old(server: SlackServer, question: str) -> None:
    server.advance(400)


SLACK: Final[Mapping[str, Callable[[SlackServer, str], Awaitable[None]]]] = {
    **{
        f"{method} too often": partial(_fails, method=method, status=429, retry_after=_PAUSE)
        for method in (
            "chat.startStream",
            "chat.appendStream",
            "chat.stopStream",
            "chat.postMessage",
            "chat.update",
            "conversations.replies",
            "conversations.info",
            "users.info",
        )
    },
    **{
        f"{method} done, answer lost": partial(_fails, method=method, applied=True, lost=True)
        for method in (
            "chat.startStream",
            "chat.appendStream",
            "chat.stopStream",
            "chat.postMessage",
            "chat.update",
        )
    },
    **{
        f"{method} broken": partial(_fails, method=method, status=500)
        for method in ("chat.appendStream", "chat.stopStream", "chat.postMessage", "chat.update")
    },
    **{
        f"{method} slow": partial(_fails, method=method, delay=_PAUSE)
        for method in ("chat.appendStream", "chat.stopStream", "chat.update")
    },
    "the message cannot be updated": _refusing("chat.update", "cant_update_message"),
    "the end of a stream has too many blocks": _refusing("chat.stopStream", "msg_blocks_too_long"),
    "blocks refused": _refusing("chat.update", "invalid_blocks"),
    "stream ended by slack": _slack_stream_over,
    "stream older than slack allows": _slack_stream_old,
    "told again": _slack_again,
    "told again, then disconnected": _slack_envelope_then_disconnect,
    **{
        f"disconnect: {reason}": partial(_slack_disconnect, reason=reason)
        for reason in ("warning", "refresh_requested", "too_many_websockets", "link_disabled")
    },
    "connections cut": _slack_cut,
    "handshakes refused": _slack_handshakes,
    "dead tickets": _slack_dead_tickets,
    "no tickets": _slack_no_tickets,
}


# --- Discord -------------------------------------------------------------------------------------------------------------


async def _discord_drop(server: DiscordServer, question: str, *, code: int | None) -> None:
    await server.drop_connection(code)


async def _discord_reconnect(server: DiscordServer, question: str) -> None:
    """The next event is lost with the connection and replayed after RESUME."""
    await server.reconnect_requested()


async def _discord_lose(server: DiscordServer, question: str) -> None:
    await server.lose_session()


async def _discord_unparsable(server: DiscordServer, question: str) -> None:
    await server.unparsable_dispatch()


async def _discord_again(server: DiscordServer, question: str) -> None:
    await server.redeliver(question)


async def _discord_gateway_down(server: DiscordServer, question: str) -> None:
    server.gateway.refusals = 2
    await server.drop_connection(4000)


async def _discord_archived(server: DiscordServer, question: str) -> None:
    """An archived thread takes no edits."""
    thread = server.world.channels.get(question)
    if thread is not None:
        thread.archived = True


DISCORD: Final[Mapping[str, Callable[[DiscordServer, str], Awaitable[None]]]] = {
    **{
        f"{method} too often": partial(_fails, method=method, status=429, retry_after=_PAUSE)
        for method in ("create_message", "edit_message", "create_thread")
    },
    "edits too often, says cloudflare": partial(
        _fails,
        method="edit_message",
        status=429,
        body=b"<html>error code: 1015</html>",
        headers={"Content-Type": "text/html", "Retry-After": "1"},
    ),
    **{
        f"{method} done, answered 502": partial(_fails, method=method, applied=True, status=502)
        for method in ("create_message", "edit_message")
    },
    **{
        f"{method} done, answer lost": partial(_fails, method=method, applied=True, lost=True)
        for method in ("create_message", "edit_message")
    },
    **{
        f"{method} answered {status}": partial(_fails, method=method, status=status)
        for method in ("create_message", "edit_message")
        for status in (500, 503)
    },
    "edit_message slow": partial(_fails, method="edit_message", delay=_PAUSE),
    "thread archived": _discord_archived,
    "told again": _discord_again,
    "asked to reconnect": _discord_reconnect,
    "session lost": _discord_lose,
    "closed with 4000": partial(_discord_drop, code=4000),
    "connection cut": partial(_discord_drop, code=None),
    "gateway down": _discord_gateway_down,
    "an event that cannot be read": _discord_unparsable,
}


async def mischief(server: object, name: str, question: str) -> None:
    """The name is one of `SLACK` or `DISCORD`."""
    if isinstance(server, SlackServer):
        await SLACK[name](server, question)
    elif isinstance(server, DiscordServer):
        await DISCORD[name](server, question)
    else:
        raise TypeError(f"no mischief for {type(server).__name__}")
    await asyncio.sleep(0)


def names(platform: str) -> tuple[str, ...]:
    return tuple(SLACK if platform == "slack" else DISCORD)
