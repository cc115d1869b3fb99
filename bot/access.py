"""Who may do what where; which knowledge bases the operator at the console may see."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

from bot.port import ChatError
from bot.refusals import Phrase, Refusal
from rag_engine.errors import UnknownKnowledgeBase
from rag_engine.storage.names import folded

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping, Sequence

    from bot.port import Directory, Person, Place, Standing
    from bot.sentences.names import Sentence
    from bot.settings import AccessSettings
    from rag_engine.ports import Catalog
    from rag_engine.types import KnowledgeBase, KnowledgeBaseId

_log = logging.getLogger(__name__)
_Told = TypeVar("_Told")

Act: TypeAlias = Literal["administer", "add", "stop"]

_REFUSED: Mapping[Act, Sentence] = {
    "administer": "administer_refused",
    "add": "add_refused",
    "stop": "stop_refused",
}

DEFAULT_KNOWLEDGE_BASE = "default"
"""Where files go when nobody names a knowledge base."""

_DIRECTORY_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The knowledge bases a question may look in, and what a person calls them.

    Only `bot.audience` and this module make one: who reads the reply may read all of it.
    """

    knowledge_bases: frozenset[KnowledgeBaseId]
    name: str
    names: Mapping[KnowledgeBaseId, str] = field(default_factory=dict["KnowledgeBaseId", str])
    """What a person calls each of them."""
    notices: tuple[Sentence, ...] = ()
    """What to say with the answer, in the language of who reads it: that something had to be left out."""


async def scope(catalog: Catalog, names: Sequence[str] = ()) -> Scope:
    """The knowledge bases of these names, or all of them: what the operator at the console may see.

    Raises `UnknownKnowledgeBase` for a name nobody uses, and when there is nothing to look in yet.
    """
    known = await catalog.knowledge_bases()
    chosen = [find(known, name) for name in names] if names else known
    if not chosen:
        raise UnknownKnowledgeBase("There is nothing to look in yet: add files with `footnote add PATH`.")
    return Scope(
        knowledge_bases=frozenset(knowledge_base.id for knowledge_base in chosen),
        name=", ".join(dict.fromkeys(knowledge_base.name for knowledge_base in chosen)),
        names={knowledge_base.id: knowledge_base.name for knowledge_base in chosen},
    )


def find(known: Sequence[KnowledgeBase], name: str) -> KnowledgeBase:
    """The knowledge base of that name, upper and lower case alike."""
    for knowledge_base in known:
        if folded(knowledge_base.name) == folded(name):
            return knowledge_base
    names = ", ".join(knowledge_base.name for knowledge_base in known) or "none yet"
    raise UnknownKnowledgeBase(f"There is no knowledge base {name!r}; there are: {names}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Who may do what in chat. What the platform does not tell is not allowed."""

    settings: AccessSettings

    def serves(self, place: Place) -> bool:
        """Whether anybody in the place's workspace gets an answer."""
        return not self.settings.workspaces or place.workspace in self.settings.workspaces

    def admit(self, place: Place) -> None:
        """Raise `NotAllowed` in a workspace that is not served."""
        if not self.serves(place):
            raise (
                Refusal("not_served", workspace=place.workspace)
                if place.workspace
                else Refusal("not_served_here")
            )

    async def check(
        self, person: Person, place: Place, directory: Directory, *, act: Act, asker: str = ""
    ) -> None:
        """Raise `NotAllowed`, with a sentence for that person alone, unless the person may do this in the place.

        `administer`: its settings, bindings and knowledge bases. `add`: files to its own knowledge base. `stop`: the answer to
        a question of `asker`.
        """
        self.admit(place)
        if (act == "stop" and person.id == asker) or (act == "add" and self._all_may_add(place)):
            return
        if not await told(_among_few(place, directory)):  # else nobody reads it but who is in it
            await self._require_admin(person, directory, act=act)

    async def check_administers(self, person: Person, place: Place, directory: Directory) -> None:
        """As `check` for administering, but of what is more than this place's own."""
        self.admit(place)
        await self._require_admin(person, directory, act="administer")

    async def administers(self, person: Person, directory: Directory) -> bool:
        """Whether the person is an administrator of the workspace, or has one of the roles that the settings name."""
        standing = await told(directory.standing(person.id))
        return standing is not None and self._is_admin(standing)

    async def belongs(self, person: Person, directory: Directory) -> bool:
        """Whether the person is of the workspace and no guest in it, or may administer it."""
        standing = await told(directory.standing(person.id))
        return standing is not None and (standing.member or self._is_admin(standing))

    async def _require_admin(self, person: Person, directory: Directory, *, act: Act) -> None:
        standing = await told(directory.standing(person.id))
        if standing is None:
            raise Refusal("rights_untold")
        if not self._is_admin(standing):
            raise Refusal(_REFUSED[act], who=self._who_may())

    def _is_admin(self, standing: Standing) -> bool:
        wanted = {folded(role) for role in self.settings.roles}
        return standing.admin or any(folded(role) in wanted for role in standing.roles)

    def _all_may_add(self, place: Place) -> bool:
        return bool(place.thread) or self.settings.add == "everyone"

    def _who_may(self) -> Phrase:
        roles = self.settings.roles
        return Phrase("an_admin_or_role", {"roles": ", ".join(roles)}) if roles else Phrase("an_admin")


async def told(asked: Awaitable[_Told]) -> _Told | None:
    """What the directory answers; None when it does not, and then whatever depends on it is not allowed."""
    try:
        async with asyncio.timeout(_DIRECTORY_SECONDS):
            return await asked
    except (ChatError, TimeoutError) as error:
        _log.warning("the platform does not tell who may read or do something: %s", str(error) or "no answer")
        return None


async def _among_few(place: Place, directory: Directory) -> bool:
    return (await directory.channel(place.channel)).kind in ("direct", "group")
