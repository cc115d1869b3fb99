from __future__ import annotations

import asyncio
import difflib
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

from bot.access.console_names import console_name
from bot.access.watched_directory import watched
from bot.messages.refusals import Cause, Invalid, NameList, Phrase, PlaceName, Refusal
from bot.messages.workspace_names import sentence_on
from bot.port import NO_WORKSPACE, ChatError
from rag_engine.errors import UnknownKnowledgeBase
from rag_engine.storage.knowledge_base_names import folded

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping, Sequence

    from bot.messages.names import Sentence
    from bot.port import Directory, Membership, Person, Place
    from bot.settings import AccessSettings
    from rag_engine.ports import Catalog
    from rag_engine.types import KnowledgeBase, KnowledgeBaseId

_log = logging.getLogger(__name__)
_Answer = TypeVar("_Answer")

Act: TypeAlias = Literal["administer", "add", "stop"]

_REFUSED: Mapping[Act, Sentence] = {
    "administer": "administer_refused",
    "add": "add_refused",
    "stop": "stop_refused",
}

DEFAULT_KNOWLEDGE_BASE = "default"

_DIRECTORY_SECONDS = 10.0

MOST_IN_NAME = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Made here and in `bot.access.audience` only: all readers of the reply may read all of it."""

    knowledge_bases: frozenset[KnowledgeBaseId]
    name: str
    names: Mapping[KnowledgeBaseId, PlaceName] = field(default_factory=dict["KnowledgeBaseId", PlaceName])
    notices: tuple[Sentence, ...] = ()
    """For the answer, e.g. that something was left out. Each takes a `reason`."""
    unchecked: bool = False
    failure: ChatError | None = None
    direct: bool = False
    group: bool = False
    threads: bool = False
    """Only threads of the channel have files."""

    def narrowed(self, name: str, language: str) -> Scope:
        """Raises `Invalid`."""
        names = {identity: each.in_language(language) for identity, each in self.names.items()}
        wanted = folded(name.removeprefix("#"))
        found = [identity for identity, each in names.items() if folded(each.removeprefix("#")) == wanted]
        if not found:
            raise Invalid("scope_unknown", name=name, names=", ".join(sorted(set(names.values()))))
        kept = {identity: self.names[identity] for identity in found}
        return Scope(
            knowledge_bases=frozenset(kept),
            name=names[found[0]],
            names=kept,
            notices=self.notices,
            unchecked=self.unchecked,
            failure=self.failure,
            direct=self.direct,
            group=self.group,
            threads=self.threads,
        )

    def reason_in(self, language: str) -> str:
        """Why a check failed, or that it may work later."""
        return Cause(self.failure).in_language(language)

    def name_in(self, language: str) -> str:
        if not self.names or language == "en":
            return self.name
        return NameList(tuple(self.names.values()), MOST_IN_NAME).in_language(language)

    def names_in(self, language: str) -> Mapping[KnowledgeBaseId, str]:
        return {identity: name.in_language(language) for identity, name in self.names.items()}


async def scope(catalog: Catalog, names: Sequence[str] = ()) -> Scope:
    """For the operator. Raises `UnknownKnowledgeBase`, also if there is none yet."""
    known = await catalog.knowledge_bases()
    chosen = [find(known, name) for name in names] if names else known
    if not chosen:
        raise UnknownKnowledgeBase("There is nothing to look in yet: add files with `footnote add PATH`.")
    return _scope_of(chosen)


async def program_scope(
    catalog: Catalog, granted: frozenset[KnowledgeBaseId] | None, name: str = ""
) -> Scope:
    """Of what a key grants (None: everything), or its knowledge base of that name. Raises `UnknownKnowledgeBase`."""
    known = [base for base in await catalog.knowledge_bases() if granted is None or base.id in granted]
    chosen = [find(known, name)] if name else known
    if not chosen:
        raise UnknownKnowledgeBase("There is no knowledge base to read.")
    return _scope_of(chosen)


def _scope_of(chosen: Sequence[KnowledgeBase]) -> Scope:
    return Scope(
        knowledge_bases=frozenset(base.id for base in chosen),
        name=", ".join(dict.fromkeys(base.name for base in chosen)),
        names={base.id: PlaceName(base.name) for base in chosen},
    )


async def all_of(catalog: Catalog) -> list[KnowledgeBase]:
    """For the operator at the console alone."""
    return await catalog.knowledge_bases()


def find(known: Sequence[KnowledgeBase], name: str) -> KnowledgeBase:
    for knowledge_base in known:
        if folded(name) in (folded(knowledge_base.name), folded(console_name(knowledge_base.name))):
            return knowledge_base
    shown = [console_name(knowledge_base.name) for knowledge_base in known]
    names = ", ".join(shown) or "none yet"
    spellings = {folded(each): each for each in shown}
    near = difflib.get_close_matches(folded(name), list(spellings), n=1)
    meant = f" Did you mean {spellings[near[0]]!r}?" if near else ""
    raise UnknownKnowledgeBase(f"There is no knowledge base {name!r}; there are: {names}.{meant}")


def stored_name(known: Sequence[KnowledgeBase], name: str) -> str:
    """`name` may be as the console shows it."""
    shown = {folded(console_name(base.name)): base.name for base in known}
    return shown.get(folded(name), name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Permissions:
    """Without the platform's answer nothing is allowed."""

    settings: AccessSettings

    def serves(self, place: Place) -> bool:
        """True for direct messages without a workspace."""
        served = self.settings.workspaces
        return not served or place.workspace in served or place.workspace == NO_WORKSPACE

    def trusts(self, place: Place, directory: Directory) -> bool:
        """In listed workspaces and where the operator installed us."""
        return place.workspace in self.settings.workspaces or bool(
            directory.home and place.workspace == directory.home
        )

    def admit(self, place: Place) -> None:
        """Raises `NotAllowed`."""
        if not self.serves(place):
            raise (
                Refusal(sentence_on(place.platform, "not_served"), workspace=place.workspace)
                if place.workspace
                else Refusal("not_served_here")
            )

    async def admit_person(self, person: Person, place: Place, directory: Directory) -> None:
        """In a direct message, the person must be a member of a served workspace."""
        self.admit(place)
        if place.workspace != NO_WORKSPACE or not self.settings.workspaces:
            return
        asked = watched(directory)
        for workspace in self.settings.workspaces:
            served = asked.of_workspace(workspace)
            if served is not None and await answer_or_none(served.are_members(person=person.id)):
                return
        if asked.failures:
            raise Refusal("presence_unchecked", reason=Cause(asked.failure))
        raise Refusal("not_served_here")

    async def check_present(self, person: Person, place: Place, directory: Directory) -> None:
        """Raises `NotAllowed` unless the person can read the place."""
        asked = watched(directory)
        present = await answer_or_none(asked.present(place, person.id))
        if present is None:
            raise Refusal("presence_unchecked", reason=Cause(asked.failure))
        if not present:
            raise Refusal("not_present")

    async def check(
        self, person: Person, place: Place, directory: Directory, *, act: Act, asker: str = ""
    ) -> None:
        """Raises `NotAllowed`, for that person alone. `administer`: the place's settings and knowledge bases. `add`:
        files to its own. `stop`: the answer to a question by `asker`.
        """
        self.admit(place)
        if (act == "stop" and person.id == asker) or (act == "add" and self._all_may_add(place)):
            return
        if not await answer_or_none(_among_few(place, directory)):
            await self._require_admin(person, place, directory, act=act)

    async def check_administers(self, person: Person, place: Place, directory: Directory) -> None:
        self.admit(place)
        await self._require_admin(person, place, directory, act="administer")

    async def administers(self, person: Person, directory: Directory) -> bool:
        membership = await answer_or_none(directory.membership(person.id))
        return membership is not None and self._is_admin(membership)

    async def still_administers(self, person: Person, directory: Directory) -> bool | None:
        """None if the platform does not answer."""
        membership = await answer_or_none(directory.membership(person.id))
        return None if membership is None else self._is_admin(membership)

    async def belongs(self, person: Person, directory: Directory) -> bool:
        membership = await answer_or_none(directory.membership(person.id))
        return membership is not None and (membership.member or self._is_admin(membership))

    async def _require_admin(self, person: Person, place: Place, directory: Directory, *, act: Act) -> None:
        asked = watched(directory)
        membership = await answer_or_none(asked.membership(person.id))
        if membership is None:
            raise Refusal("rights_unknown", reason=Cause(asked.failure))
        if not self._is_admin(membership):
            raise Refusal(_REFUSED[act], who=self._who_may(place))

    def _is_admin(self, membership: Membership) -> bool:
        roles = {folded(role) for role in self.settings.roles}
        return membership.admin or any(folded(role) in roles for role in membership.roles)

    def _all_may_add(self, place: Place) -> bool:
        return bool(place.thread) or self.settings.add == "everyone"

    def _who_may(self, place: Place) -> Phrase:
        roles = self.settings.roles
        name = sentence_on(place.platform, "an_admin_or_role" if roles else "an_admin")
        return Phrase(name, {"roles": ", ".join(roles)} if roles else {})


async def answer_or_none(question: Awaitable[_Answer]) -> _Answer | None:
    """None if the directory fails; the caller must refuse then."""
    try:
        async with asyncio.timeout(_DIRECTORY_SECONDS):
            return await question
    except (ChatError, TimeoutError) as error:
        _log.warning(
            "the platform did not answer a question about permissions: %s", str(error) or "no answer"
        )
        return None


async def _among_few(place: Place, directory: Directory) -> bool:
    return (await directory.channel(place.channel)).kind in ("direct", "group")
