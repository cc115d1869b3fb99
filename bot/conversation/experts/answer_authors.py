from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.access.permissions import answer_or_none
from bot.messages import language_of, say

if TYPE_CHECKING:
    from bot.port import Directory, IncomingMessage, Room
    from bot.store.expert_requests import ExpertPost, ExpertRequest, ExpertRequests
    from bot.streaming.notifier import Notifier


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerAuthors:
    requests: ExpertRequests
    notifier: Notifier

    async def counts(
        self, message: IncomingMessage, request: ExpertRequest, post: ExpertPost, room: Room
    ) -> bool:
        """Whether it is the experts' word, and not talk or a bystander's. A bystander is notified."""
        if post.person:
            return True
        if _is_talk(message, request):
            return False
        if message.person.id in {each.person for each in await self.requests.followers(request)}:
            return False
        may = await _may_answer(message.person.id, post.channel, room.directory)
        if not may:
            sentence = say(
                "expert_only_members" if may is False else "expert_unchecked", language_of("", message.person)
            )
            await self.notifier.try_to_send(room, message.person, sentence)
        return bool(may)


def _is_talk(message: IncomingMessage, request: ExpertRequest) -> bool:
    """Begins with another's name, or replies to another's message."""
    text = message.text.lstrip()
    to_asker = bool(request.name) and text.startswith(f"@{request.name}")
    return message.to_others and not to_asker and (text.startswith("@") or bool(message.replies_to))


async def _may_answer(person: str, channel: str, directory: Directory) -> bool | None:
    """Who reads a channel of several organisations is meant with it. None: the platform does not answer."""
    found = await answer_or_none(directory.channel(channel))
    if found is None or found.external:
        return None if found is None else True
    return await answer_or_none(directory.are_members(person=person))
