from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import aiohttp
from slack_sdk.errors import SlackApiError

from adapters.slack.api import error_code, response_data, translate_errors
from adapters.slack.outlets import blocks
from bot.port import ChatError, Unreachable, WriteRefused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from adapters.slack.context import SlackContext
    from bot.port import Page, Place

    Chunk = dict[str, Any]

_log = logging.getLogger(__name__)
_TASK_ID = "status"
_TITLE_CHARACTERS = 250
_STOPPED_BY_PERSON = "stopped_by_user"
_STREAM_OPEN = "streaming_state_conflict"
_STREAM_ENDED = frozenset({"message_not_in_streaming_state", _STOPPED_BY_PERSON, _STREAM_OPEN})
_NO_STATUS = "…"
_RUNNING, _DONE = "in_progress", "complete"
_STEP_STATES = {"waiting": "pending", "running": _RUNNING, "done": _DONE, "failed": "error"}
_REFUSAL_SECONDS = 3600.0
_FAILURE_SECONDS = 300.0
_START_SECONDS = 5.0
_MOST_REMEMBERED = 2000
_WHOLE_WORKSPACE = ""
_WORKSPACE_REFUSALS = frozenset(
    {
        "access_denied",
        "accesslimited",
        "deprecated_endpoint",
        "enterprise_is_restricted",
        "feature_not_enabled",
        "method_deprecated",
        "missing_scope",
        "no_permission",
        "not_allowed",
        "not_allowed_token_type",
        "team_access_not_granted",
        "unknown_method",
    }
)
_CHANNEL_REFUSALS = frozenset(
    {
        "channel_type_not_supported",
        "method_not_supported_for_channel_type",
        "not_supported",
        "restricted_action",
        "restricted_action_non_threadable_channel",
        "restricted_action_read_only_channel",
        "restricted_action_thread_only_channel",
        "team_not_found",
    }
)


class StreamEnded(Exception):
    def __init__(self, *, by_person: bool) -> None:
        super().__init__("The stream has ended.")
        self.by_person = by_person


class StreamRefused(Exception):
    """The message must be posted instead."""


