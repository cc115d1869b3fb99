from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from adapters.slack.api import BlocksRefused, MessageLocked, NotServed, call_api
from adapters.slack.outlets import blocks, limits, message_recovery
from adapters.slack.outlets.stream import (
    SlackStream,
    StreamEnded,
    StreamFailed,
    StreamRefused,
    append_page,
    close_stream,
    is_still_open,
    start_stream,
    stop_stream,
)
from adapters.slack.outlets.uploads import share
from bot.port import ChatError, Gone, Stopped, Unreachable, WriteRefused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from adapters.slack.context import SlackContext
    from bot.port import Fields, Page, Place, PlatformLimits, Route, Write

    Send = Callable[[dict[str, Any]], Awaitable[Fields]]

_log = logging.getLogger(__name__)
_MOST_NOT_SERVED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackTarget:
    place: Place
    source: str
    question: str = ""
    in_thread: bool = False
    person: str = ""
    recipient_team: str = ""
    response_url: str = ""
    ephemeral: str = ""
    doubtful: bool = False
    by_command: bool = False
    action_token: str = field(default="", repr=False)
    """Of the event, for searching messages. A secret, never stored."""


@dataclass(slots=True, kw_only=True)
class _Part:
    ts: str = ""
    stream: SlackStream | None = None
    stopped: bool = False
    """Only the final write changes it."""
    doubtful: bool = False
    """The create call got no response."""
    attempted: SlackStream | None = None
    files_shared: bool = False
    form: blocks.Form = blocks.FORMS[0]


