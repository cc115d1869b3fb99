"""A person may read what they could ask privately in each of their channels."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from bot.access.permissions import answer_or_none
from bot.access.readability import PlaceKnowledge, Readability
from bot.port import NO_WORKSPACE, Channel, Place
from rag_engine.storage.knowledge_base_names import folded

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from bot.access.permissions import Permissions
    from bot.port import Directory, Person
    from bot.store.places import Places, StoredAudience
    from rag_engine.ports import Catalog
    from rag_engine.types import KnowledgeBaseId

_MOST_WORKSPACES: Final = 25
"""Each is one look-up of the person's membership."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Workspace:
    place: Place
    directory: Directory
    own: Sequence[StoredAudience]
    bound: Sequence[tuple[Place, KnowledgeBaseId]]

    @property
    def channels(self) -> frozenset[str]:
        held = {audience.channel for audience in self.own} | {place.channel for place, _ in self.bound}
        return frozenset(held - {""})


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectMessages:
    places: Places
    catalog: Catalog
    access: Permissions

    async def checks(self, check: Readability, person: Person) -> tuple[list[Readability], bool]:
        """`check` is the direct message's; one per workspace and channel with knowledge. False if not all could be made."""
        place = check.knowledge.place
        workspaces = await self._workspaces(place, check.directory)
        found = await asyncio.gather(*(self._of_workspace(each, check, person) for each in workspaces))
        return [one for each in found for one in each or ()], all(each is not None for each in found)

    async def _workspaces(self, place: Place, directory: Directory) -> list[_Workspace]:
        own, bound = await self.places.in_channels(place.platform)
        names = {audience.workspace for audience in own} | {where.workspace for where, _ in bound}
        names |= {*self.access.settings.workspaces, place.workspace} - {NO_WORKSPACE}
        if place.workspace != NO_WORKSPACE:
            names &= {place.workspace}
        listed = self.access.settings.workspaces
        found: list[_Workspace] = []
        for name in sorted(names, key=lambda name: (name not in listed, name)):
            hub = Place(platform=place.platform, workspace=name, channel="")
            of_it = directory if name == place.workspace else directory.of_workspace(name)
            if of_it is not None and self.access.serves(hub):
                found.append(
                    _Workspace(
                        place=hub,
                        directory=of_it,
                        own=[audience for audience in own if audience.workspace == name],
                        bound=[one for one in bound if one[0].workspace == name],
                    )
                )
        return found[:_MOST_WORKSPACES]

    async def _of_workspace(
        self, workspace: _Workspace, check: Readability, person: Person
    ) -> list[Readability] | None:
        joined: frozenset[str] | None = frozenset()
        if workspace.channels:
            joined = await answer_or_none(workspace.directory.joined(person.id, workspace.channels))
        if joined is None:
            return None
        knowledge = await self._knowledge(workspace, joined)
        channels = sorted(joined)
        described = await asyncio.gather(
            *(self._described(workspace.directory, each, check) for each in channels)
        )
        alone = replace(check, directory=workspace.directory, person=person)
        checks = [
            replace(
                alone,
                knowledge=replace(
                    knowledge,
                    place=replace(workspace.place, channel=channel.id),
                    bindings=[base for place, base in workspace.bound if place.channel == channel.id],
                ),
                channel=channel,
            )
            for channel in described
            if channel is not None
        ]
        hub = replace(alone, knowledge=knowledge, channel=Channel(id="", name="", kind="direct"))
        return [hub, *checks] if len(checks) == len(channels) else None

    async def _described(self, directory: Directory, channel: str, check: Readability) -> Channel | None:
        async with check.directory_calls:
            return await answer_or_none(directory.channel(channel))

    async def _knowledge(self, workspace: _Workspace, joined: Collection[str]) -> PlaceKnowledge:
        everywhere = {folded(name) for name in self.access.settings.everywhere}
        for_all = [audience.knowledge_base for audience in workspace.own if audience.everyone]
        ids = {
            *for_all,
            *(audience.knowledge_base for audience in workspace.own if audience.channel in joined),
        }
        ids.update(base for place, base in workspace.bound if place.channel in joined)
        bases = {base.id: base for base in await self.catalog.select(ids=ids, names=everywhere)}
        audiences = await self.places.audiences(bases)
        return PlaceKnowledge(
            place=workspace.place,
            bases=bases,
            audiences=audiences,
            bindings=for_all,
            everywhere=frozenset(
                one for one, base in bases.items() if one not in audiences and folded(base.name) in everywhere
            ),
        )
