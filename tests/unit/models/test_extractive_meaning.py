"""What the extractive answerer quotes where the question has other words than its answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rag_engine.models import extractive
from rag_engine.types import AnswerRequest
from tests.unit.prompting import passages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.types import Matrix, Side


async def test_where_the_meaning_answers_shared_words_do_not_choose_the_sentence() -> None:
    lamps, laptops = "The spare lamps are on shelf C4.", "Replacement laptops are stored for two years."
    hits = tuple(passages(f"{lamps} The sea is cold.", f"{laptops} Lunch is at noon."))
    request = AnswerRequest(question="Where are replacement bulbs stored?", passages=hits)

    async def quoted_of(request: AnswerRequest) -> str:
        async with (
            extractive.connect(extractive.Settings(), embedder=_Lamps()) as answerer,
            answerer.answer(request) as pieces,
        ):
            return "".join([piece async for piece in pieces])

    by_words, by_meaning = await quoted_of(request), await quoted_of(replace(request, by_meaning=True))
    assert laptops[:-1] in by_words
    assert lamps[:-1] in by_meaning
    assert laptops[:-1] not in by_meaning


class _Lamps:
    model, dimensions, max_tokens = "lamps", 2, 256

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    async def embed(self, texts: Sequence[str], *, side: Side) -> Matrix:
        near = [1.0 if "bulbs" in text else 0.6 if "lamps" in text else 0.1 for text in texts]
        return np.array([(cosine, (1 - cosine**2) ** 0.5) for cosine in near], dtype=np.float32)
