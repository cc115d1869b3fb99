from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bot.conversation.experts import expert_messages
from bot.conversation.experts.expert_readers import draft_posts
from bot.port import Gone, Person, WriteRefused

if TYPE_CHECKING:
    from bot.conversation.experts.expert_readers import ExpertReaders
    from bot.conversation.outbound import OutboundRooms
    from bot.port import Directory, Reply, Room
    from bot.store.expert_requests import ExpertPost, ExpertRequest, ExpertRequests
    from bot.streaming.scheduler import Scheduler

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertPosts:
    requests: ExpertRequests
    outbound: OutboundRooms
    scheduler: Scheduler
    readers: ExpertReaders

    async def send(self, request: ExpertRequest) -> bool:
        """False if nobody of the current experts can be written to."""
        directory = await self._directory(request)
        for post in await self.requests.posts(request) or await self._address(request, directory):
            if post.state == "open":
                await self._send(request, post, directory)
        return any(post.state == "asked" for post in await self.requests.posts(request))

    async def close(
        self, request: ExpertRequest, why: expert_messages.ClosingSentence, *, besides: str | None = None
    ) -> None:
        """All posts but one person's."""
        posted = [post for post in await self.requests.posts(request) if post.post and post.person != besides]
        if not posted:
            return
        directory = await self._directory(request)
        for post in posted:
            text = await self._text(request, post, directory)
            try:
                room = await self._room(request, post, key=self._key("expert", request, post))
                await self.write(room, expert_messages.closed(request, text, why), posted=(post.post,))
            except (Gone, WriteRefused) as error:
                _log.warning("a question to experts could not be closed: %s", type(error).__name__)

    async def remind(self, request: ExpertRequest) -> None:
        for post in await self.requests.posts(request):
            if post.state == "asked":
                try:
                    await self._remind(request, post)
                except (Gone, WriteRefused) as error:
                    _log.warning("an expert cannot be reminded: %s", type(error).__name__)

    async def bring_reply(self, request: ExpertRequest) -> None:
        post = await self._answered_post(request)
        if post is None:
            return
        key = self._key("expert-reply", request, post)
        room = await self._thread(request, post, key=f"{key}-{request.round}")
        posted = await self.write(room, expert_messages.replied(request))
        if not expert_messages.has_threads(post):
            await self.requests.keep_post(replace(post, also=tuple(dict.fromkeys((*post.also, *posted)))))

    async def confirm(self, request: ExpertRequest) -> tuple[str, ...]:
        post = await self._answered_post(request)
        if post is None or request.parent:
            return request.receipt
        key = self._key("expert-receipt", request, post)
        try:
            room = await self._thread(request, post, key=f"{key}-{request.round}")
            return await self.write(room, expert_messages.receipt(request), posted=request.receipt)
        except (Gone, WriteRefused) as error:
            _log.warning("experts get no confirmation of what was sent: %s", type(error).__name__)
            return request.receipt

    async def room_of_answer(self, request: ExpertRequest) -> Room:
        """Raises `ChatError`."""
        original = await self.requests.find(request.parent) if request.parent else request
        post = await self._answered_post(original) if original is not None else None
        if original is None or post is None:
            raise Gone("the question to the experts is gone")
        return await self._thread(original, post, key="expert-files")

    async def write(
        self, room: Room, reply: Reply, *, posted: tuple[str, ...] = (), private: Person | None = None
    ) -> tuple[str, ...]:
        outlet = room.outlet(private=private, posted=posted)
        async with self.scheduler.open(outlet, posted=posted) as stream:
            return await stream.finish(reply)

    async def _address(self, request: ExpertRequest, directory: Directory) -> list[ExpertPost]:
        people = await self.readers.readers(request.expert_channel, directory, without=request.person)
        posts = draft_posts(request, people)
        for number, post in enumerate(posts):
            if post.person:
                posts[number] = await _direct(post, directory)
        for post in posts:
            await self.requests.keep_post(post)
        return posts

    async def _send(self, request: ExpertRequest, post: ExpertPost, directory: Directory) -> None:
        threaded = expert_messages.has_threads(post)
        if not post.post:
            text = await self._text(request, post, directory)
            try:
                room = await self._room(request, post, key=self._key("expert", request, post))
                posted = await self.write(
                    room, expert_messages.question(request, text, hint=not threaded), posted=()
                )
            except (Gone, WriteRefused) as error:
                _log.warning("an expert could not be asked: %s", type(error).__name__)
                await self.requests.keep_post(replace(post, state="refused"))
                return
            post = replace(post, post=posted[0], also=posted[1:])
            await self.requests.keep_post(post)
        if threaded:
            place = replace(post.place, thread=post.post)
            reader = _reader(request, post)
            room = await self.outbound.room(place, reader, key="", below=post.post)
            await self.write(room, expert_messages.answer_here(request))
        await self.requests.keep_post(replace(post, state="asked"))

    async def _remind(self, request: ExpertRequest, post: ExpertPost) -> None:
        threaded = expert_messages.has_threads(post)
        room = await self._thread(request, post, key=self._key("expert-reminder", request, post))
        posted = await self.write(room, expert_messages.reminder(request, threaded=threaded))
        if not threaded:
            await self.requests.keep_post(replace(post, also=tuple(dict.fromkeys((*post.also, *posted)))))

    async def _text(self, request: ExpertRequest, post: ExpertPost, directory: Directory) -> str:
        return expert_messages.body(request, await self.readers.quotes(request, [post], directory))

    async def _answered_post(self, request: ExpertRequest) -> ExpertPost | None:
        posts = await self.requests.posts(request)
        return next((post for post in posts if post.post and post.person == request.said_by_post), None)

    async def _directory(self, request: ExpertRequest) -> Directory:
        room = await self.outbound.room(request.place.parent, request.asker, key=f"experts:{request.id}")
        return room.directory

    async def _room(self, request: ExpertRequest, post: ExpertPost, *, key: str) -> Room:
        return await self.outbound.room(post.place, _reader(request, post), key=key, after=request.message)

    async def _thread(self, request: ExpertRequest, post: ExpertPost, *, key: str) -> Room:
        threaded = expert_messages.has_threads(post)
        place = replace(post.place, thread=post.post) if threaded else post.place
        return await self.outbound.room(place, _reader(request, post), key=key, after=post.post)

    def _key(self, what: str, request: ExpertRequest, post: ExpertPost) -> str:
        person = f"-{post.person}" if post.person else ""
        return f"{what}:{request.id}-{request.hop}{person}"


def _reader(request: ExpertRequest, post: ExpertPost) -> Person:
    return Person(id=post.person) if post.person else request.asker


async def _direct(post: ExpertPost, directory: Directory) -> ExpertPost:
    try:
        place = await directory.direct(post.person)
    except (Gone, WriteRefused) as error:
        _log.warning("an expert has no direct messages: %s", type(error).__name__)
        return replace(post, state="refused")
    return replace(post, workspace=place.workspace, channel=place.channel)
