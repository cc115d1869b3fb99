from __future__ import annotations

import numpy as np
import pytest

from rag_engine.embedders.hashing import HashingEmbedder
from rag_engine.errors import EmbedderUnavailable
from rag_engine.retrieval.ranking.score_scale import UNRELATED, contrast_meter, contrast_of, meaning_meter
from tests.unit.steps.test_retrieve import OneVector


def test_the_mean_distance_between_different_rows() -> None:
    rows = np.array([[1, 0], [0, 1], [0, -1]], dtype=np.float32)

    assert contrast_of(rows) == pytest.approx(1 - (0 + 0 - 1) / 3)


def test_rows_that_are_all_alike_leave_something_to_divide_by() -> None:
    assert contrast_of(np.ones((4, 1), dtype=np.float32)) > 0


async def test_it_is_measured_once() -> None:
    embedder = OneVector()
    contrast = contrast_meter(embedder)

    assert await contrast() == await contrast()
    assert embedder.asked == [(UNRELATED, "passage")]


async def test_while_the_embedder_is_away_it_is_one_and_then_measured() -> None:
    embedder = OneVector(failure=EmbedderUnavailable())
    contrast = contrast_meter(embedder)

    assert await contrast() == 1.0
    embedder.failure = None
    assert await contrast() < 0.1


async def test_an_embedder_that_counts_words_knows_no_meaning() -> None:
    words = HashingEmbedder(dimensions=256, max_tokens=256)

    assert not await meaning_meter(words, contrast_meter(words))()


async def test_while_the_embedder_is_away_it_knows_no_meaning_and_is_asked_again() -> None:
    embedder = OneVector(failure=EmbedderUnavailable())
    knows_meaning = meaning_meter(embedder, contrast_meter(embedder))

    assert not await knows_meaning()
    embedder.failure = None
    assert await knows_meaning()
