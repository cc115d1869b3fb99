"""Our messages that everyone in the place sees: streamed by Slack while that works, edited otherwise."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adapters.slack import blocks, streams
from adapters.slack.messages import is_ours
from adapters.slack.uploads import share
from adapters.slack.wire import Unfit, ask
from bot.port import Budget, Gone, Limits, Place, Refused, Route, Stopped, Unreachable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from adapters.slack.wire import Wire
    from bot.port import Page, Write

    Sending = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]

_log = logging.getLogger(__name__)
STREAM, EDIT = "stream", "edit"
CHARACTERS = 12_000
_DIALECT = "slack"
_EVENT = "footnote_message"
_LIFETIME = 270.0
_STREAM_EDIT_SECONDS = 0.6
_EDIT_SECONDS = 1.2
_LOOKED_BACK = 50


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
        known: set[str] | None = None,
    ) -> None:
        self._wire = wire
        self._target = target
        self._number = number
        """Of all outlets of its room: what it makes is told from what they make by that."""
        self._known = set[str]() if known is None else known
        """All that these outlets made."""
        self._edit = _edit_route(target.place)
        self._stream = _stream_route(target.place)
        self._parts = {number: _Part(ts=ts) for number, ts in enumerate(posted)}
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
        return (self._stream, self._edit) if self._streams else (self._edit,)

    async def write(self, write: Write) -> str:
        """See `bot.port.Outlet`."""
        part = self._parts.setdefault(write.part, _Part(doubtful=self._target.doubtful))
        if write.page is None:
            return await self._remove(part)
        if not part.ts and part.doubtful:
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
                await self._start(part, write, page)
            else:
                await self._post(part, write, page)
        except (Unreachable, asyncio.CancelledError):
            part.doubtful = True
            raise
        self._known.add(part.ts)

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
                    metadata=self._metadata(write.part),
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

    async def _look_for(self, part: _Part, number: int) -> None:
        """The message whose creation was not answered, if it is there: it carries what it answers, or is the stream we opened."""
        workspace = self._wire.workspace
        for message in reversed(await self._ours_since()):
            if not is_ours(message, workspace.user, workspace.bot):
                continue
            marked = message.get("metadata") or {}
            if marked.get("event_type") == _EVENT and marked.get("event_payload") == self._payload(number):
                part.ts, part.doubtful = str(message["ts"]), False
                self._known.add(part.ts)
                return
            if number == 0 and not marked and self._is_attempted(part, message):
                part.ts, part.doubtful = str(message["ts"]), False
                part.stream = part.attempted or streams.Stream(certain=False)
                return
        part.doubtful = False

    def _is_attempted(self, part: _Part, message: Mapping[str, Any]) -> bool:
        """A stream carries no mark before it ends: it is known by what it shows."""
        if part.attempted is None and not self._target.doubtful:
            return False
        began = part.attempted.text if part.attempted is not None else str(message.get("text") or "")
        known = {each.ts for each in self._parts.values()}
        return (
            message["ts"] not in known
            and not message.get("files")
            and str(message.get("text") or "").strip() == began.strip()
        )

    async def _ours_since(self) -> list[Mapping[str, Any]]:
        """The last messages of the place that came after what is answered."""
        place, asked = self._target.place, self._target.asked
        about: dict[str, Any] = {
            "channel": place.channel,
            "oldest": asked or None,
            "include_all_metadata": True,
            "limit": _LOOKED_BACK,
        }
        reader = self._wire.reader
        if place.thread:
            told = await ask("conversations.replies", reader.conversations_replies(ts=place.thread, **about))
        else:
            told = await ask("conversations.history", reader.conversations_history(**about))
        after = [message for message in told["messages"] if not asked or message["ts"] > asked]
        return sorted(after, key=lambda message: message["ts"])

    # changing

    async def _grow(self, part: _Part, stream: streams.Stream, write: Write, page: Page) -> None:
        wire, place = self._wire, self._target.place
        if write.route == STREAM and stream.certain and not write.final and not stream.continues(page.text):
            return  # what differs waits for the final write
        if write.route == STREAM and stream.continues(page.text):
            try:
                if write.final:
                    await streams.stop(
                        wire, place, part.ts, stream, page, metadata=self._metadata(write.part)
                    )
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
        except Refused as error:
            if not streams.is_open(error):
                raise
            await streams.close(self._wire, self._target.place, part.ts, streams.Stream())
            await self._rewrite(part, write, page)

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
                    metadata=self._metadata(write.part),
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

    def _payload(self, number: int) -> dict[str, Any]:
        return {"source": self._target.source, "answer": self._number, "part": number}

    def _metadata(self, number: int) -> dict[str, Any]:
        return {"event_type": _EVENT, "event_payload": self._payload(number)}


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
