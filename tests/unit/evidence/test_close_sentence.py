from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest

from rag_engine.evidence.close_sentence import is_in_sentence
from tests.unit.prompting import passages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.types import Matrix, Side


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
        (_QUESTION, {_DAYS: 0.45}, 1.0, False),
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

    assert (
        await is_in_sentence(question, hits, embedder=_ByCosine(cosines=cosines), contrast=contrast) is found
    )


async def test_a_single_sentence_is_ahead_of_none() -> None:
    assert not await is_in_sentence(
        _QUESTION, passages(_DAYS), embedder=_ByCosine(cosines={_DAYS: 0.9}), contrast=1.0
    )
