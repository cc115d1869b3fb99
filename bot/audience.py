"""Who may read what: a question may look in what everyone who reads the reply may read, and in nothing else.

That is asked at each question: people leave channels. Whatever the platform does not tell is left out.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from urllib.parse import quote

from bot.access import Scope, told
from bot.judging import Judge, Shelf, is_ours
from bot.places import Audience
from bot.refusals import Refusal
from rag_engine.errors import UnknownKnowledgeBase, UserError
from rag_engine.storage.names import folded, tidy

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from bot.access import Access
    from bot.places import Places
    from bot.port import Directory, Person, Place
    from rag_engine.ports import Catalog
    from rag_engine.types import KnowledgeBase, KnowledgeBaseId

__all__ = ["LONGEST_LABEL", "Audiences", "Known", "listed"]

LONGEST_LABEL = 40

_AT_ONCE = 8
_MOST_CHANNELS = 40
"""Of more channels that are not bound here, the platform is not asked for a list: that takes calls, of which there are few."""
_MOST_IN_NAME = 4
_MOST_IN_ERROR = 20
_MENTION = re.compile(r"<#([^|>\s]+)(?:\|[^>]*)?>")
_HERE = {"", "here", "this channel", "this conversation", "this thread"}


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
class Audiences:
    """The only way from a place to knowledge bases."""

    places: Places
    catalog: Catalog
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
        if await self.places.at(owner, label=label):
            raise UserError(f"There is a knowledge base {label} already: `/kb bind {label}` uses it here.")
        return await self._made(owner, label=label)

    async def scope(self, place: Place, directory: Directory, *, person: Person | None = None) -> Scope:
        """What a question in the place may look in; may be empty.

        Everyone who can read the place may read all of it; with `person`, the only one who reads the reply, this person may.
        """
        if not self.access.serves(place):
            return Scope(knowledge_bases=frozenset(), name="")
        judge = await self._judge(await self._shelf(place), directory, person)
        return await self._judged(judge)

    async def _judged(self, judge: Judge) -> Scope:
        used = judge.shelf.used()
        verdicts = await asyncio.gather(*(judge.verdict(knowledge_base) for knowledge_base in used))
        members = [one for one, verdict in zip(used, verdicts, strict=True) if verdict == "readable"]
        names = [await judge.name(one) for one in members]
        return Scope(
            knowledge_bases=frozenset(members),
            name=listed(list(dict.fromkeys(names)), most=_MOST_IN_NAME),
            names=dict(zip(members, names, strict=True)),
            notices=("left_out",) if "untold" in verdicts else (),
        )

    async def readable(
        self,
        place: Place,
        directory: Directory,
        person: Person,
        *,
        beside: Collection[KnowledgeBaseId] | None = None,
    ) -> list[Known]:
        """Every knowledge base that this person may know of in this place, what is used here first.

        `beside`: of those that are not used here, only these. Of a great many other channels' some are left out.
        """
        if not self.access.serves(place):
            return []
        looked_at = await self._to_be_known(place, directory, person) if beside is None else beside
        shelf = await self._shelf(place, looked_at)
        judge = await self._judge(shelf, directory, person)
        here = (await self._judged(replace(judge, person=None))).knowledge_bases
        privately = (await self._judged(judge)).knowledge_bases
        used = [one for one in shelf.used() if one in here | privately]
        near, far = _others(shelf, looked_at)
        asked = far[:_MOST_CHANNELS] if beside is None else far
        others = [one for one in (*near, *asked) if one not in used]
        may_know = await asyncio.gather(*(self._may_know(one, judge, person) for one in others))
        names: dict[str, KnowledgeBaseId] = {}
        for one in (*used, *(one for one, may in zip(others, may_know, strict=True) if may)):
            names[await _unlike(names, one, judge)] = one
        return [
            Known(
                knowledge_base=shelf.bases[one],
                name=name,
                audience=shelf.audiences.get(one),
                bound=one in shelf.bindings,
                seen=one in here,
                seen_privately=one in privately,
            )
            for name, one in names.items()
        ]

    async def find(self, label: str, place: Place, directory: Directory, person: Person) -> Known:
        """The knowledge base that the person means: a label, `#channel`, or nothing for the place's own.

        Raises `UnknownKnowledgeBase`, in the same words whether there is none or the person may not know of it.
        """
        meant = await self._meant(label, place)
        known = await self.readable(place, directory, person, beside=meant) if meant else []
        found = [one for one in known if one.knowledge_base.id in meant]
        if len(found) == 1:
            return found[0]
        if folded(label) in _HERE:
            raise UnknownKnowledgeBase(
                "No file was added here yet, so there is no knowledge base of this place's own."
            )
        mention = _MENTION.fullmatch(label.strip())
        known = await self.readable(place, directory, person)
        for one in known:
            if not mention and folded(label) in (folded(one.name), folded(one.name.removeprefix("#"))):
                return one
        names = listed([one.name for one in known], most=_MOST_IN_ERROR)
        there = f"there are: {names}." if names else "there is none yet."
        what = "of that channel" if mention else label.strip()
        raise UnknownKnowledgeBase(f"There is no knowledge base {what} that you may see here; {there}")

    async def _may_know(self, knowledge_base: KnowledgeBaseId, judge: Judge, person: Person) -> bool:
        """Whether a person may know of what is not used here."""
        audience, place = judge.shelf.audiences.get(knowledge_base), judge.shelf.place
        if audience is None:
            if is_ours(judge.shelf.bases[knowledge_base]):
                return False
            return await self.access.administers(person, judge.directory)
        if (audience.platform, audience.workspace) != (place.platform, place.workspace):
            return False
        if audience.everyone:
            return await self.access.belongs(person, judge.directory)
        return await judge.verdict(knowledge_base) == "readable"

    async def _meant(self, label: str, place: Place) -> set[KnowledgeBaseId]:
        """What a label can mean before anything is asked; the names of channels are not known here."""
        mention = _MENTION.fullmatch(label.strip())
        if mention or folded(label) in _HERE:
            own = await self.places.at(replace(place.parent, channel=mention[1]) if mention else place)
            return {own.knowledge_base} if own else set()
        operators = {base.id for base in await self.catalog.select(names=[label])}
        operators -= set(await self.places.audiences(operators))
        return operators.union(await self.places.labelled(place, label))

    async def _to_be_known(self, place: Place, directory: Directory, person: Person) -> list[KnowledgeBaseId]:
        """What this person might know of without its being used here; what a thread holds is known in the thread alone."""
        found = await self.places.of_channels(place)
        if await self.access.administers(person, directory):
            found += [base.id for base in await self.catalog.knowledge_bases() if not is_ours(base)]
        return found

    async def _shelf(self, place: Place, beside: Collection[KnowledgeBaseId] = ()) -> Shelf:
        """Only what is used here and what is asked for beside that: of all that threads hold there is far too much."""
        wanted = {folded(name) for name in self.access.settings.everywhere}
        own = [found for at in dict.fromkeys((place, place.parent)) if (found := await self.places.at(at))]
        bindings = await self.places.bindings(place)
        ids = {*(audience.knowledge_base for audience in own), *bindings, *beside}
        bases = {base.id: base for base in await self.catalog.select(ids=ids, names=wanted)}
        audiences = await self.places.audiences(bases)
        return Shelf(
            place=place,
            bases=bases,
            audiences=audiences,
            bindings=bindings,
            everywhere=frozenset(
                one for one, base in bases.items() if one not in audiences and folded(base.name) in wanted
            ),
        )

    async def _judge(self, shelf: Shelf, directory: Directory, person: Person | None) -> Judge:
        channel = await told(directory.channel(shelf.place.channel))
        return Judge(shelf=shelf, directory=directory, person=person, channel=channel, asking=self._asking)

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
            raise Refusal("own_unclear")
        return base


def _others(
    shelf: Shelf, beside: Collection[KnowledgeBaseId]
) -> tuple[list[KnowledgeBaseId], list[KnowledgeBaseId]]:
    """What might be known beside what is used: what no other channel must be asked about, and the rest."""
    wanted = frozenset(beside)
    near: list[KnowledgeBaseId] = []
    far: list[KnowledgeBaseId] = []
    for one in (one for one in shelf.bases if one in wanted):
        audience = shelf.audiences.get(one)
        asks = audience is not None and audience.channel not in ("", shelf.place.channel)
        (
            far if asks and audience and not audience.thread and _same_town(audience, shelf.place) else near
        ).append(one)
    return near, far


def _same_town(audience: Audience, place: Place) -> bool:
    return (audience.platform, audience.workspace) == (place.platform, place.workspace)


async def _unlike(names: Mapping[str, KnowledgeBaseId], one: KnowledgeBaseId, judge: Judge) -> str:
    """What it is called here; where another has that name already, with what tells it apart."""
    taken = {folded(name) for name in names}
    name = await judge.name(one)
    if folded(name) in taken:
        name = f"{name} ({await judge.origin(one)})"
    return f"{name} {one[:6]}" if folded(name) in taken else name


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
