from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.conversation.gaps.gap_list import GapList, GapReader, Operator
from bot.store.gaps import Gaps

if TYPE_CHECKING:
    from bot.access.visitor_access import VisitorAccess
    from bot.store.gaps import GapQuestion
    from bot.web.visit import Visit

REASONS: Final = {
    "not_found": "not found",
    "ungrounded": "no source",
    "wrong": "wrong",
    "outdated": "outdated",
    "off_topic": "not what was asked",
    "source": "wrong source",
    "other": "not helpful",
    "unsaid": "no reason given",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Administrator:
    access: VisitorAccess

    def sees(self, question: GapQuestion) -> bool:
        return self.access.sees(question.place)

    async def may_read(self, question: GapQuestion) -> bool:
        private_of = question.person if question.private else ""
        return await self.access.reads(question.place, private_of=private_of) == "readable"


def gap_list(visit: Visit) -> GapList:
    return GapList(gaps=Gaps(visit.parts.chat), history=visit.parts.history)


def gap_reader(visit: Visit) -> GapReader:
    return Operator() if visit.reader.is_operator else _Administrator(access=visit.reader)
