"""A question searches only what every reader of the reply may read: checked each time, because people leave channels."""

from __future__ import annotations

import asyncio
import difflib
import hashlib
import re
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import quote

from bot.access.direct_messages import DirectMessages
from bot.access.permissions import MOST_IN_NAME, Scope, answer_or_none
from bot.access.readability import PlaceKnowledge, Readability, is_made_in_chat
from bot.access.watched_directory import watched
from bot.messages import LANGUAGES, say
from bot.messages.refusals import Cause, Invalid, NameList, NoSuchKnowledgeBase, PlaceName, Refusal
from bot.port import Channel
from bot.store.places import StoredAudience
from rag_engine.storage.knowledge_base_names import appearance, folded, tidy

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence, Set

    from bot.access.permissions import Permissions
    from bot.access.readability import Verdict
    from bot.messages.names import Sentence
    from bot.port import Directory, Person, Place
    from bot.store.places import Places
    from rag_engine.ports import Catalog
    from rag_engine.types import KnowledgeBase, KnowledgeBaseId

__all__ = ["LONGEST_LABEL", "Audiences", "NamedKnowledgeBase"]

LONGEST_LABEL = 40

_DIRECTORY_CALLS_AT_ONCE = 8
_MOST_CHANNELS = 40
_MOST_IN_ERROR = 20
_LONGEST_COMPARED = 100
_MENTION = re.compile(r"<#([^|>\s]+)(?:\|[^>]*)?>")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedKnowledgeBase:
    knowledge_base: KnowledgeBase
    name: PlaceName
    audience: StoredAudience | None
    bound: bool = False
    seen: bool = False
    seen_privately: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Audiences:
    places: Places
    catalog: Catalog
    access: Permissions
    model: str
    _directory_calls: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(_DIRECTORY_CALLS_AT_ONCE), init=False
    )

    async def own(self, place: Place) -> KnowledgeBase:
        self.access.admit(place)
        return await self._open(place, label="")

    async def create(self, place: Place, label: str, *, everyone: bool) -> KnowledgeBase:
        self.access.admit(place)
        label = _tidy_label(label)
        owner = replace(place.parent, channel="") if everyone else place.parent
        if await self.places.at(owner, label=label):
            raise Invalid("base_exists", name=label)
        return await self._open(owner, label=label)

    async def scope(
        self, place: Place, directory: Directory, *, person: Person | None = None, asker: Person | None = None
    ) -> Scope:
        """All readers of the place may read all of it; with `person`, only they read the reply. In a direct message the
        `asker` may ask what they may read elsewhere.
        """
        if not self.access.serves(place):
            return Scope(knowledge_bases=frozenset(), name="")
        asked = watched(directory)
        check = await self._readability(await self._knowledge(place), asked, person)
        checks, complete = await self._checks(check, person or asker)
        scopes = await asyncio.gather(*(self._scope_of(each) for each in checks))
        left_out = not complete or any(scope.unchecked for scope in scopes)
        names = {base: name for scope in scopes for base, name in scope.names.items()}
        is_empty = not names and not check.is_direct
        return Scope(
            knowledge_bases=frozenset(names),
            name=NameList(tuple(names.values()), MOST_IN_NAME).in_language("en"),
            names=names,
            notices=("left_out",) if left_out else (),
            unchecked=left_out or check.channel is None,
            failure=asked.failure,
            direct=check.is_direct,
            group=check.channel is not None and check.channel.kind == "group",
            threads=is_empty and await self.places.have_threads(place),
        )

    async def _checks(self, check: Readability, reader: Person | None) -> tuple[list[Readability], bool]:
        if reader is None or not check.is_direct:
            return [check], True
        is_reader = await answer_or_none(
            check.directory.may_read(check.knowledge.place.channel, person=reader.id)
        )
        if not is_reader:
            return [check], is_reader is not None
        direct = DirectMessages(places=self.places, catalog=self.catalog, access=self.access)
        others, complete = await direct.checks(check, reader)
        return [replace(check, person=reader), *others], complete

    async def _scope_of(self, check: Readability) -> Scope:
        used = check.knowledge.used()
        verdicts = await asyncio.gather(*(check.verdict(knowledge_base) for knowledge_base in used))
        members = [one for one, verdict in zip(used, verdicts, strict=True) if verdict == "readable"]
        names = {one: await check.name(one) for one in members}
        return Scope(
            knowledge_bases=frozenset(members), name="", names=names, unchecked="unknown" in verdicts
        )

    async def readable(
        self,
        place: Place,
        directory: Directory,
        person: Person,
        *,
        others: Collection[KnowledgeBaseId] | None = None,
    ) -> list[NamedKnowledgeBase]:
        """Used ones first. `others` limits those not used here; of very many, some are left out."""
        if not self.access.serves(place):
            return []
        candidates = await self._candidates(place, directory, person) if others is None else others
        knowledge = await self._knowledge(place, candidates)
        check = await self._readability(knowledge, directory, person)
        used = privately = await self._used(check, person)
        here = frozenset(used)
        if not check.is_direct:
            everyones = await self._scope_of(replace(check, person=None))
            here = everyones.knowledge_bases
            used = dict.fromkeys((one for one in knowledge.used() if one in here or one in privately), check)
        near, far = _others(knowledge, candidates)
        asked = far[:_MOST_CHANNELS] if others is None else far
        unused = [one for one in (*near, *asked) if one not in used]
        may_know = await asyncio.gather(*(self._may_know(one, check, person) for one in unused))
        known = used | {one: check for one, may in zip(unused, may_know, strict=True) if may}
        names = await _unique_names(known)
        return [
            NamedKnowledgeBase(
                knowledge_base=known[one].knowledge.bases[one],
                name=name,
                audience=known[one].knowledge.audiences.get(one),
                bound=one in knowledge.bindings,
                seen=one in here,
                seen_privately=one in privately,
            )
            for one, name in names.items()
        ]

    async def _used(self, check: Readability, person: Person) -> dict[KnowledgeBaseId, Readability]:
        checks, _ = await self._checks(check, person)
        scopes = await asyncio.gather(*(self._scope_of(each) for each in checks))
        used: dict[KnowledgeBaseId, Readability] = {}
        for each, scope in zip(checks, scopes, strict=True):
            for one in scope.names:
                used.setdefault(one, each)
        return used

    async def everyone_may_read(
        self, knowledge_base: KnowledgeBaseId, place: Place, directory: Directory, person: Person
    ) -> Verdict:
        """`person`: of a direct message."""
        knowledge = await self._knowledge(place, [knowledge_base])
        check = await self._readability(knowledge, directory, None)
        check = replace(check, person=person) if check.is_direct else check
        return await check.verdict(knowledge_base) if knowledge_base in knowledge.bases else "closed"

    async def person_may_read(
        self, knowledge_base: KnowledgeBaseId, place: Place, directory: Directory, person: Person
    ) -> Verdict:
        """By themselves, of the place's workspace. What belongs to a thread is closed."""
        knowledge = await self._knowledge(replace(place, channel="", thread=""), [knowledge_base])
        check = Readability(
            knowledge=knowledge,
            directory=directory,
            person=person,
            channel=Channel(id="", name="", kind="direct"),
            directory_calls=self._directory_calls,
            access=self.access,
        )
        return await check.verdict(knowledge_base) if knowledge_base in knowledge.bases else "closed"

    async def find(
        self, label: str, place: Place, directory: Directory, person: Person
    ) -> NamedKnowledgeBase:
        """By label, by `#channel`, or the place's own. Raises `UnknownKnowledgeBase`, which does not reveal whether it
        exists, or `NotAllowed` if unchecked.
        """
        asked = watched(directory)
        try:
            return await self._find(label, place, asked, person)
        except NoSuchKnowledgeBase:
            if asked.failures:
                raise Refusal("bases_unchecked", reason=Cause(asked.failure)) from None
            raise

    async def _find(
        self, label: str, place: Place, directory: Directory, person: Person
    ) -> NamedKnowledgeBase:
        labelled = await self._labelled(label, place)
        known = await self.readable(place, directory, person, others=labelled) if labelled else []
        found = [one for one in known if one.knowledge_base.id in labelled]
        if len(found) == 1:
            return found[0]
        if folded(label) in _names_of_here():
            raise NoSuchKnowledgeBase("no_own_base")
        mention = _MENTION.fullmatch(label.strip())
        known = await self.readable(place, directory, person)
        for one in known:
            spellings = _spellings(one.name)
            if not mention and not spellings.isdisjoint((folded(label), folded(f"#{label.strip()}"))):
                return one
        raise _no_such_base(label.strip(), [one.name for one in known], is_channel=mention is not None)

    async def _may_know(self, knowledge_base: KnowledgeBaseId, check: Readability, person: Person) -> bool:
        audience, place = check.knowledge.audiences.get(knowledge_base), check.knowledge.place
        if audience is None:
            if is_made_in_chat(check.knowledge.bases[knowledge_base]):
                return False
            trusted = self.access.trusts(place, check.directory)
            return trusted and await self.access.administers(person, check.directory)
        if (audience.platform, audience.workspace) != (place.platform, place.workspace):
            return False
        if audience.everyone:
            return await self.access.belongs(person, check.directory)
        return await check.verdict(knowledge_base) == "readable"

    async def _labelled(self, label: str, place: Place) -> set[KnowledgeBaseId]:
        mention = _MENTION.fullmatch(label.strip())
        if mention or folded(label) in _names_of_here():
            own = await self.places.at(replace(place.parent, channel=mention[1]) if mention else place)
            return {own.knowledge_base} if own else set()
        operators = {base.id for base in await self.catalog.select(names=[label])}
        operators -= set(await self.places.audiences(operators))
        return operators.union(await self.places.labelled(place, label))

    async def _candidates(self, place: Place, directory: Directory, person: Person) -> list[KnowledgeBaseId]:
        found = await self.places.of_channels(place)
        if self.access.trusts(place, directory) and await self.access.administers(person, directory):
            found += [base.id for base in await self.catalog.knowledge_bases() if not is_made_in_chat(base)]
        return found

    async def _knowledge(self, place: Place, others: Collection[KnowledgeBaseId] = ()) -> PlaceKnowledge:
        everywhere = {folded(name) for name in self.access.settings.everywhere}
        own = [found for at in dict.fromkeys((place, place.parent)) if (found := await self.places.at(at))]
        bindings = await self.places.bindings(place)
        ids = {*(audience.knowledge_base for audience in own), *bindings, *others}
        bases = {base.id: base for base in await self.catalog.select(ids=ids, names=everywhere)}
        audiences = await self.places.audiences(bases)
        return PlaceKnowledge(
            place=place,
            bases=bases,
            audiences=audiences,
            bindings=bindings,
            everywhere=frozenset(
                one for one, base in bases.items() if one not in audiences and folded(base.name) in everywhere
            ),
        )

    async def _readability(
        self, knowledge: PlaceKnowledge, directory: Directory, person: Person | None
    ) -> Readability:
        channel = await answer_or_none(directory.channel(knowledge.place.channel))
        return Readability(
            knowledge=knowledge,
            directory=directory,
            person=person,
            channel=channel,
            directory_calls=self._directory_calls,
            access=self.access,
        )

    async def _open(self, owner: Place, *, label: str) -> KnowledgeBase:
        base = await self.catalog.open(_catalog_name(owner, label), model=self.model)
        audience = StoredAudience(
            knowledge_base=base.id,
            platform=owner.platform,
            workspace=owner.workspace,
            channel=owner.channel,
            thread=owner.thread,
            label=label,
        )
        stored = await self.places.admit(audience)
        if stored.place != owner or folded(stored.label) != folded(label):
            raise Refusal("own_unclear")
        return base


