from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rag_engine.verified.question_match import Differences, are_same, differences, spelled_out

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Sequence

    from rag_engine.metadata.verified_answer import VerifiedAnswer
    from rag_engine.ports import Embedder
    from rag_engine.types import DocumentId, Vector

_MOST_VECTORS: Final = 20_000
_MOST_COMPARED: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionComparison:
    best: VerifiedAnswer | None
    others: frozenset[DocumentId]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionMatcher:
    embedder: Embedder
    contrast: Callable[[], Awaitable[float]]
    _vectors: dict[str, Vector] = field(default_factory=dict[str, "Vector"], init=False)

    async def compare(
        self, asked: Sequence[str], answers: Sequence[VerifiedAnswer], *, shown: Collection[DocumentId] = ()
    ) -> QuestionComparison:
        """`asked`: readings of one question; `others` are looked for among `shown`."""
        found = await asyncio.to_thread(_compared, asked, answers)
        others = {answer.id for answer, _, each in found if each is None and answer.id in shown} - {
            answer.id for answer, _, each in found if each is not None
        }
        alike = await self._nearest(
            [(answer, text, each) for answer, text, each in found if each is not None]
        )
        words = await self._embedded({word for _, _, each in alike for word in each.words})
        for answer, cosine, each in alike:
            if are_same(each, cosine, lambda one, other: float(words[one] @ words[other])):
                return QuestionComparison(best=answer, others=frozenset(others))
        return QuestionComparison(best=None, others=frozenset(others))

    async def _nearest(
        self, candidates: Sequence[tuple[VerifiedAnswer, str, Differences]]
    ) -> list[tuple[VerifiedAnswer, float, Differences]]:
        if not candidates:
            return []
        texts = {text for answer, asked, _ in candidates for text in (asked, answer.question)}
        vectors, contrast = await self._embedded(texts), await self.contrast()
        scored = [
            (
                answer,
                2.0
                if each.same_words
                else _relative(float(vectors[asked] @ vectors[answer.question]), contrast),
                each,
            )
            for answer, asked, each in candidates
        ]
        scored.sort(key=lambda one: (-one[1], one[0].id))
        return scored[:_MOST_COMPARED]

    async def _embedded(self, texts: Collection[str]) -> dict[str, Vector]:
        known = {text: self._vectors[text] for text in texts if text in self._vectors}
        missing = sorted(set(texts) - known.keys())
        if missing:
            rows = await self.embedder.embed(missing, side="query")
            known |= dict(zip(missing, rows, strict=True))
            if len(self._vectors) + len(missing) > _MOST_VECTORS:
                self._vectors.clear()
            self._vectors.update({text: known[text] for text in missing})
        return known


def _relative(cosine: float, contrast: float) -> float:
    return 1.0 - (1.0 - cosine) / contrast


def _compared(
    asked: Sequence[str], answers: Sequence[VerifiedAnswer]
) -> list[tuple[VerifiedAnswer, str, Differences | None]]:
    return [
        (answer, text, differences(text, answer.question))
        for answer in answers
        for text in dict.fromkeys(spelled_out(reading, answer.question) for reading in asked)
    ]
