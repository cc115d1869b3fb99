from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.embedders.hashing import HashingEmbedder

FIRST_PLACES = [0, 23, 24, 30, 32]
FIRST_VALUE = -0.0149487
EMBEDDER = HashingEmbedder(dimensions=256, max_tokens=256)


async def similarity(left: str, right: str) -> float:
    rows = await EMBEDDER.embed([left, right], side="passage")
    return float(rows[0] @ rows[1])


@pytest.mark.parametrize(
    ("text", "like", "unlike"),
    [
        ("How many days of leave do I get?", "You get 25 days of leave a year.", "Coffee is free on Fridays."),
        ("Reisekostenabrechnung", "Die Reisekosten werden am Monatsende abgerechnet.", "Der Drucker steht im Flur."),
        ("年假有几天", "员工每年享有二十五天年假", "打印机在走廊里"),
    ],
)  # fmt: skip
async def test_texts_that_share_words_are_near(text: str, like: str, unlike: str) -> None:
    assert await similarity(text, like) > await similarity(text, unlike) + 0.1


async def test_case_and_width_do_not_matter() -> None:
    assert await similarity("LEAVE Days", "ｌｅａｖｅ days") == pytest.approx(1, abs=1e-6)


async def test_the_vectors_are_the_same_in_every_release() -> None:
    row = (await EMBEDDER.embed(["A fixed text, 文 and all."], side="passage"))[0]
    assert EMBEDDER.model == "hashing-256@v1"
    assert np.flatnonzero(row)[:5].tolist() == FIRST_PLACES
    assert float(row[FIRST_PLACES[0]]) == pytest.approx(FIRST_VALUE, abs=1e-6)


@given(st.text())
def test_any_text_can_be_counted(text: str) -> None:
    assert EMBEDDER.count_tokens(text) <= len(text) * 18  # a character can fold to up to 18 letters