class StreamFailed(Exception):
    """The message must be posted, unless it exists after all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamSupport:
    """For an hour, and faults for five minutes."""

    now: Callable[[], float] = time.monotonic
    report: Callable[[str], object] = lambda fault: None
    """`stream_refused` or `stream_failed`."""
    _edited_until: dict[str, float] = field(default_factory=dict[str, float])

    def is_offered(self, channel: str) -> bool:
        now = self.now()
        return all(now >= self._edited_until.get(where, 0.0) for where in (_WHOLE_WORKSPACE, channel))

    def record_refusal(self, channel: str, code: str) -> None:
        """Ignores refusals of single messages."""
        if code in _WORKSPACE_REFUSALS:
            self._remember(_WHOLE_WORKSPACE, code, _REFUSAL_SECONDS, "stream_refused")
        elif code in _CHANNEL_REFUSALS:
            self._remember(channel, code, _REFUSAL_SECONDS, "stream_refused")

    def record_fault(self, cause: str) -> None:
        self._remember(_WHOLE_WORKSPACE, cause, _FAILURE_SECONDS, "stream_failed")

    def _remember(self, where: str, cause: str, seconds: float, fault: str) -> None:
        minutes = round(seconds / 60)
        _log.warning("Slack does not stream messages (%s): edited instead for %d minutes", cause, minutes)
        self.report(fault)
        while len(self._edited_until) >= _MOST_REMEMBERED:
            del self._edited_until[next(iter(self._edited_until))]
        self._edited_until[where] = self.now() + seconds


@dataclass(slots=True, kw_only=True)
class SlackStream:
    text: str = ""
    status: str = ""
    steps: dict[str, Chunk] = field(default_factory=dict[str, "Chunk"])
    """As last shown, by id."""
    certain: bool = True
    """False after a lost response: the last chunks may have arrived."""

    def continues(self, text: str) -> bool:
        return self.certain and text.startswith(self.text)

    def next_chunks(self, page: Page, *, final: bool = False) -> list[Chunk]:
        more = page.text[len(self.text) :]
        task: list[Chunk] = []
        if self.status and (page.text or final):
            task = [] if self.text else [_task(self.status, state=_DONE)]
        elif (status := _status(page)) and status != self.status:
            task = [_task(status, state=_RUNNING)]
        steps = _steps(page) or [{**step, "status": _ended(step)} for step in self.steps.values() if final]
        changed = [step for step in steps if self.steps.get(step["id"]) != step]
        return [*task, *changed, *([{"type": "markdown_text", "text": more}] if more else [])]

    def record(self, page: Page) -> None:
        self.text = page.text
        self.status = _status(page) or self.status
        self.steps.update((step["id"], step) for step in _steps(page))


async def start_stream(
    context: SlackContext, place: Place, page: Page, *, recipient_team: str, recipient: str
) -> tuple[str, SlackStream]:
    """Raises `StreamRefused` and `StreamFailed`."""
    stream = SlackStream()
    try:
        with translate_errors("chat.startStream"):
            async with asyncio.timeout(_START_SECONDS):
                response = await context.write_client.chat_startStream(
                    channel=place.channel,
                    thread_ts=place.thread,
                    recipient_team_id=recipient_team,
                    recipient_user_id=recipient,
                    chunks=stream.next_chunks(page) or [_task(_NO_STATUS, state=_RUNNING)],
                )
                ts = response_data(response, "chat.startStream").need_text("ts")
    except WriteRefused as error:
        context.stream_support.record_refusal(place.channel, _code(error))
        raise StreamRefused from error
    except Unreachable as error:
        if isinstance(error.__cause__, aiohttp.ClientError):
            raise
        context.stream_support.record_fault(str(error))
        raise StreamFailed from error
    stream.record(page)
    if not page.text and not page.status:
        stream.status = _NO_STATUS
    return ts, stream


async def append_page(context: SlackContext, place: Place, ts: str, stream: SlackStream, page: Page) -> None:
    chunks = stream.next_chunks(page)
    if chunks:
        call = context.write_client.chat_appendStream(channel=place.channel, ts=ts, chunks=chunks)
        await _call(stream, call, "append")
        stream.record(page)


async def stop_stream(
    context: SlackContext,
    place: Place,
    ts: str,
    stream: SlackStream,
    page: Page,
    *,
    metadata: Mapping[str, Any],
) -> None:
    """With footer and buttons. Raises `StreamEnded`."""
    call = context.write_client.chat_stopStream(
        channel=place.channel,
        ts=ts,
        chunks=stream.next_chunks(page, final=True) or None,
        blocks=blocks.footer_and_buttons(page) or None,
        metadata=dict(metadata),
    )
    await _call(stream, call, "stop")


async def close_stream(context: SlackContext, place: Place, ts: str, stream: SlackStream) -> None:
    try:
        await _call(stream, context.write_client.chat_stopStream(channel=place.channel, ts=ts), "stop")
    except StreamEnded:
        return


def is_still_open(error: ChatError) -> bool:
    return _code(error) == _STREAM_OPEN


async def _call(stream: SlackStream, call: Any, verb: str) -> None:
    try:
        with translate_errors(f"chat.{verb}Stream"):
            await call
    except (Unreachable, asyncio.CancelledError):
        stream.certain = False
        raise
    except ChatError as error:
        code = _code(error)
        if code in _STREAM_ENDED:
            raise StreamEnded(by_person=code == _STOPPED_BY_PERSON) from error
        raise


def _code(error: ChatError) -> str:
    return error_code(error.__cause__) if isinstance(error.__cause__, SlackApiError) else ""


def _ended(step: Chunk) -> str:
    return step["status"] if step["status"] == "error" else _DONE


def _status(page: Page) -> str:
    return page.status.partition("\n")[0] if page.steps else page.status


def _steps(page: Page) -> list[Chunk]:
    return [
        _task(step.text, state=_STEP_STATES[step.state], identity=f"step-{number}")
        for number, step in enumerate(page.steps, 1)
    ]


def _task(title: str, *, state: str, identity: str = _TASK_ID) -> Chunk:
    return {"type": "task_update", "id": identity, "title": title[:_TITLE_CHARACTERS], "status": state}
