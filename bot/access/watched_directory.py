from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from bot.port import ChatError, Gone, Unreachable, WriteRefused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Collection

    from bot.port import Channel, Directory, Membership, People, Place

_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedDirectory:
    """What is gone is no failure."""

    directory: Directory
    failures: list[ChatError] = field(default_factory=list[ChatError])

    @property
    def home(self) -> str:
        return self.directory.home

    @property
    def failure(self) -> ChatError | None:
        """A refusal says most: it names its remedy."""
        refused = (error for error in self.failures if isinstance(error, WriteRefused))
        return next(refused, self.failures[-1] if self.failures else None)

    def of_workspace(self, workspace: str) -> Directory | None:
        found = self.directory.of_workspace(workspace)
        return found and WatchedDirectory(directory=found, failures=self.failures)

    async def channel(self, channel: str) -> Channel:
        return await self._watch(self.directory.channel(channel))

    async def membership(self, person: str) -> Membership:
        return await self._watch(self.directory.membership(person))

    async def may_read(self, channel: str, *, person: str = "", everyone_in: str = "") -> bool:
        return await self._watch(self.directory.may_read(channel, person=person, everyone_in=everyone_in))

    async def are_members(self, *, person: str = "", everyone_in: str = "") -> bool:
        return await self._watch(self.directory.are_members(person=person, everyone_in=everyone_in))

    async def joined(self, person: str, channels: Collection[str]) -> frozenset[str]:
        return await self._watch(self.directory.joined(person, channels))

    async def may_read_place(self, place: Place, person: str) -> bool:
        return await self._watch(self.directory.may_read_place(place, person))

    async def shares_thread(self, place: Place) -> bool:
        return await self._watch(self.directory.shares_thread(place))

    async def present(self, place: Place, person: str) -> bool:
        return await self._watch(self.directory.present(place, person))

    async def people(self, mention: str) -> People:
        return await self._watch(self.directory.people(mention))

    async def direct(self, person: str) -> Place:
        return await self._watch(self.directory.direct(person))

    async def _watch(self, question: Awaitable[_Answer]) -> _Answer:
        try:
            return await question
        except Gone:
            raise
        except ChatError as error:
            self.failures.append(error)
            raise
        except asyncio.CancelledError:
            self.failures.append(Unreachable("the platform did not answer in time"))
            raise


def watched(directory: Directory) -> WatchedDirectory:
    return WatchedDirectory(directory=directory)
