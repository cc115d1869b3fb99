from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from rag_engine.metadata.verified_answer import VerifiedAnswer, Verifier
from rag_engine.types import DocumentId, KnowledgeBaseId

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.types import Matrix, Vector
    from rag_engine.verified.best_match import QuestionMatcher

_MOST_COMPARED: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupedQuestion:
    text: str
    group: str
    vector: Vector


async def group_of(
    text: str, vector: Vector, known: Sequence[GroupedQuestion], matcher: QuestionMatcher
) -> str | None:
    if not known:
        return None
    cosines = np.stack([each.vector for each in known]) @ vector
    nearest = np.argsort(-cosines, kind="stable")[:_MOST_COMPARED]
    found = await matcher.compare((text,), [_stated(int(place), known[int(place)].text) for place in nearest])
    return known[int(found.best.id)].group if found.best is not None else None


def by_typicality(vectors: Matrix) -> list[int]:
    return [int(place) for place in np.argsort(-(vectors @ vectors.sum(axis=0)), kind="stable")]


def _stated(place: int, question: str) -> VerifiedAnswer:
    return VerifiedAnswer(
        id=DocumentId(str(place)),
        knowledge_base=KnowledgeBaseId(""),
        question=question,
        answer="",
        author=Verifier(name=""),
        written_at=0.0,
    )
