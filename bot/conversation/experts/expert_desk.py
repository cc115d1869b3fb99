"""Writes what is due, and hears the experts."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from bot.conversation.experts import expert_messages
from bot.port import ChatError
from rag_engine.errors import RagError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from bot.conversation.outbound import OutboundRooms
    from bot.port import IncomingMessage, MessageDeleted, Person, Place, Reply, Room
    from bot.store.expert_requests import ExpertRequest, ExpertRequests
    from bot.streaming.scheduler import Scheduler

_ASKED: Final = ("sending", "waiting")
"""People may answer before it is recorded that they were asked."""
_TICK_SECONDS: Final = 30.0
_LONGEST_SAID: Final = 40_000
_RETENTION_SECONDS: Final = 90 * 86_400.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertDesk:
    """`reminder_seconds`: until the one reminder, and then until the next experts."""

    requests: ExpertRequests
    outbound: OutboundRooms
    scheduler: Scheduler
    reminder_seconds: float = 86_400.0
    retention_seconds: float = _RETENTION_SECONDS
    monotonic: Callable[[], float] = time.monotonic
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _due: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _ticked: list[float] = field(default_factory=list[float], init=False)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        task = asyncio.create_task(self._run(), name="experts")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])

    def hurry(self) -> None:
        """Something is due."""
        self._due.set()

    async def work(self) -> None:
        """Write what is due. What the platform refuses now is tried again later."""
        async with self._lock:
            passed = self._passed()
            for platform in tuple(self.outbound.recalls):
                for request in await self.requests.waiting(platform):
                    await self._wait(request, passed)
                for request in await self.requests.due(platform):
                    await self._guarded(request)

    async def hears(self, message: IncomingMessage) -> bool:
        """Whether it is said to an asker, and not to us."""
        if not message.in_thread or not message.place.thread or message.by_bot:
            return False
        while request := await self.requests.in_thread(message.place):
            if message.person.id == request.person:
                return False
            if request.state not in _ASKED:
                return not message.addressed
            said = expert_messages.said(message)[:_LONGEST_SAID]
            answered = replace(
                request,
                state="answered",
                expert=message.person.id,
                expert_name=message.person.name,
                said=said,
                said_in=message.id,
                said_uri=message.uri,
                said_at=message.at or time.time(),
            )
            if not said or await self.requests.change(request, answered):
                self.hurry()
                return True
        return False

    async def hears_again(self, message: IncomingMessage | MessageDeleted) -> bool:
        """An answer was edited or deleted."""
        text = getattr(message, "text", None)
        said = "" if text is None else str(text)[:_LONGEST_SAID]
        while request := await self.requests.said_in(message.place, message.id):
            if request.state not in ("answered", "delivered") or request.said == said:
                break
            if await self.requests.change(request, replace(request, state="answered", said=said)):
                self.hurry()
        return request is not None

    async def decline(self, request: ExpertRequest) -> bool:
        """These experts cannot answer. False if it does not wait for them."""
        if request.state not in _ASKED:
            return False
        state = "handing" if await self._next_channel(request) else "declined"
        done = await self.requests.change(request, replace(request, state=state))
        self.hurry()
        return done

    async def withdraw(self, request: ExpertRequest) -> bool:
        """The asker needs no answer any more; others who asked the same still do."""
        if not request.is_open:
            return False
        followers = await self.requests.followers(request)
        if followers:
            other = followers[0]
            kept = replace(
                request,
                channel=other.channel,
                thread=other.thread,
                message=other.message,
                answer_id=other.answer_id,
                private=other.private,
                person=other.person,
                name=other.name,
                language=other.language,
            )
            done = await self.requests.change(request, kept)
            await self.requests.remove(other)
            return done
        state = (
            "closed" if request.parent or (not request.post and request.state != "sending") else "withdrawn"
        )
        done = await self.requests.change(request, replace(request, state=state))
        self.hurry()
        return done

    async def withdraw_of(self, answer: str) -> None:
        """Its question was deleted."""
        request = await self.requests.of_answer(answer)
        if request is not None:
            await self.withdraw(request)

    async def _run(self) -> None:
        while True:
            self._due.clear()
            try:
                await self.work()
                await self.requests.prune(before=time.time() - self.retention_seconds)
            except RagError as error:
                _log.warning("questions to experts wait: %s", error)
            try:
                async with asyncio.timeout(_TICK_SECONDS):
                    await self._due.wait()
            except TimeoutError:
                continue

    def _passed(self) -> float:
        now = self.monotonic()
        passed = now - self._ticked[-1] if self._ticked else 0.0
        self._ticked[:] = [now]
        return passed

    async def _guarded(self, request: ExpertRequest) -> None:
        try:
            await self._advance(request)
        except (ChatError, TimeoutError) as error:
            _log.warning("a message about an expert's answer waits: %s", type(error).__name__)

    async def _advance(self, request: ExpertRequest) -> None:
        if request.state == "sending":
            await self._send(request)
        elif request.state == "handing":
            await self._hand_over(request)
        elif request.state == "withdrawn":
            await self._close_post(request, "expert_withdrawn")
            await self.requests.change(request, replace(request, state="closed"))
        else:
            await self._deliver_all(request)

    async def _send(self, request: ExpertRequest) -> None:
        if not request.post:
            room = await self._expert_room(request)
            posted = await self._write(room, expert_messages.question(request), posted=())
            sent = replace(request, post=posted[0])
            if not await self.requests.change(request, sent):
                return
            request = sent
        place = replace(request.expert_place, thread=request.post)
        room = await self.outbound.room(place, request.asker, key="", below=request.post)
        await self._write(room, expert_messages.answer_here(request), posted=())
        await self.requests.change(request, replace(request, state="waiting"))

    async def _hand_over(self, request: ExpertRequest) -> None:
        await self._close_post(request, "expert_handed_over")
        channel = await self._next_channel(request)
        if channel is None:
            await self.requests.change(request, replace(request, state="declined"))
            return
        handed = replace(
            request,
            state="sending",
            expert_channel=channel,
            post="",
            hop=request.hop + 1,
            waited=0.0,
            reminded=False,
        )
        await self.requests.change(request, handed)
        await self._send(handed)

    async def _deliver_all(self, request: ExpertRequest) -> None:
        """`declined` is told like an answer."""
        for follower in await self.requests.followers(request):
            if follower.state == "waiting":
                text = replace(
                    follower,
                    state=request.state,
                    expert=request.expert,
                    expert_name=request.expert_name,
                    said=request.said,
                    said_in="",
                    said_uri=request.said_uri,
                    said_at=request.said_at,
                )
                await self.requests.change(follower, text)
                await self._deliver(text)
        await self._deliver(request)

    async def _deliver(self, request: ExpertRequest) -> None:
        key = f"expert-answer:{request.id}"
        room = await self.outbound.room(request.place, request.asker, key=key, after=request.message)
        state = "closed" if request.state == "declined" else "delivered"
        delivered = request.delivered
        if delivered or await room.directory.present(request.place, request.person):
            private = request.asker if request.private else None
            delivered = await self._write(
                room, expert_messages.answer(request), posted=delivered, private=private
            )
        if request.state == "declined" and not request.parent:
            await self._close_post(request, "expert_closed")
        if await self.requests.change(request, replace(request, state=state, delivered=delivered)):
            return
        edited = await self.requests.find(request.id)
        if edited is not None and edited.state == "answered":
            await self.requests.change(edited, replace(edited, delivered=delivered))
            self.hurry()

    async def _close_post(self, request: ExpertRequest, why: expert_messages.ClosingSentence) -> None:
        if not request.post:
            return
        room = await self._expert_room(request)
        await self._write(room, expert_messages.closed(request, why), posted=(request.post,))

    async def _wait(self, request: ExpertRequest, passed: float) -> None:
        waited = request.waited + passed
        if not request.reminded and waited >= self.reminder_seconds:
            reminded = replace(request, waited=waited, reminded=True)
            if await self.requests.change(request, reminded):
                await self._remind(reminded)
        elif request.reminded and waited >= 2 * self.reminder_seconds:
            await self.decline(replace(request, waited=waited))
        elif passed:
            await self.requests.change(request, replace(request, waited=waited))

    async def _remind(self, request: ExpertRequest) -> None:
        place = replace(request.expert_place, thread=request.post)
        key = f"expert-reminder:{request.id}-{request.hop}"
        try:
            room = await self.outbound.room(place, request.asker, key=key, after=request.post)
            await self._write(room, expert_messages.reminder(request), posted=())
        except (ChatError, TimeoutError) as error:
            _log.warning("experts could not be reminded: %s", type(error).__name__)

    async def _next_channel(self, request: ExpertRequest) -> str | None:
        listed = await self.requests.experts({request.knowledge_base}, request.place)
        channels = [channel for _, channel in listed]
        return channels[request.hop + 1] if request.hop + 1 < len(channels) else None

    async def _expert_room(self, request: ExpertRequest) -> Room:
        key = f"expert:{request.id}-{request.hop}"
        place: Place = request.expert_place
        return await self.outbound.room(place, request.asker, key=key, after=request.message)

    async def _write(
        self, room: Room, reply: Reply, *, posted: tuple[str, ...], private: Person | None = None
    ) -> tuple[str, ...]:
        outlet = room.outlet(private=private, posted=posted)
        async with self.scheduler.open(outlet, posted=posted) as stream:
            return await stream.finish(reply)
