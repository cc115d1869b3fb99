"""Access to knowledge bases as a chat platform in memory needs it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bot.access.permissions import Permissions, Scope
from bot.messages.refusals import PlaceName
from bot.settings import AccessSettings
from bot.store.places import PlaceSettings
from rag_engine.errors import NotAllowed

if TYPE_CHECKING:
    from bot.access.permissions import Act
    from bot.access.readability import Verdict
    from bot.port import Directory, Person, Place
    from rag_engine.storage.catalog import SqliteCatalog
    from rag_engine.types import KnowledgeBase, KnowledgeBaseId


@dataclass
class OpenTown:
    """Audiences, access and settings in their plainest form: each place sees its own and its channel's."""

    catalog: SqliteCatalog
    model: str
    settings_of: dict[str, PlaceSettings] = field(default_factory=dict)
    empty: bool = False
    named: bool = False
    """Knowledge bases are known by their names."""
    closed: bool = False
    """In threads too, only Ada may add files."""

    async def scope(
        self, place: Place, directory: Directory, *, person: Person | None = None, asker: Person | None = None
    ) -> Scope:
        wanted = {self._name(place), self._name(place.parent)}
        bases = [base for base in await self.catalog.knowledge_bases() if base.name in wanted]
        return Scope(
            knowledge_bases=frozenset(base.id for base in bases if not self.empty),
            name=f"#{place.channel}",
            group=place.channel.startswith("group"),
            threads=not bases,
            names={base.id: PlaceName(base.name) for base in bases} if self.named else {},
        )

    async def own(self, place: Place) -> KnowledgeBase:
        return await self.catalog.open(self._name(place), model=self.model)

    async def everyone_may_read(
        self, knowledge_base: KnowledgeBaseId, place: Place, directory: Directory, person: Person
    ) -> Verdict:
        own = await self.own(place)
        return "readable" if knowledge_base == own.id else "closed"

    async def person_may_read(
        self, knowledge_base: KnowledgeBaseId, place: Place, directory: Directory, person: Person
    ) -> Verdict:
        (base,) = await self.catalog.select(ids=[knowledge_base])
        channel = base.name.partition(" ")[0]
        return "readable" if await directory.may_read(channel, person=person.id) else "closed"

    async def check_present(self, person: Person, place: Place, directory: Directory) -> None:
        await Permissions(settings=AccessSettings()).check_present(person, place, directory)

    async def admit_person(self, person: Person, place: Place, directory: Directory) -> None:
        self.admit(place)

    def admit(self, place: Place) -> None:
        if place.workspace == "elsewhere":
            raise NotAllowed("This workspace is not served.")

    async def check(
        self, person: Person, place: Place, directory: Directory, *, act: Act, asker: str = ""
    ) -> None:
        if act == "stop" and person.id == asker:
            return
        if act == "add" and not self.closed and (place.thread or place.channel.startswith("dm")):
            return
        if not (await directory.membership(person.id)).admin:
            raise NotAllowed(f"Only an admin may {act} here.")

    async def check_administers(self, person: Person, place: Place, directory: Directory) -> None:
        await self.check(person, place, directory, act="administer")

    async def settings(self, place: Place) -> PlaceSettings:
        return self.settings_of.get(place.channel, PlaceSettings())

    def _name(self, place: Place) -> str:
        return f"{place.channel} {place.thread}".strip()