class SlackOutlet:
    def __init__(
        self,
        context: SlackContext,
        target: SlackTarget,
        *,
        posted: Sequence[str] = (),
        number: int = 0,
        answer_messages: Callable[[Place], Awaitable[frozenset[str]]] | None = None,
    ) -> None:
        """`number` distinguishes the room's outlets; `answer_messages` is `ChatService.answer_messages`."""
        self._context = context
        self._target = target
        self._number = number
        self._answer_messages = answer_messages
        self._must_search = target.doubtful
        self._not_served = 0
        self._edit_route = limits.edit_route(target.place)
        self._stream_route = limits.stream_route(target.place)
        self._parts = {number: _Part(ts=ts) for number, ts in enumerate(posted)}
        context.posted_messages.add(*posted)
        self._streams = (
            context.settings.streams
            and not posted
            and bool(target.place.thread and target.person)
            and context.stream_support.is_offered(target.place.channel)
        )

    @property
    def limits(self) -> PlatformLimits:
        return limits.STREAMED if self._streams else limits.EDITED

    @property
    def routes(self) -> Sequence[Route]:
        if not self._streams:
            return (self._edit_route,)
        first = self._parts.get(0)
        if first is not None and first.stream is not None and not first.stream.certain:
            return (replace(self._stream_route, lifetime=0.0), self._edit_route)
        return (self._stream_route, self._edit_route)

    async def write(self, write: Write) -> str:
        if self._must_search:
            async with self._context.posted_messages.lock(self._target.place):
                await self._find_earlier_parts()
        part = self._parts.setdefault(write.part, _Part())
        if write.page is None:
            return await self._remove(part)
        if not part.ts and part.doubtful:
            async with self._context.posted_messages.lock(self._target.place):
                await self._find_unconfirmed(part, write.part)
        if not part.ts:
            await self._create(part, write, write.page)
        elif part.stream is not None:
            await self._grow(part, part.stream, write, write.page)
        else:
            _check_not_stopped(part, write)
            await self._update(part, write, write.page)
        if write.final and write.page.files and not part.files_shared:
            await share(self._context, self._target.place, write.page.files)
            part.files_shared = True
        return part.ts

    async def _create(self, part: _Part, write: Write, page: Page) -> None:
        offered = self._streams and self._context.stream_support.is_offered(self._target.place.channel)
        streamed = offered and write.route == limits.STREAM and write.part == 0 and not write.final
        part.attempted = SlackStream(text=page.text, status=page.status) if streamed else None
        try:
            if streamed:
                async with self._context.posted_messages.lock(self._target.place):
                    await self._start_stream(part, write, page)
            else:
                await self._post(part, write, page)
        except (Unreachable, asyncio.CancelledError):
            part.doubtful = True
            raise
        self._context.posted_messages.add(part.ts)

    async def _start_stream(self, part: _Part, write: Write, page: Page) -> None:
        target = self._target
        try:
            part.ts, part.stream = await start_stream(
                self._context,
                target.place,
                page,
                recipient_team=target.recipient_team or self._context.workspace.team,
                recipient=target.person,
            )
        except StreamRefused:
            self._streams, part.attempted = False, None
            await self._post(part, write, page)
        except StreamFailed:
            self._streams = False
            part.doubtful = True
            await self._find_unconfirmed(part, write.part)
            if not part.ts:
                part.attempted = None
                await self._post(part, write, page)

    async def _post(self, part: _Part, write: Write, page: Page) -> None:
        place = self._target.place
        response = await self._send(
            part,
            write,
            page,
            lambda body: call_api(
                "chat.postMessage",
                self._context.write_client.chat_postMessage(
                    channel=place.channel,
                    thread_ts=place.thread or None,
                    metadata=self._mark(write.part),
                    unfurl_links=False,
                    unfurl_media=False,
                    **body,
                ),
                self._not_invited(),
            ),
        )
        part.ts = response.need_text("ts")
        self._streams = self._streams and write.part > 0

    def _not_invited(self) -> Mapping[str, str]:
        if not self._target.by_command:
            return {}
        name = self._context.workspace.user_name
        sentence = f"I cannot write in this channel: invite me with /invite @{name}, then ask again."
        return {"not_in_channel": sentence, "channel_not_found": sentence}

    async def _find_earlier_parts(self) -> None:
        place, part = self._target.place, self._parts.get(0)
        messages = await self._our_messages()
        ts = part.ts if part is not None else message_recovery.find_marked(messages, self._mark(0))
        if not ts and place.thread and self._target.person:
            ts = message_recovery.find_unmarked(messages, others=await self._other_answers())
            part = _Part(ts=ts, stream=SlackStream(certain=False))
        if ts:
            self._parts[0] = part or _Part(ts=ts)
            self._context.posted_messages.add(ts)
            recorded = {each.ts for each in self._parts.values()}
            for later in message_recovery.later_parts(messages, ts):
                if later not in recorded:
                    await self._delete(later)
        self._must_search = False

    async def _find_unconfirmed(self, part: _Part, number: int) -> None:
        messages = await self._our_messages()
        part.ts = message_recovery.find_marked(messages, self._mark(number))
        if not part.ts and part.attempted is not None:
            others = await self._other_answers()
            part.ts = message_recovery.find_unmarked(messages, others=others, text=part.attempted.text)
            part.stream = part.attempted if part.ts else None
        if part.ts:
            self._context.posted_messages.add(part.ts)
        part.doubtful = False

    async def _our_messages(self) -> list[Fields]:
        place, question = self._target.place, self._target.question
        try:
            return await message_recovery.our_messages_since(self._context, place, question)
        except NotServed as error:
            self._not_served += 1
            if self._not_served < _MOST_NOT_SERVED:
                raise
            _log.warning("Cannot look for earlier messages of an answer: %s", error)
            return []
        except WriteRefused as error:
            _log.warning("Cannot look for earlier messages of an answer: %s", error)
            return []

    async def _other_answers(self) -> frozenset[str]:
        recorded = (
            await self._answer_messages(self._target.place) if self._answer_messages is not None else ()
        )
        return self._context.posted_messages.messages.union(recorded)

    async def _grow(self, part: _Part, stream: SlackStream, write: Write, page: Page) -> None:
        context, place = self._context, self._target.place
        if (
            write.route == limits.STREAM
            and stream.certain
            and not write.final
            and not stream.continues(page.text)
        ):
            return  # changed text waits for the final write
        if write.route == limits.STREAM and stream.continues(page.text):
            try:
                if write.final:
                    await stop_stream(context, place, part.ts, stream, page, metadata=self._mark(write.part))
                    self._end_stream(part, stopped=False)
                else:
                    await append_page(context, place, part.ts, stream, page)
            except StreamEnded as ended:
                self._end_stream(part, stopped=ended.by_person)
            except BlocksRefused:
                await close_stream(context, place, part.ts, stream)
                self._end_stream(part, stopped=False)
            else:
                return
        else:
            await close_stream(context, place, part.ts, stream)
            self._end_stream(part, stopped=False)
        _check_not_stopped(part, write)
        await self._update(part, write, page)

    def _end_stream(self, part: _Part, *, stopped: bool) -> None:
        part.stream, part.stopped = None, stopped
        self._streams = False

    async def _update(self, part: _Part, write: Write, page: Page) -> None:
        try:
            await self._edit(part, write, page)
        except MessageLocked:
            if not write.final:
                raise
            await self._replace(part, write, page)
        except WriteRefused as error:
            if not is_still_open(error):
                raise
            await close_stream(self._context, self._target.place, part.ts, SlackStream())
            await self._edit(part, write, page)

    async def _replace(self, part: _Part, write: Write, page: Page) -> None:
        try:
            await self._remove(part)
        except ChatError as error:
            _log.warning("A locked message could not be deleted either: %s", error)
        part.ts = ""
        await self._create(part, write, page)

    async def _edit(self, part: _Part, write: Write, page: Page) -> None:
        await self._send(
            part,
            write,
            page,
            lambda body: call_api(
                "chat.update",
                self._context.write_client.chat_update(
                    channel=self._target.place.channel,
                    ts=part.ts,
                    metadata=self._mark(write.part),
                    **body,
                ),
            ),
        )

    async def _send(self, part: _Part, write: Write, page: Page, send: Send) -> Fields:
        forms = blocks.FORMS if write.final else blocks.FORMS[blocks.FORMS.index(part.form) :]
        for form in forms[:-1]:
            part.form = form
            try:
                return await send(blocks.body(page, form))
            except BlocksRefused as error:
                _log.warning("A message is sent again in a plainer form: %s", error)
        part.form = forms[-1]
        return await send(blocks.body(page, part.form))

    async def _remove(self, part: _Part) -> str:
        if not part.ts:
            return ""
        if part.stream is not None:
            await close_stream(self._context, self._target.place, part.ts, part.stream)
            self._end_stream(part, stopped=False)
        try:
            await self._delete(part.ts)
        except Gone:
            return part.ts
        return part.ts

    async def _delete(self, ts: str) -> None:
        channel = self._target.place.channel
        await call_api("chat.delete", self._context.write_client.chat_delete(channel=channel, ts=ts))

    def _mark(self, number: int) -> dict[str, Any]:
        if number and 0 in self._parts:
            return message_recovery.part_mark(self._parts[0].ts, number)
        return message_recovery.first_mark(self._target.source, self._number)


def _check_not_stopped(part: _Part, write: Write) -> None:
    if part.stopped and not write.final:
        raise Stopped("Somebody stopped the stream in Slack.")
