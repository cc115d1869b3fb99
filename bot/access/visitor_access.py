"""What a visitor of the page may read now. Without the platform's answer: nothing."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

from bot.access.permissions import answer_or_none
from bot.access.readability import is_made_in_chat
from bot.port import Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bot.access.permissions import Permissions, Scope
    from bot.access.readability import Verdict
    from bot.port import Directory, Person
    from bot.store.places import StoredAudience
    from rag_engine.types import KnowledgeBase

_AT_ONCE: Final = 8


class PageScopes(Protocol):
    async def scope(self, place: Place, directory: Directory, *, person: Person | None = None) -> Scope: ...


class FindDirectory(Protocol):
    async def __call__(self, platform: str, workspace: str) -> Directory | None:
        """None if the platform is not connected."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitorAccess:
    """`person`: None for the operator, who reads everything; else an administrator of the `workspace`."""

    person: Person | None
    workspace: Place
    access: Permissions
    find: FindDirectory
    _places: dict[tuple[Place, str], Verdict] = field(
        default_factory=dict[tuple[Place, str], "Verdict"], init=False
    )
    _calls: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE), init=False)

    @property
    def is_operator(self) -> bool:
        return self.person is None

    def sees(self, place: Place) -> bool:
        of = (place.platform, place.workspace)
        return self.is_operator or of == (self.workspace.platform, self.workspace.workspace)

    async def directory(self, place: Place | None = None) -> Directory | None:
        at = place or self.workspace
        return await self.find(at.platform, at.workspace)

    async def reads(self, place: Place, *, private_of: str = "") -> Verdict:
        """`private_of`: the one person who was answered privately."""
        if self.person is None:
            return "readable"
        if not self.sees(place) or private_of not in ("", self.person.id):
            return "closed"
        key = (place, self.person.id)
        if key not in self._places:
            directory = await self.directory()
            may = None
            if directory is not None:
                async with self._calls:
                    may = await answer_or_none(directory.may_read_place(place, self.person.id))
            self._places[key] = "unknown" if may is None else "readable" if may else "closed"
        return self._places[key]

    async def read_all(self, places: Iterable[Place]) -> Mapping[Place, Verdict]:
        wanted = list(dict.fromkeys(places))
        verdicts = await asyncio.gather(*(self.reads(place) for place in wanted))
        return dict(zip(wanted, verdicts, strict=True))

    async def reads_base(self, base: KnowledgeBase, audience: StoredAudience | None) -> Verdict:
        if self.person is None:
            return "readable"
        if audience is None:
            return "closed" if is_made_in_chat(base) else await self._reads_operators()
        if not self.sees(audience.place):
            return "closed"
        return await self._belongs() if audience.everyone else await self.reads(audience.place)

    async def sees_base(self, base: KnowledgeBase, audience: StoredAudience | None) -> bool:
        if self.person is None:
            return True
        if audience is not None:
            return self.sees(audience.place)
        return not is_made_in_chat(base) and await self._reads_operators() != "closed"

    async def _reads_operators(self) -> Verdict:
        directory = await self.directory()
        if directory is None:
            return "unknown"
        return await self._belongs() if self.access.trusts(self.workspace, directory) else "closed"

    async def _belongs(self) -> Verdict:
        directory = await self.directory()
        if directory is None or self.person is None:
            return "unknown"
        are = await answer_or_none(directory.are_members(person=self.person.id))
        return "unknown" if are is None else "readable" if are else "closed"

    async def channel_name(self, place: Place) -> str:
        """`#general`, or its id. Only of a place that this visitor reads."""
        directory = await self.directory(place)
        found = None if directory is None else await answer_or_none(directory.channel(place.channel))
        if found is None:
            return place.channel
        if found.kind in ("direct", "group"):
            return "direct message" if found.kind == "direct" else "group message"
        return f"#{found.name.removeprefix('#')}" if found.name else place.channel
