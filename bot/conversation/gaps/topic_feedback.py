"""Ratings by what was asked: the topics are the gaps, so only answers that were rated down with a reason have one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.store import feedback
from rag_engine.types import DocumentId

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from bot.conversation.gaps.gap_list import GapList, GapReader, ShownGap
    from bot.store.feedback import DocumentRatings, RatedAnswer
    from rag_engine.storage.sqlite.database import Database
    from rag_engine.types import KnowledgeBaseId


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicFeedback:
    """`documents` are those cited where the reader may read; `title` is empty if they may read nothing of it."""

    gap: str
    title: str
    up: int
    down: int
    reasons: Mapping[str, int]
    documents: tuple[DocumentRatings, ...]


async def topics(
    database: Database,
    listed: GapList,
    reader: GapReader,
    *,
    knowledge_bases: Collection[KnowledgeBaseId] | None = None,
) -> list[TopicFeedback]:
    """The most often rated down first."""
    rated = await feedback.by_gap(database)
    if not rated:
        return []
    shown = [
        each
        for done in (False, True)
        for each in await listed.read(reader, done=done, knowledge_bases=knowledge_bases)
    ]
    found = [_topic(gap, rated[gap.gap.id]) for gap in shown if gap.gap.id in rated]
    return sorted(filter(None, found), key=lambda each: (-each.down, each.up, each.title))


def _topic(gap: ShownGap, rated: list[RatedAnswer]) -> TopicFeedback | None:
    seen = [each for each in rated if each.answer in gap.seen]
    if not any(each.rating == "down" for each in seen):
        return None
    subject = DocumentId(gap.gap.id)
    (whole,) = feedback.by_subject(seen, lambda _: {subject: gap.title})
    readable = {each.id for each in gap.readable}
    return TopicFeedback(
        gap=gap.gap.id,
        title=gap.title,
        up=whole.up,
        down=whole.down,
        reasons=whole.reasons,
        documents=tuple(feedback.by_document(each for each in seen if each.answer in readable)),
    )
