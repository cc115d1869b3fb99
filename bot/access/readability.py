"""Without the platform's answer nobody may read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from bot.access.permissions import answer_or_none
from bot.messages.refusals import Phrase, PlaceName
from bot.messages.workspace_names import sentence_on

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Mapping, Sequence

    from bot.access.permissions import Permissions
    from bot.port import Channel, Directory, Person, Place
    from bot.store.places import StoredAudience
    from rag_engine.types import KnowledgeBase, KnowledgeBaseId

FEW = ("direct", "group")
"""Channels that only their members know of."""

Verdict: TypeAlias = Literal["readable", "closed", "unknown"]

_MADE_IN_CHAT = re.compile(r"[a-z_]+:.*~[0-9a-f]{12}", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceKnowledge:
    place: Place
    bases: Mapping[KnowledgeBaseId, KnowledgeBase]
    audiences: Mapping[KnowledgeBaseId, StoredAudience]
    bindings: Sequence[KnowledgeBaseId]
    everywhere: frozenset[KnowledgeBaseId]

    def own(self) -> list[KnowledgeBaseId]:
        places = dict.fromkeys((self.place, self.place.parent))
        return [
            knowledge_base
            for place in places
            for knowledge_base, audience in self.audiences.items()
            if audience.place == place and not audience.label and knowledge_base in self.bases
        ]

    def used(self) -> list[KnowledgeBaseId]:
        """Own, bound, and shared with every place."""
        bound = [knowledge_base for knowledge_base in self.bindings if knowledge_base in self.bases]
        return list(dict.fromkeys((*self.own(), *bound, *sorted(self.everywhere))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Readability:
    """Of the person, or of everyone in the channel."""

    knowledge: PlaceKnowledge
    directory: Directory
    person: Person | None
    channel: Channel | None
    """None if the platform did not answer."""
    directory_calls: asyncio.Semaphore
    access: Permissions

    @property
    def is_direct(self) -> bool:
        return self.channel is not None and self.channel.kind == "direct"

    async def verdict(self, knowledge_base: KnowledgeBaseId) -> Verdict:
        """`unknown` if the platform did not answer."""
        place = self.knowledge.place
        audience = self.knowledge.audiences.get(knowledge_base)
        if audience is None:
            return (
                "closed"
                if is_made_in_chat(self.knowledge.bases[knowledge_base])
                else await self._operators_verdict()
            )
        if (audience.platform, audience.workspace) != (place.platform, place.workspace):
            return "closed"
        if audience.everyone:
            return await self._members_verdict()
        if audience.place in (place, place.parent):
            return "readable"
        return "closed" if audience.thread else await self._channel_verdict(audience.channel)

    async def _operators_verdict(self) -> Verdict:
        if not self.access.trusts(self.knowledge.place, self.directory):
            return "closed"
        guests = self.access.settings.guests and self.channel is not None and self.channel.kind not in FEW
        return self._inside_verdict() if guests else await self._members_verdict()

    async def _members_verdict(self) -> Verdict:
        verdict = self._inside_verdict()
        if verdict != "readable":
            return verdict
        async with self.directory_calls:
            if self.person is not None:
                are = await answer_or_none(self.directory.are_members(person=self.person.id))
            else:
                here = self.knowledge.place.channel
                are = await answer_or_none(self.directory.are_members(everyone_in=here))
        return "unknown" if are is None else "readable" if are else "closed"

    def _inside_verdict(self) -> Verdict:
        """External people may read their channel's own only."""
        if self.channel is None:
            return "unknown"
        return "closed" if self.channel.external else "readable"

    async def _channel_verdict(self, owner: str) -> Verdict:
        verdict = self._inside_verdict()
        if verdict != "readable":
            return verdict
        async with self.directory_calls:
            held_by = await answer_or_none(self.directory.channel(owner))
            if held_by is None:
                return "unknown"
            if held_by.kind in FEW:
                return "closed"
            if self.person is not None:
                may = await answer_or_none(self.directory.may_read(owner, person=self.person.id))
            else:
                may = await answer_or_none(
                    self.directory.may_read(owner, everyone_in=self.knowledge.place.channel)
                )
        return "unknown" if may is None else "readable" if may else "closed"

    async def name(self, knowledge_base: KnowledgeBaseId) -> PlaceName:
        audience, place = self.knowledge.audiences.get(knowledge_base), self.knowledge.place
        if audience is None:
            return PlaceName(self.knowledge.bases[knowledge_base].name)
        if audience.label:
            return PlaceName(audience.label)
        if audience.thread:
            return PlaceName(Phrase("this_thread"))
        held_by = self.channel
        if audience.channel != place.channel:
            held_by = await answer_or_none(self.directory.channel(audience.channel))
        is_here = audience.channel == place.channel
        if held_by is not None and held_by.kind in FEW and (is_here or held_by.name):
            return PlaceName(Phrase("this_conversation"))
        if held_by is None or not held_by.name:
            return PlaceName(Phrase("this_channel" if is_here else "another_channel"))
        return PlaceName(_channel_name(held_by))

    async def origin(self, knowledge_base: KnowledgeBaseId) -> Phrase:
        audience = self.knowledge.audiences.get(knowledge_base)
        if audience is None:
            return Phrase("not_made_in_chat")
        if audience.everyone:
            return Phrase(sentence_on(self.knowledge.place.platform, "of_workspace"))
        held_by = await answer_or_none(self.directory.channel(audience.channel))
        if held_by is None or not held_by.name:
            return Phrase("of_another_channel")
        return Phrase("of_channel", {"channel": _channel_name(held_by)})


def _channel_name(channel: Channel) -> str:
    return f"#{channel.name.removeprefix('#')}"


def is_made_in_chat(base: KnowledgeBase) -> bool:
    """Without its audience nobody may see it."""
    return bool(_MADE_IN_CHAT.fullmatch(base.name))
