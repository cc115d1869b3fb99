from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from rag_engine.types import DocumentId

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from rag_engine.storage.sqlite.database import Database

_MISLEADING: Final = 3
_COLUMNS: Final = """
    feedback.at, rating, feedback.turn, answers.platform, answers.workspace, answers.channel, answers.thread,
    answers.private OR (answers.platform, answers.workspace, answers.channel) IN (
        SELECT platform, workspace, channel FROM group_messages
    ), answers.question, citations, reason, note, answers.conversation, feedback.answer
"""
_LISTED: Final = f"""
    SELECT {_COLUMNS} FROM feedback LEFT JOIN answers ON answers.id = feedback.answer
    WHERE ? IN ('', rating) ORDER BY feedback.at DESC
"""  # noqa: S608
_BY_GAP: Final = f"""
    SELECT gap, {_COLUMNS} FROM gap_questions JOIN feedback ON feedback.answer = gap_questions.question
    JOIN answers ON answers.id = feedback.answer
"""  # noqa: S608


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedAnswer:
    """`place` is empty after the question's retention."""

    at: float
    rating: str
    turn: str
    place: str = ""
    question: str = ""
    """Empty for private answers."""
    reason: str = ""
    """Why it was rated down; empty if nobody said."""
    note: str = ""
    conversation: str = ""
    answer: str = ""
    documents: Mapping[DocumentId, str]
    """Titles of cited documents; none for private answers."""


async def listed(database: Database, *, rating: str = "") -> list[RatedAnswer]:
    """Newest first; `rating`: `up`, `down` or empty."""
    return [_rated(*row) for row in await database.fetch(_LISTED, (rating,))]


async def by_gap(database: Database) -> dict[str, list[RatedAnswer]]:
    found: dict[str, list[RatedAnswer]] = {}
    for gap, *row in await database.fetch(_BY_GAP):
        found.setdefault(gap, []).append(_rated(*row))
    return found


def _rated(
    at: float,
    rating: str,
    turn: str,
    platform: str | None,
    workspace: str,
    channel: str,
    thread: str,
    private: int,
    question: str,
    citations: str,
    reason: str,
    note: str,
    conversation: str | None,
    answer: str,
) -> RatedAnswer:
    bare = RatedAnswer(at=at, rating=rating, turn=turn, reason=reason, answer=answer, documents={})
    if platform is None:
        return bare
    place = ":".join(filter(None, (platform, workspace, channel, thread)))
    if private or is_direct(platform, workspace, channel):
        return replace(bare, place=f"{platform}: private")
    documents = {DocumentId(each["document"]): each["title"] for each in json.loads(citations)}
    return replace(
        bare,
        place=place,
        question=question,
        note=note,
        conversation=conversation or "",
        documents=documents,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRatings:
    document: DocumentId
    title: str
    up: int = 0
    down: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def misleads(self) -> bool:
        return self.down >= _MISLEADING and self.down > self.up


def by_document(rated: Iterable[RatedAnswer]) -> list[DocumentRatings]:
    """Of cited documents; the most often rated down first."""
    return by_subject(rated, lambda each: each.documents)


def by_subject(
    rated: Iterable[RatedAnswer], subjects: Callable[[RatedAnswer], Mapping[DocumentId, str]]
) -> list[DocumentRatings]:
    found: dict[DocumentId, DocumentRatings] = {}
    for each in rated:
        for document, title in subjects(each).items():
            before = found.get(document, DocumentRatings(document=document, title=title))
            reasons = dict(before.reasons)
            if each.rating == "down":
                name = each.reason or "unsaid"
                reasons[name] = reasons.get(name, 0) + 1
            found[document] = replace(
                before,
                up=before.up + (each.rating == "up"),
                down=before.down + (each.rating == "down"),
                reasons=reasons,
            )
    return sorted(found.values(), key=lambda one: (-one.down, one.up, one.title))


_MISLEADS = f"""
    SELECT document FROM (
        SELECT DISTINCT feedback.rowid, rating, json_extract(cited.value, '$.document') AS document
        FROM feedback JOIN answers ON answers.id = answer, json_each(citations) AS cited WHERE private = 0)
    WHERE document IN (SELECT value FROM json_each(?)) GROUP BY document
    HAVING sum(rating = 'down') >= {_MISLEADING} AND sum(rating = 'down') > sum(rating = 'up')
"""  # noqa: S608


async def misleading(database: Database, documents: Collection[str]) -> frozenset[str]:
    """Those that often mislead."""
    rows = await database.fetch(_MISLEADS, (json.dumps(sorted(documents)),))
    return frozenset(document for (document,) in rows)


def is_direct(platform: str, workspace: str, channel: str) -> bool:
    return (
        channel.startswith("D") if platform == "slack" else platform == "discord" and workspace in {"", "@me"}
    )
