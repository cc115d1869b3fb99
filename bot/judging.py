"""Whether those who read a reply may read a knowledge base. Whatever the platform does not tell is left out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from bot.access import told

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Mapping, Sequence

    from bot.places import Audience
    from bot.port import Channel, Directory, Person, Place
    from rag_engine.types import KnowledgeBase, KnowledgeBaseId

FEW = ("direct", "group")
"""Kinds of channels that only those in them know of."""

Verdict: TypeAlias = Literal["readable", "closed", "untold"]

_OURS = re.compile(r"[a-z_]+:.*~[0-9a-f]{12}", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """What a place uses, and what is looked at beside that."""

    place: Place
    bases: Mapping[KnowledgeBaseId, KnowledgeBase]
    audiences: Mapping[KnowledgeBaseId, Audience]
    bindings: Sequence[KnowledgeBaseId]
    everywhere: frozenset[KnowledgeBaseId]

    def own(self) -> list[KnowledgeBaseId]:
        """Of the thread and of its channel."""
        places = dict.fromkeys((self.place, self.place.parent))
        return [
            knowledge_base
            for place in places
            for knowledge_base, audience in self.audiences.items()
            if audience.place == place and not audience.label and knowledge_base in self.bases
        ]

    def used(self) -> list[KnowledgeBaseId]:
        """What questions may look in, if their readers may: the own, the bound, and those that every place sees."""
        bound = [knowledge_base for knowledge_base in self.bindings if knowledge_base in self.bases]
        return list(dict.fromkeys((*self.own(), *bound, *sorted(self.everywhere))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """Whether the readers of a reply may read a knowledge base. The readers are the person, or everyone in the channel."""

    shelf: Shelf
    directory: Directory
    person: Person | None
    channel: Channel | None
    """Where the reply stands; None when the platform did not tell."""
    asking: asyncio.Semaphore

    async def verdict(self, knowledge_base: KnowledgeBaseId) -> Verdict:
        place = self.shelf.place
        audience = self.shelf.audiences.get(knowledge_base)
        if audience is None:
            return "closed" if is_ours(self.shelf.bases[knowledge_base]) else self._inside()
        if (audience.platform, audience.workspace) != (place.platform, place.workspace):
            return "closed"
        if audience.place in (place, place.parent):
            return "readable"
        if audience.thread:
            return "closed"
        return self._inside() if audience.everyone else await self._of_channel(audience.channel)

    def _inside(self) -> Verdict:
        """What the whole workspace may read is nothing for a channel that others read, too."""
        if self.channel is None:
            return "untold"
        return "closed" if self.channel.external else "readable"

    async def _of_channel(self, owner: str) -> Verdict:
        inside = self._inside()
        if inside != "readable":
            return inside
        async with self.asking:
            held_by = await told(self.directory.channel(owner))
            if held_by is None:
                return "untold"
            if held_by.kind in FEW:
                return "closed"
            if self.person is not None:
                may = await told(self.directory.may_read(owner, person=self.person.id))
            else:
                may = await told(self.directory.may_read(owner, everyone_in=self.shelf.place.channel))
        return "untold" if may is None else "readable" if may else "closed"

    async def name(self, knowledge_base: KnowledgeBaseId) -> str:
        """What a person calls it in the place."""
        audience, place = self.shelf.audiences.get(knowledge_base), self.shelf.place
        if audience is None:
            return self.shelf.bases[knowledge_base].name
        if audience.label:
            return audience.label
        if audience.thread:
            return "this thread"
        held_by = self.channel
        if audience.channel != place.channel:
            held_by = await told(self.directory.channel(audience.channel))
        if held_by is None or not held_by.name:
            return "this channel" if audience.channel == place.channel else "another channel"
        return "this conversation" if held_by.kind in FEW else f"#{held_by.name.removeprefix('#')}"

    async def origin(self, knowledge_base: KnowledgeBaseId) -> str:
        """Where it comes from: what is said of it when another has its name."""
        audience = self.shelf.audiences.get(knowledge_base)
        if audience is None:
            return "not made in chat"
        if audience.everyone:
            return "of the workspace"
        held_by = await told(self.directory.channel(audience.channel))
        return f"of #{held_by.name.removeprefix('#')}" if held_by and held_by.name else "of another channel"


def is_ours(base: KnowledgeBase) -> bool:
    """Whether it was made in chat: without an audience, which was lost or is being removed, nobody may see it."""
    return bool(_OURS.fullmatch(base.name))
