from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.access.permissions import answer_or_none
from bot.web.visit import HIDDEN, UNCHECKED, NothingHere, NotYours
from rag_engine.types import KnowledgeBaseId

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bot.access.readability import Verdict
    from bot.store.places import StoredAudience
    from bot.web.visit import Visit
    from rag_engine.types import KnowledgeBase

_KINDS: Final = {
    "public": "a public channel: every full member of the workspace can.",
    "private": "a private channel: its members can.",
}
_FEW: Final = {
    "group": "The people of a group message can see it, because it belongs to that conversation.",
    "direct": "One person can see it: it belongs to their direct message with the bot.",
}
_THREAD: Final = "It is searched in that thread alone."


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownBase:
    base: KnowledgeBase
    audience: StoredAudience | None
    verdict: Verdict
    name: str
    """Empty if its documents may not be shown."""

    @property
    def is_readable(self) -> bool:
        return self.verdict == "readable"

    @property
    def hidden(self) -> str:
        return "" if self.is_readable else UNCHECKED if self.verdict == "unknown" else HIDDEN


async def known_bases(visit: Visit) -> list[KnownBase]:
    """Without those of threads, which are as many as threads with files."""
    bases = await visit.parts.catalog.knowledge_bases()
    audiences = await visit.parts.places.audiences([base.id for base in bases])
    plain = [base for base in bases if (of := audiences.get(base.id)) is None or not of.thread]
    found = await asyncio.gather(*(_known(visit, base, audiences.get(base.id)) for base in plain))
    return sorted(filter(None, found), key=lambda known: (not known.is_readable, known.name.casefold()))


async def known_base(visit: Visit, identity: str) -> KnownBase:
    """Also of a thread. Raises `NothingHere`."""

    for base in await visit.parts.catalog.select(ids=[KnowledgeBaseId(identity)]):
        audience = await visit.parts.places.audience(base.id)
        known = await _known(visit, base, audience)
        if known is not None and known.is_readable:
            return known
        if known is not None:
            raise NotYours(f"The documents of this knowledge base are {known.hidden}.")
    raise NothingHere


def check_changes(visit: Visit, known: KnownBase) -> None:
    """Raises `NotYours`: the operator's own are changed by the operator."""
    if known.audience is None and not visit.reader.is_operator:
        raise NotYours("The operator made this knowledge base: only the operator changes it.")


async def readable_ids(visit: Visit, identities: Sequence[str]) -> Mapping[KnowledgeBaseId, KnownBase]:

    bases = await visit.parts.catalog.select(ids=[KnowledgeBaseId(each) for each in identities])
    audiences = await visit.parts.places.audiences([base.id for base in bases])
    found = await asyncio.gather(*(_known(visit, base, audiences.get(base.id)) for base in bases))
    return {known.base.id: known for known in found if known is not None and known.is_readable}


async def _known(visit: Visit, base: KnowledgeBase, audience: StoredAudience | None) -> KnownBase | None:
    if not await visit.reader.sees_base(base, audience):
        return None
    verdict = await visit.reader.reads_base(base, audience)
    name = await _name(visit, base, audience) if verdict == "readable" else ""
    return KnownBase(base=base, audience=audience, verdict=verdict, name=name)


async def _name(visit: Visit, base: KnowledgeBase, audience: StoredAudience | None) -> str:
    if audience is None or audience.label:
        return audience.label if audience else base.name
    channel = await visit.reader.channel_name(audience.place)
    return f"a thread in {channel}" if audience.thread else channel


async def who_reads(visit: Visit, known: KnownBase) -> list[str]:
    audience, access = known.audience, visit.parts.application.settings.access
    if audience is None:
        guests = (
            "Guests may read it, too." if access.guests else "It is not searched where a guest reads along."
        )
        everywhere = {name.casefold() for name in access.everywhere}
        where = (
            "Every place in the operator's workspaces searches it."
            if known.base.name.casefold() in everywhere
            else "A place searches it if an administrator bound it there."
        )
        return ["The operator made it in the terminal.", where, guests]
    if audience.everyone:
        return [
            "Every full member of the workspace can see it, because it was made for the whole workspace.",
            "Guests and people of other organisations cannot.",
        ]
    channel = await visit.reader.channel_name(audience.place)
    directory = await visit.reader.directory(audience.place)
    found = None if directory is None else await answer_or_none(directory.channel(audience.channel))
    if found is not None and found.kind in _FEW:
        return [_FEW[found.kind]]
    kind = f" It is {_KINDS[found.kind]}" if found else ""
    if audience.thread:
        return [
            f"Everyone who can read {channel} can see it, because a thread there holds it.{kind}",
            _THREAD,
        ]
    said = [f"Everyone who can read {channel} can see it, because it belongs to that channel.{kind}"]
    if found is not None and found.external:
        said.append("People of other organisations are in this channel.")
    return said


async def bound_names(visit: Visit, known: KnownBase) -> tuple[list[str], int]:
    places = await visit.parts.places.bound_to(known.base.id)
    verdicts = await visit.reader.read_all(places)
    readable = [place for place in places if verdicts[place] == "readable"]
    names = await asyncio.gather(*(visit.reader.channel_name(place) for place in readable))
    return list(names), len(places) - len(readable)


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentCounts:
    ready: int = 0
    waiting: int = 0
    failed: int = 0
    passages: int = 0


async def counts(visit: Visit, bases: Sequence[KnownBase]) -> Mapping[KnowledgeBaseId, DocumentCounts]:
    rows = await visit.parts.engine.fetch(
        "SELECT knowledge_base, sum(state = 'ready'), sum(state IN ('queued', 'parsing', 'embedding')), sum(state = 'failed'), "
        "sum(CASE state WHEN 'ready' THEN chunks ELSE 0 END) FROM documents "
        "WHERE knowledge_base IN (SELECT value FROM json_each(?)) GROUP BY 1",
        (json.dumps([known.base.id for known in bases]),),
    )
    return {
        base: DocumentCounts(ready=ready, waiting=waiting, failed=failed, passages=passages)
        for base, ready, waiting, failed, passages in rows
    }
