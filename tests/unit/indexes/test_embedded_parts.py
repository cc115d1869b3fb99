"""The pure parts of the embedded index, and that FTS5 cuts tokens where our analyzer does."""

from __future__ import annotations

import sqlite3

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.analysis import tokens
from rag_engine.indexes.embedded.dense import encoded, restored, stored, unit, words_of
from rag_engine.indexes.embedded.rows import hash_of, packed_terms, unpacked_terms
from rag_engine.indexes.embedded.schema import empty_derived
from rag_engine.indexes.embedded.typos import edits

TEXTS = st.one_of(st.text(max_size=120), st.text(alphabet="aZ09é-_./:@'’+#= \u0301漢かกΣß\x00", max_size=60))
WORDS = st.text(alphabet="abcd", max_size=7)


@given(text=TEXTS, language=st.sampled_from(["", "en", "de", "zh", "ar"]))
def test_fts5_holds_exactly_the_analyzers_tokens(text: str, language: str) -> None:
    found = tokens(text, language=language)
    file = sqlite3.connect(":memory:", isolation_level=None)
    empty_derived(file)
    file.execute("INSERT INTO fts(rowid, t, s) VALUES (1, ?, '=1')", (" ".join(found),))
    assert {term for (term,) in file.execute("SELECT term FROM vocabulary")} == {*found, "=1"}
    for token in set(found):
        assert file.execute("SELECT rowid FROM fts WHERE fts MATCH ?", (f't:("{token}")',)).fetchall() == [
            (1,)
        ]
    file.close()


@given(found=st.lists(st.sampled_from(["a", "b", "漢", "c d", "é"]), max_size=600))
def test_packed_terms_keep_tokens_and_frequencies(found: list[str]) -> None:
    hashes, frequencies = unpacked_terms(packed_terms(found))
    expected = {hash_of(token): min(found.count(token), 255) for token in set(found)}
    assert dict(zip(hashes.tolist(), frequencies.tolist(), strict=True)) == expected


@given(one=WORDS, other=WORDS, most=st.integers(0, 3))
def test_edits_count_insertions_deletions_substitutions_and_swaps(one: str, other: str, most: int) -> None:
    exact = distance(one, other)
    assert edits(one, other, most=most) == min(exact, most + 1)
    assert edits(other, one, most=most) == min(exact, most + 1)


def distance(one: str, other: str) -> int:
    """The same, without any short cut."""
    table = np.zeros((len(one) + 1, len(other) + 1), dtype=int)
    table[:, 0] = range(len(one) + 1)
    table[0, :] = range(len(other) + 1)
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            same = one[i - 1] == other[j - 1]
            options = [table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (not same)]
            if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                options.append(table[i - 2, j - 2] + 1)
            table[i, j] = min(options)
    return int(table[-1, -1])


@given(seed=st.integers(0, 1000), dimensions=st.integers(1, 200), count=st.integers(1, 5))
def test_stored_vectors_come_back_near_and_of_unit_length(seed: int, dimensions: int, count: int) -> None:
    drawn = np.random.default_rng(seed).standard_normal((count, dimensions))
    vectors = unit(drawn.astype(np.float32))
    back = unit(restored(stored(vectors), dimensions))
    assert np.allclose(np.linalg.norm(back, axis=1), 1, atol=1e-6)
    assert np.all((back * vectors).sum(axis=1) > 1 - 1e-6)


@given(seed=st.integers(0, 1000), dimensions=st.integers(1, 200))
def test_codes_are_whole_words_of_signs(seed: int, dimensions: int) -> None:
    vectors = np.random.default_rng(seed).standard_normal((3, dimensions)).astype(np.float32)
    mean = vectors.mean(axis=0)
    for centre in (None, mean):
        for code, vector in zip(encoded(vectors, centre), vectors, strict=True):
            assert len(code) == 8 * words_of(dimensions)
            signs = np.unpackbits(np.frombuffer(code, dtype=np.uint8))
            expected = (vector if centre is None else vector - centre) > 0
            assert np.array_equal(signs[:dimensions], expected)
            assert not signs[dimensions:].any()
