"""Who may read what: a question may look in what everyone who reads the reply may read, and in nothing else.

That is asked at each question: people leave channels. Whatever the platform does not tell is left out.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias
from urllib.parse import quote

from bot.access import Scope, told
from bot.places import Audience
from rag_engine.errors import NotAllowed, UnknownKnowledgeBase, UserError
from rag_engine.ports import Catalog, Documents
from rag_engine.storage.names import folded, tidy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bot.access import Access
    from bot.places import Places
    from bot.port import Channel, Directory, Person, Place
    from rag_engine.types import Citation, DocumentId, KnowledgeBase, KnowledgeBaseId

__all__ = ["LONGEST_LABEL", "Audiences", "Known", "listed"]

LONGEST_LABEL = 40

_AT_ONCE = 8
_MOST_IN_NAME = 4
_MOST_IN_ERROR = 20
_FEW = ("direct", "group")
_OURS = re.compile(r"[a-z_]+:.*~[0-9a-f]{12}", re.DOTALL)
_MENTION = re.compile(r"<#([^|>\s]+)(?:\|[^>]*)?>")
_HERE = {"", "here", "this channel", "this conversation", "this thread"}
_UNTOLD = "Something was left out of this search, because the platform did not tell who may read it: ask again in a moment."

_Verdict: TypeAlias = Literal["readable", "closed", "untold"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A knowledge base that a person may know of, as it is called where they ask."""

    knowledge_base: KnowledgeBase
    name: str
    audience: Audience | None
    """None: the operator made it."""
    bound: bool = False
    """The place's channel uses it by a binding."""
    seen: bool = False
    """Questions look in it whose answers everyone here can read."""
    seen_privately: bool = False
    """Private questions of this person look in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shelf:
    """All there is, and what a place uses."""

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
class _Judge:
    """Whether the readers of a reply may read a knowledge base. The readers are the person, or everyone in the channel."""

    shelf: _Shelf
    directory: Directory
    person: Person | None
    channel: Channel | None
    """Where the reply stands; None when the platform did not tell."""
    asking: asyncio.Semaphore

    async def verdict(self, knowledge_base: KnowledgeBaseId) -> _Verdict:
        place = self.shelf.place
        audience = self.shelf.audiences.get(knowledge_base)
        if audience is None:
            return "closed" if _is_ours(self.shelf.bases[knowledge_base]) else self._inside()
        if (audience.platform, audience.workspace) != (place.platform, place.workspace):
            return "closed"
        if audience.place in (place, place.parent):
            return "readable"
        if audience.thread:
            return "closed"
        return self._inside() if audience.everyone else await self._of_channel(audience.channel)

    def _inside(self) -> _Verdict:
        """What the whole workspace may read is nothing for a channel that others read, too."""
        if self.channel is None:
            return "untold"
        return "closed" if self.channel.external else "readable"

    async def _of_channel(self, owner: str) -> _Verdict:
        inside = self._inside()
        if inside != "readable":
            return inside
        async with self.asking:
            held_by = await told(self.directory.channel(owner))
            if held_by is None:
                return "untold"
            if held_by.kind in _FEW:
                return "closed"
            if self.person is not None:
                may = await told(self.directory.may_read(owner, person=self.person.id))
            else:
                may = await told(self.directory.may_read(owner, everyone_in=self.shelf.place.channel))
        return "untold" if may is None else "readable" if may else "closed"


class Shelves(Catalog, Documents, Protocol):
    """What is asked of the catalog."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audiences:
    """The only way from a place to knowledge bases."""

    places: Places
    catalog: Shelves
    access: Access
    model: str
    """Identity of the embedder, for knowledge bases that are made now."""
    _asking: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE), init=False)

    async def own(self, place: Place) -> KnowledgeBase:
        """The place's own knowledge base, made when there is none; a thread has one beside its channel's."""
        self.access.admit(place)
        return await self._made(place, label="")

    async def create(self, place: Place, label: str, *, everyone: bool) -> KnowledgeBase:
        """A knowledge base of that label, for everyone who can read the place's channel or for the whole workspace.

        Raises `UserError` for what can be no label, and for one that is in use there.
        """
        self.access.admit(place)
        label = _tidy_label(label)
        owner = replace(place.parent, channel="") if everyone else place.parent
        for other in (await self.places.audiences()).values():
            if other.place == owner and folded(other.label) == folded(label):
                raise UserError(
                    f"There is a knowledge base {label} already: `/kb bind {label}` uses it here."
                )
        return await self._made(owner, label=label)

    async def scope(self, place: Place, directory: Directory, *, person: Person | None = None) -> Scope:
        """What a question in the place may look in; may be empty.

        Everyone who can read the place may read all of it; with `person`, the only one who reads the reply, this person may.
        """
        if not self.access.serves(place):
            return Scope(knowledge_bases=frozenset(), name="")
        shelf = await self._shelf(place)
        judge = await self._judge(shelf, directory, person)
        used = shelf.used()
        verdicts = await asyncio.gather(*(judge.verdict(knowledge_base) for knowledge_base in used))
        members = [one for one, verdict in zip(used, verdicts, strict=True) if verdict == "readable"]
        names = [await self._name(one, shelf, directory, judge.channel) for one in members]
        return Scope(
            knowledge_bases=frozenset(members),
            name=listed(list(dict.fromkeys(names)), most=_MOST_IN_NAME),
            notices=(_UNTOLD,) if "untold" in verdicts else (),
        )

    async def readable(self, place: Place, directory: Directory, person: Person) -> list[Known]:
        """Every knowledge base that this person may know of in this place, what is used here first."""
        if not self.access.serves(place):
            return []
        shelf = await self._shelf(place)
        judge = await self._judge(shelf, directory, person)
        here = await self.scope(place, directory)
        privately = await self.scope(place, directory, person=person)
        used = [one for one in shelf.used() if one in here.knowledge_bases | privately.knowledge_bases]
        others = [one for one in shelf.bases if one not in used]
        known = await asyncio.gather(*(self._may_know(one, judge, person) for one in others))
        found = [*used, *(one for one, may in zip(others, known, strict=True) if may)]
        names = [await self._name(one, shelf, directory, judge.channel) for one in found]
        return await self._told_apart(
            [
                Known(
                    knowledge_base=shelf.bases[one],
                    name=name,
                    audience=shelf.audiences.get(one),
                    bound=one in shelf.bindings,
                    seen=one in here.knowledge_bases,
                    seen_privately=one in privately.knowledge_bases,
                )
                for one, name in zip(found, names, strict=True)
            ],
            directory,
        )

    async def find(self, label: str, place: Place, directory: Directory, person: Person) -> Known:
        """The knowledge base that the person means: a label, `#channel`, or nothing for the place's own.

        Raises `UnknownKnowledgeBase`, in the same words whether there is none or the person may not know of it.
        """
        known = await self.readable(place, directory, person)
        wanted, mention = folded(label), _MENTION.fullmatch(label.strip())
        owner = place if wanted in _HERE else place.parent
        if mention:
            owner = replace(owner, channel=mention[1])
        for one in known:
            if mention or wanted in _HERE:
                if one.audience and not one.audience.label and one.audience.place == owner:
                    return one
            elif wanted in (folded(one.name), folded(one.name.removeprefix("#"))):
                return one
        names = listed([one.name for one in known], most=_MOST_IN_ERROR)
        if wanted in _HERE:
            raise UnknownKnowledgeBase(
                "No file was added here yet, so there is no knowledge base of this place's own."
            )
        what = "of that channel" if mention else label.strip()
        there = f"there are: {names}." if names else "there is none yet."
        raise UnknownKnowledgeBase(f"There is no knowledge base {what} that you may see here; {there}")

    async def still_readable(
        self, citations: Sequence[Citation], place: Place, directory: Directory, *, person: Person
    ) -> list[Citation]:
        """Those of an answer's citations that this person, the only reader, may see in the place now: what was bound may not be
        any more, and people who come later may not read all that was cited before."""
        scope = await self.scope(place, directory, person=person)
        readable: dict[DocumentId, bool] = {}
        for citation in citations:
            if citation.document not in readable:
                readable[citation.document] = await self._holds(scope, citation)
        return [citation for citation in citations if readable[citation.document]]

    async def _holds(self, scope: Scope, citation: Citation) -> bool:
        for knowledge_base in scope.knowledge_bases:
            record = await self.catalog.find(knowledge_base, uri=citation.uri)
            if record is not None and record.document.id == citation.document:
                return True
        return False

    async def _may_know(self, knowledge_base: KnowledgeBaseId, judge: _Judge, person: Person) -> bool:
        """Whether a person may know of what is not used here."""
        audience, place = judge.shelf.audiences.get(knowledge_base), judge.shelf.place
        if audience is None:
            if _is_ours(judge.shelf.bases[knowledge_base]):
                return False
            return await self.access.administers(person, judge.directory)
        if (audience.platform, audience.workspace) != (place.platform, place.workspace):
            return False
        if audience.everyone:
            return await self.access.belongs(person, judge.directory)
        return await judge.verdict(knowledge_base) == "readable"

    async def _shelf(self, place: Place) -> _Shelf:
        bases = {base.id: base for base in await self.catalog.knowledge_bases()}
        audiences = await self.places.audiences()
        wanted = {folded(name) for name in self.access.settings.everywhere}
        return _Shelf(
            place=place,
            bases=bases,
            audiences=audiences,
            bindings=await self.places.bindings(place),
            everywhere=frozenset(
                one for one, base in bases.items() if one not in audiences and folded(base.name) in wanted
            ),
        )

    async def _judge(self, shelf: _Shelf, directory: Directory, person: Person | None) -> _Judge:
        channel = await told(directory.channel(shelf.place.channel))
        return _Judge(shelf=shelf, directory=directory, person=person, channel=channel, asking=self._asking)

    async def _made(self, owner: Place, *, label: str) -> KnowledgeBase:
        base = await self.catalog.open(_catalog_name(owner, label), model=self.model)
        wanted = Audience(
            knowledge_base=base.id,
            platform=owner.platform,
            workspace=owner.workspace,
            channel=owner.channel,
            thread=owner.thread,
            label=label,
        )
        kept = await self.places.admit(wanted)
        if kept.place != owner or folded(kept.label) != folded(label):
            raise NotAllowed("This place's knowledge base cannot be told from another's, so it is not used.")
        return base

    async def _name(
        self, knowledge_base: KnowledgeBaseId, shelf: _Shelf, directory: Directory, channel: Channel | None
    ) -> str:
        """What a person calls it in the place."""
        audience = shelf.audiences.get(knowledge_base)
        if audience is None:
            return shelf.bases[knowledge_base].name
        if audience.label:
            return audience.label
        if audience.thread:
            return "this thread"
        held_by = channel
        if audience.channel != shelf.place.channel:
            held_by = await told(directory.channel(audience.channel))
        if held_by is None or not held_by.name:
            return "this channel" if audience.channel == shelf.place.channel else "another channel"
        return "this conversation" if held_by.kind in _FEW else f"#{held_by.name.removeprefix('#')}"

    async def _told_apart(self, known: Sequence[Known], directory: Directory) -> list[Known]:
        """Of those that share a name the first keeps it; the others bear what tells them apart behind it."""
        apart: dict[str, Known] = {}
        for one in known:
            name = one.name
            if folded(name) in apart:
                name = f"{name} ({await _origin(one, directory)})"
            if folded(name) in apart:
                name = f"{name} {one.knowledge_base.id[:6]}"
            apart[folded(name)] = replace(one, name=name)
        return list(apart.values())


