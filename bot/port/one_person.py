from __future__ import annotations

from typing import TYPE_CHECKING

from bot.port.errors import Gone
from bot.port.places import Channel, Membership

if TYPE_CHECKING:
    from collections.abc import Collection

    from bot.port.places import Directory, People, Place


class OnePerson:
    home = "local"

    def of_workspace(self, workspace: str) -> Directory | None:
        return self

    async def channel(self, channel: str) -> Channel:
        return Channel(id=channel, name="", kind="direct")

    async def membership(self, person: str) -> Membership:
        return Membership(admin=True)

    async def may_read(self, channel: str, *, person: str = "", everyone_in: str = "") -> bool:
        return True

    async def are_members(self, *, person: str = "", everyone_in: str = "") -> bool:
        return True

    async def joined(self, person: str, channels: Collection[str]) -> frozenset[str]:
        return frozenset()

    async def may_read_place(self, place: Place, person: str) -> bool:
        return True

    async def shares_thread(self, place: Place) -> bool:
        return True

    async def present(self, place: Place, person: str) -> bool:
        return True

    async def people(self, mention: str) -> People:
        raise Gone("there is nobody else here")

    async def direct(self, person: str) -> Place:
        raise Gone("there is nobody else here")
