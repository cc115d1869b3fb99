from __future__ import annotations

import asyncio
import logging
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from bot.conversation.experts import answer_files, expert_messages
from bot.port import ChatError, MessageDeleted
from bot.store.expert_requests import OPEN
from rag_engine.errors import RagError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Collection

    from bot.conversation.experts.answer_authors import AnswerAuthors
    from bot.conversation.experts.answer_delivery import AnswerDelivery
    from bot.conversation.experts.expert_posts import ExpertPosts
    from bot.conversation.outbound import OutboundRooms
    from bot.port import Action, IncomingMessage, Room
    from bot.store.expert_requests import ExpertPost, ExpertRequest, ExpertRequests, RequestState

_ASKED: Final = ("sending", "waiting")
_ASKED_BACK: Final = ("asking", "asked")
_ANSWERED: Final = ("answered", "delivered")
_TICK_SECONDS: Final = 30.0
_RETRY_SECONDS: Final = 5.0
_LONGEST_SAID: Final = 40_000
_RETENTION_SECONDS: Final = 90 * 86_400.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertService:
    """`reminder_seconds`: until the one reminder, and then until the next experts."""

    requests: ExpertRequests
    outbound: OutboundRooms
    posts: ExpertPosts
    delivery: AnswerDelivery
    authors: AnswerAuthors
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
        self._due.set()

    async def work(self) -> bool:
        """Write what is due. False if the platform refuses some of it now."""
        async with self._lock:
            passed, done = self._passed(), True
            for platform in tuple(self.outbound.recalls):
                for request in await self.requests.waiting(platform):
                    await self._wait(request, passed)
                for request in await self.requests.due(platform):
                    done = await self._guarded(request) and done
        return done

    async def hears(self, message: IncomingMessage, room: Room) -> bool:
        """Whether it is said to an asker or an expert, and not to us."""
        if message.by_bot or message.ours or message.private:
            return False
        waited = await self.requests.is_being_sent(message.place)
        if waited:
            await self.work()
        while below := await self.requests.below(message.place, replies_to=message.replies_to):
            request, post = below
            if message.person.id == request.person or post.person not in ("", message.person.id):
                return False
            if message.id in (request.said_in, *request.heard):
                return True
            if not request.is_awaited:
                return not message.addressed
            if request.is_turning and not waited:
                waited = True
                await self.work()
                continue
            if not await self.authors.counts(message, request, post, room):
                return not message.addressed
            heard = _heard(request, post, message)
            if heard.is_gone or await self.requests.change(request, heard):
                self.hurry()
                return True
        return await self._hears_asker(message)

    async def _hears_asker(self, message: IncomingMessage) -> bool:
        text = message.text.strip()[:_LONGEST_SAID]
        while text and (request := await self.requests.asked_back(message.place, message.person.id)):
            # After a restart Discord gives the asker's earlier messages again.
            if message.id in (request.message, *request.heard) or 0 < message.at < request.said_at:
                break
            heard = replace(
                request,
                state="replying",
                replied=text,
                replied_in=message.id,
                heard=request.hearing(message.id),
            )
            if await self.requests.change(request, heard):
                self.hurry()
                return True
        return await self.requests.was_reply(message.place, message.id)

    async def hears_again(self, message: IncomingMessage | MessageDeleted) -> bool:
        """What an expert said was edited or deleted."""
        deleted = isinstance(message, MessageDeleted)
        said = "" if deleted else message.text.strip()[:_LONGEST_SAID]
        while request := await self.requests.said_in(message.place, message.id):
            if request.state not in (*_ANSWERED, *_ASKED_BACK):
                break
            if deleted:
                changed = await self._take_back(request)
            elif request.said == said:
                break
            else:
                state = "asking" if request.state in _ASKED_BACK else "answered"
                changed = await self.requests.change(request, replace(request, state=state, said=said))
            if changed:
                self.hurry()
                break
        return request is not None

    async def reclassify(self, request: ExpertRequest, *, round_number: str, what: str) -> bool:
        """False if it cannot be corrected any more."""
        if round_number != str(request.round) or request.is_gone:
            return False
        if what == "question":
            return await self._move(request, _ANSWERED, "asking")
        if what == "answer":
            return await self._move(request, _ASKED_BACK, "answered")
        done = request.state in (*_ANSWERED, *_ASKED_BACK) and await self._take_back(request)
        self.hurry()
        return done

    async def decline(self, request: ExpertRequest, action: Action) -> bool | None:
        """They cannot answer. None if they are not waited for, else whether others are."""
        posts = [post for post in await self.requests.posts(request) if post.post]
        pressed = next(
            (post for post in posts if post.place == action.place.parent and _may_press(post, action)), None
        )
        if pressed is None or request.state not in _ASKED:
            return None
        await self.requests.keep_post(replace(pressed, state="declined"))
        if any(post.state == "asked" and post != pressed for post in posts):
            return True
        return await self.give_up(request)

    async def give_up(self, request: ExpertRequest) -> bool:
        """These experts are waited for no longer. Whether there are others."""
        others = bool(await self._next_experts(request))
        return await self._move(request, _ASKED, "handing" if others else "declined") and others

    async def withdraw(self, request: ExpertRequest) -> bool:
        """The asker needs no answer any more; others who asked the same still do."""
        if not request.is_open:
            return False
        followers = await self.requests.followers(request)
        if followers:
            return await self._pass_on(request, followers[0])
        return await self._move(request, OPEN, "closed" if request.parent else "withdrawn")

    async def withdraw_of(self, answer: str) -> None:
        for identity in (answer, f"gap:{answer}"):
            request = await self.requests.of_answer(identity)
            if request is not None:
                await self.withdraw(request)

    async def _move(
        self, request: ExpertRequest, states: Collection[RequestState], state: RequestState
    ) -> bool:
        """Also if something was just written about it. False if it is in none of the `states`."""
        current: ExpertRequest | None = request
        while current is not None and current.state in states and current.hop == request.hop:
            if await self.requests.change(current, replace(current, state=state)):
                self.hurry()
                return True
            current = await self.requests.find(request.id)
        return False

    async def _pass_on(self, request: ExpertRequest, other: ExpertRequest) -> bool:
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
            question=other.question,
            body=other.body,
            quotes=other.quotes,
            state="asking" if request.state == "asked" else request.state,
            delivered=(),
            round=request.round + 1,
        )
        done = await self.requests.change(request, kept)
        await self.requests.remove(other)
        self.hurry()
        return done

    async def _take_back(self, request: ExpertRequest) -> bool:
        await self.delivery.files.remove(request)
        gone = replace(request, state="answered", said="", files=(), carry=False)
        return await self.requests.change(request, gone)

    async def _run(self) -> None:
        while True:
            self._due.clear()
            seconds = min(_TICK_SECONDS, self.reminder_seconds / 4)
            try:
                if not await self.work():
                    seconds = min(seconds, _RETRY_SECONDS)
                await self.requests.prune(before=time.time() - self.retention_seconds)
            except RagError as error:
                _log.warning("questions to experts wait: %s", error)
            try:
                async with asyncio.timeout(seconds):
                    await self._due.wait()
            except TimeoutError:
                continue

    def _passed(self) -> float:
        now = self.monotonic()
        passed = now - self._ticked[-1] if self._ticked else 0.0
        self._ticked[:] = [now]
        return passed

    async def _guarded(self, request: ExpertRequest) -> bool:
        try:
            await self._advance(request)
        except (ChatError, TimeoutError) as error:
            _log.warning("a message about an expert's answer waits: %s", type(error).__name__)
            return False
        return True

    async def _advance(self, request: ExpertRequest) -> None:
        if request.state == "sending":
            await self._send(request)
        elif request.state == "handing":
            await self._hand_over(request)
        elif request.state == "withdrawn":
            await self.posts.close(request, "expert_withdrawn")
            await self.requests.change(request, replace(request, state="closed"))
        elif request.state == "replying":
            await self._bring_reply(request)
        elif not await self.delivery.deliver(request):
            self.hurry()

    async def _send(self, request: ExpertRequest) -> None:
        if await self.posts.send(request):
            await self.requests.change(request, replace(request, state="waiting"))
        else:
            await self.give_up(request)

    async def _hand_over(self, request: ExpertRequest) -> None:
        await self.posts.close(request, "expert_handed_over")
        experts = await self._next_experts(request)
        if not experts:
            await self.requests.change(request, replace(request, state="declined"))
            self.hurry()
            return
        handed = replace(
            request, state="sending", expert_channel=experts, hop=request.hop + 1, waited=0.0, reminded=False
        )
        if await self.requests.change(request, handed):
            await self._send(handed)

    async def _bring_reply(self, request: ExpertRequest) -> None:
        await self.posts.bring_reply(request)
        await self.delivery.show_reply(request)
        waiting = replace(
            request,
            state="waiting",
            said="",
            waited=0.0,
            reminded=False,
            delivered=(),
            receipt=(),
            round=request.round + 1,
        )
        await self.requests.change(request, waiting)

    async def _wait(self, request: ExpertRequest, passed: float) -> None:
        waited = request.waited + passed
        if not request.reminded and waited >= self.reminder_seconds:
            try:
                await self.posts.remind(request)
            except (ChatError, TimeoutError) as error:
                _log.warning("experts could not be reminded: %s", type(error).__name__)
                return
            await self.requests.change(request, replace(request, waited=waited, reminded=True))
        elif request.reminded and waited >= 2 * self.reminder_seconds:
            await self.give_up(replace(request, waited=waited))
        elif passed:
            await self.requests.change(request, replace(request, waited=waited))

    async def _next_experts(self, request: ExpertRequest) -> str:
        if request.answer_id.startswith("gap:"):
            return ""
        listed = await self.requests.experts({request.knowledge_base}, request.place)
        return next((experts for _, experts in listed[request.hop + 1 :][:1]), "")


def _may_press(post: ExpertPost, action: Action) -> bool:
    return post.person in ("", action.person.id)


def _heard(request: ExpertRequest, post: ExpertPost, message: IncomingMessage) -> ExpertRequest:
    said = message.text.strip()[:_LONGEST_SAID]
    asks = expert_messages.is_question(message)
    if request.state == "asking":  # the asker did not see it yet
        said = f"{request.said}\n\n{said}"[:_LONGEST_SAID]
    begins = request.state in ("asked", "replying", "answered", "delivered")
    shown = () if begins else request.delivered
    return replace(
        request,
        state="asking" if asks else "answered",
        expert=message.person.id,
        expert_name=message.person.name,
        said=said,
        said_in=message.id,
        said_uri=message.uri,
        said_at=message.at or time.time(),
        said_by_post=post.person,
        files=answer_files.names(message.attachments),
        carry=bool(message.attachments),
        heard=request.hearing(message.id),
        round=request.round + begins,
        delivered=shown,
        receipt=() if begins else request.receipt,
    )
