"""The operator reads and changes every knowledge base."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bot.access import permissions
from bot.access.audience import NamedKnowledgeBase
from bot.messages.refusals import Invalid, PlaceName
from bot.store.places import PlaceSettings, StoredAudience
from rag_engine.storage.knowledge_base_names import folded

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from bot.access.permissions import Act, Scope
    from bot.access.readability import Verdict
    from bot.port import Directory, Person, Place
    from rag_engine.ports import Catalog
    from rag_engine.types import KnowledgeBase, KnowledgeBaseId


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorAccess:
    """`Audiences`, `Permissions` and `Places` in one; searches `names`, by default all."""

    catalog: Catalog
    model: str
    names: tuple[str, ...]
    defaults: PlaceSettings
    _settings: dict[str, PlaceSettings] = field(default_factory=dict[str, PlaceSettings], init=False)

    async def scope(
        self, place: Place, directory: Directory, *, person: Person | None = None, asker: Person | None = None
    ) -> Scope:
        return await permissions.scope(self.catalog, self.names)

    async def own(self, place: Place) -> KnowledgeBase:
        name = self.names[0] if self.names else permissions.DEFAULT_KNOWLEDGE_BASE
        return await self.catalog.open(name, model=self.model)

    async def create(self, place: Place, label: str, *, everyone: bool) -> KnowledgeBase:
        if any(folded(base.name) == folded(label) for base in await permissions.all_of(self.catalog)):
            raise Invalid("base_exists", name=label)
        return await self.catalog.open(label, model=self.model)

    async def readable(
        self,
        place: Place,
        directory: Directory,
        person: Person,
        *,
        others: Collection[KnowledgeBaseId] | None = None,
    ) -> list[NamedKnowledgeBase]:
        searched = {folded(name) for name in self.names}
        return [
            NamedKnowledgeBase(
                knowledge_base=base,
                name=PlaceName(name=base.name),
                audience=StoredAudience(
                    knowledge_base=base.id,
                    platform=place.platform,
                    workspace=place.workspace,
                    channel=place.channel,
                    label=base.name,
                ),
                seen=not searched or folded(base.name) in searched,
            )
            for base in await permissions.all_of(self.catalog)
        ]

    async def find(
        self, label: str, place: Place, directory: Directory, person: Person
    ) -> NamedKnowledgeBase:
        """Without a label, the one that files are added to."""
        name = label or (await self.own(place)).name
        base = permissions.find(await permissions.all_of(self.catalog), name)
        known = await self.readable(place, directory, person)
        return next(one for one in known if one.knowledge_base.id == base.id)

    async def everyone_may_read(
        self, knowledge_base: KnowledgeBaseId, place: Place, directory: Directory, person: Person
    ) -> Verdict:
        return "readable"

    async def person_may_read(
        self, knowledge_base: KnowledgeBaseId, place: Place, directory: Directory, person: Person
    ) -> Verdict:
        return "readable"

    def trusts(self, place: Place, directory: Directory) -> bool:
        return True

    def admit(self, place: Place) -> None: ...

    async def admit_person(self, person: Person, place: Place, directory: Directory) -> None: ...

    async def check_present(self, person: Person, place: Place, directory: Directory) -> None: ...

    async def administers(self, person: Person, directory: Directory) -> bool:
        return True

    async def check(
        self, person: Person, place: Place, directory: Directory, *, act: Act, asker: str = ""
    ) -> None: ...

    async def check_administers(self, person: Person, place: Place, directory: Directory) -> None: ...

    async def settings(self, place: Place) -> PlaceSettings:
        return self._settings.get(place.channel, self.defaults)

    async def change(self, place: Place, edit: Callable[[PlaceSettings], PlaceSettings]) -> PlaceSettings:
        self._settings[place.channel] = edit(await self.settings(place))
        return self._settings[place.channel]

    async def reset(self, place: Place) -> PlaceSettings:
        self._settings.pop(place.channel, None)
        return self.defaults

    async def bind(self, place: Place, knowledge_base: KnowledgeBaseId) -> bool:
        """Everything is searched already."""
        return False

    async def unbind(self, place: Place, knowledge_base: KnowledgeBaseId) -> bool:
        return False

    async def forget(self, knowledge_base: KnowledgeBaseId) -> None: ...
