from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bot.conversation.experts import expert_messages

if TYPE_CHECKING:
    from bot.conversation.experts.answer_files import AnswerFiles
    from bot.conversation.experts.expert_posts import ExpertPosts
    from bot.conversation.outbound import OutboundRooms
    from bot.port import Room
    from bot.store.expert_requests import ExpertRequest, ExpertRequests, RequestState


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerDelivery:
    requests: ExpertRequests
    outbound: OutboundRooms
    posts: ExpertPosts
    files: AnswerFiles

    async def deliver(self, request: ExpertRequest) -> bool:
        """An answer, its absence, or a question back. False if it changed meanwhile."""
        for follower in await self.requests.followers(request):
            await self._follow(request, follower)
        if request.state == "declined" and not request.parent:
            await self.posts.close(request, "expert_closed")
        elif request.state == "answered" and not request.is_gone:
            await self.posts.close(request, "expert_closed", besides=request.said_by_post)
        return await self._deliver(request)

    async def show_reply(self, request: ExpertRequest) -> None:
        """The asker sees that the reply is on its way."""
        if request.delivered:
            room = await self._room(request)
            reply = expert_messages.asked_back(request, sent=True)
            await self.posts.write(room, reply, posted=request.delivered)

    async def _follow(self, request: ExpertRequest, follower: ExpertRequest) -> None:
        """A question back is for the first asker alone."""
        asks = request.state == "asking"
        if follower.state not in ("waiting", "delivered") or (asks and follower.is_gone):
            return
        text = replace(
            follower,
            state="answered" if asks else request.state,
            expert=request.expert,
            expert_name=request.expert_name,
            said="" if asks else request.said,
            said_uri=request.said_uri,
            said_at=request.said_at,
            said_by_post=request.said_by_post,
            files=() if asks else request.files,
            carry=request.carry,
        )
        if await self.requests.change(follower, text):
            await self._deliver(text)

    async def _deliver(self, request: ExpertRequest) -> bool:
        room = await self._room(request)
        if not (request.delivered or await room.directory.present(request.place, request.person)):
            await self.posts.close(request, "expert_closed")
            return await self.requests.change(request, replace(request, state="closed"))
        request = await self._carried(request, room)
        private = request.asker if request.private else None
        asks = request.state == "asking"
        reply = expert_messages.asked_back(request) if asks else expert_messages.answer(request)
        delivered = await self.posts.write(room, reply, posted=request.delivered, private=private)
        updated = replace(request, delivered=delivered)
        if request.state != "declined" and await self.requests.change(request, updated):
            request = updated
            updated = replace(updated, receipt=await self.posts.confirm(updated))
        after: dict[str, RequestState] = {"declined": "closed", "asking": "asked"}
        if await self.requests.change(request, replace(updated, state=after.get(request.state, "delivered"))):
            return True
        changed = await self.requests.find(request.id)
        if changed is not None and changed.round == request.round:
            await self.requests.change(
                changed, replace(changed, delivered=updated.delivered, receipt=updated.receipt)
            )
        return False

    async def _carried(self, request: ExpertRequest, room: Room) -> ExpertRequest:
        if not request.carry:
            return request
        files = await self.files.carry(request, room, await self.posts.room_of_answer(request))
        carried = replace(request, files=files, carry=False)
        return carried if await self.requests.change(request, carried) else request

    async def _room(self, request: ExpertRequest) -> Room:
        key = f"expert-answer:{request.id}-{request.round}"
        return await self.outbound.room(request.place, request.asker, key=key, after=request.message)