def _others(
    knowledge: PlaceKnowledge, others: Collection[KnowledgeBaseId]
) -> tuple[list[KnowledgeBaseId], list[KnowledgeBaseId]]:
    included = frozenset(others)
    near: list[KnowledgeBaseId] = []
    far: list[KnowledgeBaseId] = []
    for one in (one for one in knowledge.bases if one in included):
        audience = knowledge.audiences.get(one)
        asks = audience is not None and audience.channel not in ("", knowledge.place.channel)
        (
            far
            if asks and audience and not audience.thread and _in_same_workspace(audience, knowledge.place)
            else near
        ).append(one)
    return near, far


def _in_same_workspace(audience: StoredAudience, place: Place) -> bool:
    return (audience.platform, audience.workspace) == (place.platform, place.workspace)


async def _unique_names(known: Mapping[KnowledgeBaseId, Readability]) -> dict[KnowledgeBaseId, PlaceName]:
    names: dict[KnowledgeBaseId, PlaceName] = {}
    spellings: set[str] = set()
    for one, check in known.items():
        names[one] = await _unique_name(spellings, one, check)
        spellings |= _appearances(names[one])
    return names


async def _unique_name(taken: Set[str], one: KnowledgeBaseId, check: Readability) -> PlaceName:
    name = await check.name(one)
    if not taken.isdisjoint(_appearances(name)):
        name = replace(name, origin=await check.origin(one))
    return name if taken.isdisjoint(_appearances(name)) else replace(name, suffix=one[:6])


