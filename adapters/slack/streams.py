"""A message that Slack itself lets grow: what was sent of it, and what has to be sent next."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from slack_sdk.errors import SlackApiError

from adapters.slack import blocks
from adapters.slack.wire import code_of, translated
from bot.port import ChatError, Refused, Unreachable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adapters.slack.wire import Wire
    from bot.port import Page, Place

    Chunk = dict[str, Any]

_TASK = "status"
_TITLE = 250
STOPPED = "stopped_by_user"
_OPEN = "streaming_state_conflict"
_ENDED = frozenset({"message_not_in_streaming_state", STOPPED, _OPEN})
_WAITING = "…"


class Ended(Exception):
    """The stream is closed: nothing was added, and the message can only be edited from now on."""

    def __init__(self, *, by_person: bool) -> None:
        super().__init__("The stream has ended.")
        self.by_person = by_person


class NotOffered(Exception):
    """Slack does not stream here: the message must be posted."""


@dataclass(slots=True, kw_only=True)
class Stream:
    """What the open stream shows. `certain` until an answer is lost: then nobody knows whether the last piece arrived."""

    text: str = ""
    status: str = ""
    certain: bool = True

    def continues(self, text: str) -> bool:
        """Whether the text is what is shown, with or without more."""
        return self.certain and text.startswith(self.text)

    def next_chunks(self, page: Page, *, final: bool = False) -> list[Chunk]:
        """What is still missing of the page."""
        more = page.text[len(self.text) :]
        task: list[Chunk] = []
        if self.status and (page.text or final):
            task = [] if self.text else [_task(self.status, done=True)]
        elif page.status and page.status != self.status:
            task = [_task(page.status, done=False)]
        return [*task, *([{"type": "markdown_text", "text": more}] if more else [])]

    def sent(self, page: Page) -> None:
        """The chunks have arrived."""
        self.text = page.text
        self.status = page.status or self.status


async def start(
    wire: Wire, place: Place, page: Page, *, recipient_team: str, recipient: str
) -> tuple[str, Stream]:
    """Open a stream in the thread; the message has an id at once."""
    stream = Stream()
    try:
        with translated("chat.startStream"):
            told = await wire.writer.chat_startStream(
                channel=place.channel,
                thread_ts=place.thread,
                recipient_team_id=recipient_team,
                recipient_user_id=recipient,
                chunks=stream.next_chunks(page) or [_task(_WAITING, done=False)],
            )
    except Refused as error:
        wire.streaming.refused(place.channel, _code(error))
        raise NotOffered from error
    stream.sent(page)
    if not page.text and not page.status:
        stream.status = _WAITING
    return str(told["ts"]), stream


async def append(wire: Wire, place: Place, ts: str, stream: Stream, page: Page) -> None:
    """Show what is new of the page; nothing is called when nothing is."""
    chunks = stream.next_chunks(page)
    if chunks:
        await _call(
            stream, wire.writer.chat_appendStream(channel=place.channel, ts=ts, chunks=chunks), "append"
        )
        stream.sent(page)


async def stop(
    wire: Wire, place: Place, ts: str, stream: Stream, page: Page, *, metadata: Mapping[str, Any]
) -> None:
    """Show the rest of the page and what stands under it, and close the stream."""
    call = wire.writer.chat_stopStream(
        channel=place.channel,
        ts=ts,
        chunks=stream.next_chunks(page, final=True) or None,
        blocks=blocks.under(page) or None,
        metadata=dict(metadata),
    )
    await _call(stream, call, "stop")


async def close(wire: Wire, place: Place, ts: str, stream: Stream) -> None:
    """Close the stream with what it shows; it is no error when it is closed already."""
    try:
        await _call(stream, wire.writer.chat_stopStream(channel=place.channel, ts=ts), "stop")
    except Ended:
        return


def is_open(error: ChatError) -> bool:
    """Whether a message could not be edited because it is still streamed."""
    return _code(error) == _OPEN


async def _call(stream: Stream, call: Any, verb: str) -> None:
    try:
        with translated(f"chat.{verb}Stream"):
            await call
    except (Unreachable, asyncio.CancelledError):
        stream.certain = False
        raise
    except ChatError as error:
        code = _code(error)
        if code in _ENDED:
            raise Ended(by_person=code == STOPPED) from error
        raise


def _code(error: ChatError) -> str:
    return code_of(error.__cause__) if isinstance(error.__cause__, SlackApiError) else ""


def _task(title: str, *, done: bool) -> Chunk:
    return {
        "type": "task_update",
        "id": _TASK,
        "title": title[:_TITLE],
        "status": "complete" if done else "in_progress",
    }
