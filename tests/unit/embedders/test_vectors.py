from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.embedders._vectors import (
    Prefixes,
    known_prefixes,
    own_prefix,
    prefixes_of,
    unit_rows,
    well_formed,
)


@given(st.text(alphabet=st.characters()))
def test_well_formed_text_can_be_encoded_and_only_surrogates_change(text: str) -> None:
    encoded = well_formed(text).encode("utf-8")
    if not any("\ud800" <= sign <= "\udfff" for sign in text):
        assert encoded.decode() == text


def test_two_halves_of_a_character_become_one_again() -> None:
    assert well_formed("\ud83d\ude00 \ud83d") == "😀 \ufffd"


def test_rows_of_zeros_stay() -> None:
    rows = unit_rows(np.array([[3, 4], [0, 0]], np.float32))
    assert rows.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [0, 0]]
    assert rows.dtype == np.float32


@pytest.mark.parametrize(
    ("model", "query", "passage"),
    [
        ("intfloat/multilingual-e5-small", "query: ", "passage: "),
        ("/models/e5-base-v2/", "query: ", "passage: "),
        ("BAAI/bge-small-en-v1.5", "Represent this sentence for searching relevant passages: ", ""),
        ("nomic-ai/nomic-embed-text-v1.5", "search_query: ", "search_document: "),
    ],
)
def test_prefixes_by_model(model: str, query: str, passage: str) -> None:
    assert known_prefixes(model) == Prefixes(query=query, passage=passage)


@pytest.mark.parametrize(
    "model", ["thenlper/gte-small", "BAAI/bge-m3", "sentence-transformers/all-MiniLM-L6-v2", ""]
)
def test_models_that_need_none(model: str) -> None:
    assert known_prefixes(model) is None


def test_settings_go_before_the_table() -> None:
    trained = Prefixes(query="q ", passage="p ")
    assert prefixes_of(trained, query=None, passage=None) == trained
    assert prefixes_of(trained, query="", passage=None) == Prefixes(passage="p ")
    assert own_prefix(trained, trained) == own_prefix(Prefixes(query="x", passage="p "), trained) == ""
    assert own_prefix(Prefixes(), trained) != own_prefix(Prefixes(passage="other "), trained)
