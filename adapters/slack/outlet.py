"""Our messages that everyone in the place sees: streamed by Slack while that works, edited otherwise."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from adapters.slack import blocks, lost, streams
from adapters.slack.uploads import share
from adapters.slack.wire import Frozen, Unfit, ask
from bot.port import Budget, ChatError, Gone, Limits, Place, Refused, Route, Stopped, Unreachable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from adapters.slack.wire import Wire
    from bot.port import Page, Write

    Sending = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]

_log = logging.getLogger(__name__)
STREAM, EDIT = "stream", "edit"
CHARACTERS = 12_000
_DIALECT = "slack"
_LIFETIME = 270.0
_STREAM_EDIT_SECONDS = 0.6
_EDIT_SECONDS = 1.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What is answered, and everything that Slack wants to know for it."""

    place: Place
    source: str
    """The id of what is answered: a message's ts, a command's id."""
    asked: str = ""
    """The ts of the message that is answered; empty when it is none."""
    in_thread: bool = False
    person: str = ""
    recipient_team: str = ""
    response_url: str = ""
    ephemeral: str = ""
    """The private message whose button was pressed."""
    doubtful: bool = False
    """It was told before: our messages under it may be there already."""
    by_command: bool = False


@dataclass(slots=True, kw_only=True)
class _Part:
    """One message of ours."""

    ts: str = ""
    stream: streams.Stream | None = None
    frozen: bool = False
    """A person stopped it: it changes once more, when it is final."""
    doubtful: bool = False
    """It may have been created by a call whose answer was lost."""
    attempted: streams.Stream | None = None
    shared: bool = False
    form: blocks.Form = blocks.FORMS[0]
    """What Slack took last."""


