from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from rag_engine.verified.question_groups import by_typicality

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from bot.store.gaps import Gap, GapQuestion, Gaps
    from rag_engine.storage.history import AskedQuestion, SqliteHistory
    from rag_engine.types import KnowledgeBaseId, TurnId

WEEK: Final = 7 * 86_400.0
_MOST_QUESTIONS: Final = 5
_LONGEST: Final = 200


class GapReader(Protocol):
    def sees(self, question: GapQuestion) -> bool: ...

    async def may_read(self, question: GapQuestion) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    def sees(self, question: GapQuestion) -> bool:
        return True

    async def may_read(self, question: GapQuestion) -> bool:
        return not (question.private or question.group)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownGap:
    gap: Gap
    title: str
    """Empty if the reader may read none."""
    questions: tuple[str, ...]
    readable: tuple[GapQuestion, ...]
    seen: frozenset[str]
    """The ids of all questions that are counted."""
    count: int
    this_week: int
    last_week: int
    reasons: Mapping[str, int]
    knowledge_bases: frozenset[KnowledgeBaseId]
    last_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GapList:
    gaps: Gaps
    history: SqliteHistory
    clock: Callable[[], float] = time.time

    async def read(
        self,
        reader: GapReader,
        *,
        since: float = 0.0,
        knowledge_bases: Collection[KnowledgeBaseId] | None = None,
        gap: str = "",
        done: bool = False,
    ) -> list[ShownGap]:
        known = await self.gaps.all()
        grouped: dict[str, list[GapQuestion]] = {}
        for each in await self.gaps.questions(gap=gap, since=since):
            if reader.sees(each) and _concerns(each, knowledge_bases):
                grouped.setdefault(each.gap, []).append(each)
        grouped = {
            one: members
            for one, members in grouped.items()
            if one in known and bool(known[one].done_at) == done
        }
        asked = await self.history.asked({each.turn for members in grouped.values() for each in members})
        shown = [await self._shown(known[one], members, asked, reader) for one, members in grouped.items()]
        found = [each for each in shown if each is not None]
        return sorted(found, key=lambda each: (-each.this_week, -each.count, -each.last_at))

    async def _shown(
        self,
        gap: Gap,
        members: Sequence[GapQuestion],
        asked: Mapping[TurnId, AskedQuestion],
        reader: GapReader,
    ) -> ShownGap | None:
        members = [each for each in members if each.turn in asked]
        if not members:
            return None
        order = by_typicality(np.stack([each.vector for each in members]))
        readable = [members[place] for place in order if await reader.may_read(members[place])]
        texts = list(dict.fromkeys(_short(asked[each.turn].text) for each in readable))
        now = self.clock()
        named = set(gap.named_from)
        is_named = bool(gap.name and named) and named <= {each.turn for each in readable}
        return ShownGap(
            gap=gap,
            title=gap.name if is_named else next(iter(texts), ""),
            questions=tuple(texts[:_MOST_QUESTIONS]),
            readable=tuple(readable),
            seen=frozenset(each.id for each in members),
            count=len(members),
            this_week=sum(now - WEEK < each.at for each in members),
            last_week=sum(now - 2 * WEEK < each.at <= now - WEEK for each in members),
            reasons=Counter(each.why for each in members),
            knowledge_bases=frozenset(base for each in members for base in each.knowledge_bases),
            last_at=max(each.at for each in members),
        )


def _concerns(question: GapQuestion, knowledge_bases: Collection[KnowledgeBaseId] | None) -> bool:
    return knowledge_bases is None or not set(knowledge_bases).isdisjoint(question.knowledge_bases)


def _short(text: str) -> str:
    tidy = " ".join(text.split())
    return tidy if len(tidy) <= _LONGEST else f"{tidy[:_LONGEST].rstrip()}…"