def _spellings(name: PlaceName) -> frozenset[str]:
    return frozenset(folded(name.in_language(language)) for language in LANGUAGES)


def _appearances(name: PlaceName) -> frozenset[str]:
    return frozenset(appearance(name.in_language(language)) for language in LANGUAGES)


def _no_such_base(label: str, names: Sequence[PlaceName], *, is_channel: bool) -> NoSuchKnowledgeBase:
    known = NameList(names, _MOST_IN_ERROR)
    if is_channel:
        if names:
            return NoSuchKnowledgeBase("no_base_of_channel", names=known)
        return NoSuchKnowledgeBase("no_base_of_channel_yet")
    if near := _nearest(label, names):
        return NoSuchKnowledgeBase("no_such_base_meant", name=label, near=near, names=known)
    if names:
        return NoSuchKnowledgeBase("no_such_base", name=label, names=known)
    return NoSuchKnowledgeBase("no_such_base_yet", name=label)


def _nearest(label: str, names: Sequence[PlaceName]) -> PlaceName | None:
    spellings = {spelling: name for name in names for spelling in _spellings(name)}
    found = difflib.get_close_matches(folded(label)[:_LONGEST_COMPARED], list(spellings), n=1)
    return spellings[found[0]] if found else None


@cache
def _names_of_here() -> frozenset[str]:
    here: tuple[Sentence, ...] = ("this_channel", "this_conversation", "this_thread")
    return frozenset({"", "here"}).union(
        folded(say(name, language)) for name in here for language in LANGUAGES
    )


def _tidy_label(label: str) -> str:
    label = tidy(label)
    if len(label) > LONGEST_LABEL:
        raise Invalid("label_too_long", most=LONGEST_LABEL)
    if folded(label) in _names_of_here() or not label[0].isalnum() or any(sign in label for sign in "<>`|"):
        raise Invalid("label_unusable", name=label)
    return label


def _catalog_name(owner: Place, label: str) -> str:
    parts = (owner.platform, owner.workspace, owner.channel, owner.thread, folded(label))
    digest = hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:12]
    readable = ":".join(quote(part, safe=" ", errors="replace") for part in parts[1:] if part)
    return f"{owner.platform}:{readable[:54]}~{digest}"