class Outlet:
    """See `bot.port.Outlet`."""

    def __init__(
        self,
        wire: Wire,
        target: Target,
        *,
        posted: Sequence[str] = (),
        number: int = 0,
        answers_in: Callable[[Place], Awaitable[frozenset[str]]] | None = None,
    ) -> None:
        self._wire = wire
        self._target = target
        self._number = number
        """Of all outlets of its room: what it makes is told from what they make by that."""
        self._answers_in = answers_in
        """Our messages of a place that are known to belong to an answer."""
        self._looks_back = target.doubtful
        self._edit = _edit_route(target.place)
        self._stream = _stream_route(target.place)
        self._parts = {number: _Part(ts=ts) for number, ts in enumerate(posted)}
        wire.made.add(*posted)
        self._streams = (
            wire.settings.streams
            and not posted
            and bool(target.place.thread and target.person)
            and wire.streaming.offered(target.place.channel)
        )

    @property
    def limits(self) -> Limits:
        seconds = _STREAM_EDIT_SECONDS if self._streams else _EDIT_SECONDS
        return Limits(characters=CHARACTERS, edit_seconds=seconds, dialect=_DIALECT)

    @property
    def routes(self) -> Sequence[Route]:
        if not self._streams:
            return (self._edit,)
        first = self._parts.get(0)
        if first is not None and first.stream is not None and not first.stream.certain:
            # Nothing more can be added to it: the next write closes it, which is a call that has to be paid for too.
            return (replace(self._stream, lifetime=0.0), self._edit)
        return (self._stream, self._edit)

    async def write(self, write: Write) -> str:
        """See `bot.port.Outlet`."""
        if self._looks_back:
            async with self._wire.made.alone(self._target.place):
                await self._look_back()
        part = self._parts.setdefault(write.part, _Part())
        if write.page is None:
            return await self._remove(part)
        if not part.ts and part.doubtful:
            async with self._wire.made.alone(self._target.place):
                await self._look_for(part, write.part)
        if not part.ts:
            await self._create(part, write, write.page)
        elif part.stream is not None:
            await self._grow(part, part.stream, write, write.page)
        else:
            _check_going_on(part, write)
            await self._update(part, write, write.page)
        if write.final and write.page.files and not part.shared:
            await share(self._wire, self._target.place, write.page.files)
            part.shared = True
        return part.ts

    # creating

    async def _create(self, part: _Part, write: Write, page: Page) -> None:
        offered = self._streams and self._wire.streaming.offered(self._target.place.channel)
        streamed = offered and write.route == STREAM and write.part == 0 and not write.final
        part.attempted = streams.Stream(text=page.text, status=page.status) if streamed else None
        try:
            if streamed:
                async with self._wire.made.alone(self._target.place):
                    await self._start(part, write, page)
            else:
                await self._post(part, write, page)
        except (Unreachable, asyncio.CancelledError):
            part.doubtful = True
            raise
        self._wire.made.add(part.ts)

    async def _start(self, part: _Part, write: Write, page: Page) -> None:
        target = self._target
        try:
            part.ts, part.stream = await streams.start(
                self._wire,
                target.place,
                page,
                recipient_team=target.recipient_team or self._wire.workspace.team,
                recipient=target.person,
            )
        except streams.NotOffered:
            self._streams, part.attempted = False, None
            await self._post(part, write, page)

    async def _post(self, part: _Part, write: Write, page: Page) -> None:
        place = self._target.place
        told = await self._send(
            part,
            write,
            page,
            lambda body: ask(
                "chat.postMessage",
                self._wire.writer.chat_postMessage(
                    channel=place.channel,
                    thread_ts=place.thread or None,
                    metadata=self._mark(write.part),
                    unfurl_links=False,
                    unfurl_media=False,
                    **body,
                ),
                self._uninvited(),
            ),
        )
        part.ts = str(told["ts"])
        self._streams = self._streams and write.part > 0

    def _uninvited(self) -> Mapping[str, str]:
        """Commands can be typed in channels where we may not write."""
        if not self._target.by_command:
            return {}
        name = self._wire.workspace.user_name
        sentence = f"I cannot write in this channel: invite me with /invite @{name}, then ask again."
        return {"not_in_channel": sentence, "channel_not_found": sentence}

    async def _look_back(self) -> None:
        """What is there from before, once: the first message is gone on with; later ones that nobody heard of go."""
        place, part = self._target.place, self._parts.get(0)
        try:
            messages = await lost.ours_since(self._wire, place, self._target.asked)
        except Refused as error:
            _log.warning("what stands in a channel may not be read again: %s", error)
            messages = []
        ts = part.ts if part is not None else lost.marked(messages, self._mark(0))
        if not ts and place.thread and self._target.person:  # where it may have been streamed
            ts = lost.unmarked(messages, others=await self._others())
            part = _Part(ts=ts, stream=streams.Stream(certain=False))
        if ts:
            self._parts[0] = part or _Part(ts=ts)
            self._wire.made.add(ts)
            for unheard in lost.later_parts(messages, ts):
                if unheard not in {each.ts for each in self._parts.values()}:
                    await ask("chat.delete", self._wire.writer.chat_delete(channel=place.channel, ts=unheard))
        self._looks_back = False

    async def _look_for(self, part: _Part, number: int) -> None:
        """The message whose creation was not answered, if it is there: it carries its mark, or is the stream we opened."""
        messages = await lost.ours_since(self._wire, self._target.place, self._target.asked)
        part.ts = lost.marked(messages, self._mark(number))
        if not part.ts and part.attempted is not None:
            part.ts = lost.unmarked(messages, others=await self._others(), text=part.attempted.text)
            part.stream = part.attempted if part.ts else None
        if part.ts:
            self._wire.made.add(part.ts)
        part.doubtful = False

    async def _others(self) -> frozenset[str]:
        """The messages that cannot be the one that is looked for."""
        told = await self._answers_in(self._target.place) if self._answers_in is not None else ()
        return self._wire.made.messages.union(told)

    # changing

    async def _grow(self, part: _Part, stream: streams.Stream, write: Write, page: Page) -> None:
        wire, place = self._wire, self._target.place
        if write.route == STREAM and stream.certain and not write.final and not stream.continues(page.text):
            return  # what differs waits for the final write
        if write.route == STREAM and stream.continues(page.text):
            try:
                if write.final:
                    await streams.stop(wire, place, part.ts, stream, page, metadata=self._mark(write.part))
                    self._close(part, frozen=False)
                else:
                    await streams.append(wire, place, part.ts, stream, page)
            except streams.Ended as ended:
                self._close(part, frozen=ended.by_person)
            except Unfit:
                await streams.close(wire, place, part.ts, stream)
                self._close(part, frozen=False)
            else:
                return
        else:
            await streams.close(wire, place, part.ts, stream)
            self._close(part, frozen=False)
        _check_going_on(part, write)
        await self._update(part, write, page)

    def _close(self, part: _Part, *, frozen: bool) -> None:
        part.stream, part.frozen = None, frozen
        self._streams = False

    async def _update(self, part: _Part, write: Write, page: Page) -> None:
        try:
            await self._rewrite(part, write, page)
        except Frozen:
            if not write.final:
                raise
            await self._replace(part, write, page)
        except Refused as error:
            if not streams.is_open(error):
                raise
            await streams.close(self._wire, self._target.place, part.ts, streams.Stream())
            await self._rewrite(part, write, page)

    async def _replace(self, part: _Part, write: Write, page: Page) -> None:
        """The last word in another message: half an answer must not be all that is left."""
        try:
            await self._remove(part)
        except ChatError as error:
            _log.warning("a message that cannot be changed cannot be taken away either: %s", error)
        part.ts = ""
        await self._create(part, write, page)

    async def _rewrite(self, part: _Part, write: Write, page: Page) -> None:
        await self._send(
            part,
            write,
            page,
            lambda body: ask(
                "chat.update",
                self._wire.writer.chat_update(
                    channel=self._target.place.channel,
                    ts=part.ts,
                    metadata=self._mark(write.part),
                    **body,
                ),
            ),
        )

    async def _send(self, part: _Part, write: Write, page: Page, call: Sending) -> dict[str, Any]:
        """Plainer and plainer, until Slack takes it. What grows keeps the form that was taken; its end may be better again."""
        forms = blocks.FORMS if write.final else blocks.FORMS[blocks.FORMS.index(part.form) :]
        for form in forms[:-1]:
            part.form = form
            try:
                return await call(blocks.body(page, form))
            except Unfit as error:
                _log.warning("A message is sent again with less in it: %s", error)
        part.form = forms[-1]
        return await call(blocks.body(page, part.form))

    async def _remove(self, part: _Part) -> str:
        if not part.ts:
            return ""
        place = self._target.place
        if part.stream is not None:
            await streams.close(self._wire, place, part.ts, part.stream)
            self._close(part, frozen=False)
        try:
            await ask("chat.delete", self._wire.writer.chat_delete(channel=place.channel, ts=part.ts))
        except Gone:
            return part.ts
        return part.ts

    # marks

    def _mark(self, number: int) -> dict[str, Any]:
        if number and 0 in self._parts:
            return lost.behind(self._parts[0].ts, number)
        return lost.first(self._target.source, self._number)


def _stream_route(place: Place) -> Route:
    return Route(
        name=STREAM,
        create=_budget(place, "chat.startStream", 20),
        edit=_budget(place, "chat.appendStream", 100),
        finish=_budget(place, "chat.stopStream", 20),
        lifetime=_LIFETIME,
        characters=CHARACTERS,
        grows=True,
    )


def _edit_route(place: Place) -> Route:
    update = _budget(place, "chat.update", 50)
    post = Budget(name=("slack", place.workspace, "chat.postMessage", place.channel), calls=5, seconds=5.0)
    return Route(name=EDIT, create=post, edit=update, finish=update)


def _budget(place: Place, method: str, calls: int) -> Budget:
    """Slack counts per method and workspace."""
    return Budget(name=("slack", place.workspace, method), calls=calls, seconds=60.0)


def _check_going_on(part: _Part, write: Write) -> None:
    if part.frozen and not write.final:
        raise Stopped("Somebody stopped the stream in Slack.")
