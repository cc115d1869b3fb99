from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.conversation.gaps.gap_list import GapList, GapReader, Operator, ShownGap
from bot.store.gaps import Gaps
from bot.web.visit import Moved, NothingHere, Shown

if TYPE_CHECKING:
    from bot.access.visitor_access import VisitorAccess
    from bot.store.gaps import GapQuestion
    from bot.web.visit import Reply, Visit

TITLE: Final = "Gaps"
PATH: Final = "gaps"
POSITION: Final = 20
SAID: Final = {"done": "The gap is done. It opens again if somebody asks."}
REASONS: Final = {
    "not_found": "not found",
    "ungrounded": "no source",
    "wrong": "wrong",
    "outdated": "outdated",
    "off_topic": "not what was asked",
    "source": "wrong source",
    "other": "not helpful",
}
_SPANS: Final = {"": 0, "30": 30, "7": 7}
_MOST: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class _Administrator:
    access: VisitorAccess

    def sees(self, question: GapQuestion) -> bool:
        return self.access.sees(question.place)

    async def may_read(self, question: GapQuestion) -> bool:
        private_of = question.person if question.private else ""
        return await self.access.reads(question.place, private_of=private_of) == "readable"


async def show(visit: Visit) -> Reply:
    days = _SPANS[visit.choice("days", *_SPANS)]
    since = time.time() - days * 86_400 if days else 0.0
    gaps = await _gaps(visit).read(_reader(visit), since=since, done="done" in visit.query)
    values = {
        "gaps": gaps[:_MOST],
        "more": max(0, len(gaps) - _MOST),
        "reasons": REASONS,
        "days": str(days or ""),
        "done": "done" in visit.query,
        "changes": visit.checked,
    }
    return Shown(template="gaps.html", values=values)


async def act(visit: Visit) -> Reply:
    chosen = await _chosen(visit)
    visit.audit("close gap")
    await Gaps(visit.parts.chat).close(chosen.gap.id, at=time.time())
    return Moved(path=PATH, said="done")


async def _chosen(visit: Visit) -> ShownGap:
    identity = visit.rest[0] if visit.rest else ""
    found = await _gaps(visit).read(_reader(visit), gap=identity) if identity else []
    if not found or not found[0].readable or visit.form.get("act") != "done":
        raise NothingHere
    return found[0]


def _gaps(visit: Visit) -> GapList:
    return GapList(gaps=Gaps(visit.parts.chat), history=visit.parts.history)


def _reader(visit: Visit) -> GapReader:
    return Operator() if visit.reader.is_operator else _Administrator(access=visit.reader)
