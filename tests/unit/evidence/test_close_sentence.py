from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest

from rag_engine.evidence.close_sentence import SentenceCosines, compared
from tests.unit.prompting import passages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.types import Hit, Matrix, Side


@dataclass(frozen=True, slots=True, kw_only=True)
class _ByCosine:
    """Each sentence has a given cosine with the question, 0.1 if none is given."""

    cosines: dict[str, float]
    model: str = "by-cosine"
    dimensions: int = 2
    max_tokens: int = 256

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    async def embed(self, texts: Sequence[str], *, side: Side) -> Matrix:
        near = [1.0 if side == "query" else self.cosines.get(text, 0.1) for text in texts]
        return np.array([(cosine, (1 - cosine**2) ** 0.5) for cosine in near], dtype=np.float32)


_DAYS = "Everybody has 28 days of paid leave a year."
_OTHERS = ("The kitchen is closed in winter.", "Boats are painted in the yard.", "Lamps hang on shelf nine.")
_QUESTION = "How many vacation days are there?"


@pytest.mark.parametrize(
    ("question", "cosines", "contrast", "found"),
    [
        (_QUESTION, {_DAYS: 0.6}, 1.0, True),
        (_QUESTION, {_DAYS: 0.44}, 1.0, False),
        (_QUESTION, {_DAYS: 0.6, **dict.fromkeys(_OTHERS, 0.5)}, 1.0, False),
        (_QUESTION, {_OTHERS[0]: 0.9}, 1.0, False),
        ("Is the dining room open?", {_OTHERS[0]: 0.9}, 1.0, True),
        (_QUESTION, {_DAYS: 0.6}, 0.5, False),
    ],
    ids=["close", "far", "as all", "of another kind", "of any kind", "in a narrow model"],
)
async def test_one_sentence_far_ahead_of_the_others_answers(
    question: str, cosines: dict[str, float], contrast: float, found: bool
) -> None:
    hits = passages(f"{_OTHERS[0]} {_DAYS}", " ".join(_OTHERS[1:]))

    assert (await _compared(question, hits, cosines, contrast)).is_answer is found


async def test_a_single_sentence_is_ahead_of_none() -> None:
    assert not (await _compared(_QUESTION, passages(_DAYS), {_DAYS: 0.9})).is_answer


async def test_a_sentence_that_points_back_is_compared_with_the_one_before() -> None:
    """ "It takes four minutes" is close to "how long" of anything."""
    question, failover, back = (
        "How long does the check take?",
        "A failover is slow.",
        "It takes four minutes.",
    )
    hits = passages(f"{failover} {back}", " ".join(_OTHERS))

    assert not (await _compared(question, hits, {back: 0.7})).is_answer
    assert (await _compared(question, hits, {f"{failover} {back}": 0.7})).is_answer


async def test_the_lead_is_over_the_average_sentence() -> None:
    cosines = {_DAYS: 0.6, **dict.fromkeys(_OTHERS, 0.2)}
    one, four = passages(_DAYS), passages(f"{_DAYS} {' '.join(_OTHERS)} The sea is cold.")

    found = await _compared(_QUESTION, four, {**cosines, "The sea is cold.": 0.0})
    assert (found.best, found.lead) == pytest.approx((0.6, 0.36), abs=1e-5)
    alone = await _compared(_QUESTION, one, cosines)
    assert alone.lead == pytest.approx(0.32, abs=1e-5), "others are imagined"


async def _compared(
    question: str, hits: Sequence[Hit], cosines: dict[str, float], contrast: float = 1.0
) -> SentenceCosines:
    found = await compared([question], hits, embedder=_ByCosine(cosines=cosines), contrast=contrast)
    return found[question]
