from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_engine.types import DocumentId

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rag_engine.storage.sqlite.database import Database

_LISTED = """
    SELECT feedback.at, rating, feedback.turn, platform, workspace, channel, thread, private, question, citations
    FROM feedback LEFT JOIN answers ON answers.id = feedback.answer WHERE ? IN ('', rating) ORDER BY feedback.at DESC
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedAnswer:
    """`place` is empty after the question's retention."""

    at: float
    rating: str
    turn: str
    place: str = ""
    question: str = ""
    """Empty for private answers."""
    documents: Mapping[DocumentId, str]
    """Titles of cited documents; none for private answers."""


async def listed(database: Database, *, rating: str = "") -> list[RatedAnswer]:
    """Newest first; `rating`: `up`, `down` or empty."""
    return [_rated(*row) for row in await database.fetch(_LISTED, (rating,))]


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
) -> RatedAnswer:
    if platform is None:
        return RatedAnswer(at=at, rating=rating, turn=turn, documents={})
    place = ":".join(filter(None, (platform, workspace, channel, thread)))
    if private or is_direct(platform, workspace, channel):
        return RatedAnswer(at=at, rating=rating, turn=turn, place=f"{platform}: private", documents={})
    documents = {DocumentId(each["document"]): each["title"] for each in json.loads(citations)}
    return RatedAnswer(at=at, rating=rating, turn=turn, place=place, question=question, documents=documents)


def is_direct(platform: str, workspace: str, channel: str) -> bool:
    return (
        channel.startswith("D") if platform == "slack" else platform == "discord" and workspace in {"", "@me"}
    )