async def _origin(known: Known, directory: Directory) -> str:
    if known.audience is None:
        return "not made in chat"
    if known.audience.everyone:
        return "of the workspace"
    held_by = await told(directory.channel(known.audience.channel))
    return f"of #{held_by.name.removeprefix('#')}" if held_by and held_by.name else "of another channel"


def listed(names: Sequence[str], *, most: int) -> str:
    """`a, b and c`; of more than `most` names, how many there are besides."""
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} more"]
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def _tidy_label(label: str) -> str:
    label = tidy(label)
    if len(label) > LONGEST_LABEL:
        raise UserError(f"The name of a knowledge base may have {LONGEST_LABEL} characters here: shorten it.")
    if folded(label) in _HERE or not label[0].isalnum() or any(sign in label for sign in "<>`|"):
        raise UserError(
            f"A knowledge base cannot be called {label}: begin with a letter or digit, and use no signs."
        )
    return label


def _catalog_name(owner: Place, label: str) -> str:
    """A name that no person gives and no two places share: readable to the operator, told apart by what is behind it."""
    parts = (owner.platform, owner.workspace, owner.channel, owner.thread, folded(label))
    digest = hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:12]
    readable = ":".join(quote(part, safe=" ", errors="replace") for part in parts[1:] if part)
    return f"{owner.platform}:{readable[:54]}~{digest}"


def _is_ours(base: KnowledgeBase) -> bool:
    """Whether it was made in chat: without an audience, which was lost or is being removed, nobody may see it."""
    return bool(_OURS.fullmatch(base.name))
