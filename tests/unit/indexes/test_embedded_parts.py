from __future__ import annotations

from collections import Counter
from dataclasses import FrozenInstanceError, replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.indexes.embedded.database.rows import chunk_of, hash_of, packed_terms, row_of, unpacked_terms
from rag_engine.indexes.embedded.postings.blocks import blocks, decoded, merged, of_chunks
from rag_engine.indexes.embedded.vectors.dense import encoded, restored, stored, unit, words_of
from rag_engine.text.spelling import edits, edits_of_each
from rag_engine.types import Chunk, ChunkId, DocumentId, KnowledgeBaseId

if TYPE_CHECKING:
    from numpy.typing import NDArray

WORDS = st.text(alphabet="abcd", max_size=7)


@given(
    chunks=st.lists(st.lists(st.sampled_from(["a", "b", "漢", "é", "of"]), max_size=30), max_size=30),
    cut=st.integers(0, 30),
)
def test_postings_come_back_from_blocks_and_merges(chunks: list[list[str]], cut: int) -> None:
    rows = [(7 + 3 * place, packed_terms(Counter(found))) for place, found in enumerate(chunks)]
    whole = merged([of_chunks(rows[:cut]), of_chunks(rows[cut:])])
    read = [decoded(content) for _, _, content in blocks(iter([whole]), most=4)]
    for term in ("a", "of", "missing"):
        expected = [(7 + 3 * place, each.count(term)) for place, each in enumerate(chunks) if term in each]
        assert pairs(whole.of(hash_of(term))) == expected
        assert [
            pair for block in read if (found := block.of(np.uint64(hash_of(term)))) for pair in pairs(found)
        ] == expected
    again = merged([block.postings() for block in read]) if read else whole
    assert again.hashes.tolist() == whole.hashes.tolist()
    assert again.chunks.tolist() == whole.chunks.tolist()


def pairs(found: tuple[NDArray[np.int64], NDArray[np.uint8]]) -> list[tuple[int, int]]:
    return list(zip(*(each.tolist() for each in found), strict=True))


@given(found=st.lists(st.sampled_from(["a", "b", "漢", "c d", "é"]), max_size=600))
def test_packed_terms_keep_tokens_and_frequencies(found: list[str]) -> None:
    hashes, frequencies = unpacked_terms(packed_terms(Counter(found)))
    expected = {hash_of(token): min(found.count(token), 255) for token in set(found)}
    assert dict(zip(hashes.tolist(), frequencies.tolist(), strict=True)) == expected


@given(one=WORDS, other=WORDS, most=st.integers(0, 3))
def test_edits_count_insertions_deletions_substitutions_and_swaps(one: str, other: str, most: int) -> None:
    exact = distance(one, other)
    assert edits(one, other, most=most) == min(exact, most + 1)
    assert edits(other, one, most=most) == min(exact, most + 1)


@given(
    typed=st.text(alphabet="abé漢😀", max_size=64),
    words=st.lists(st.text(alphabet="abé漢😀", max_size=9), max_size=9),
)
def test_edits_of_many_words_at_once(typed: str, words: list[str]) -> None:
    words += [typed, typed[1:], typed[:-2], "b" + typed, typed[1::-1] + typed[2:]]
    assert edits_of_each(typed, words) == [distance(typed, word) for word in words]


def distance(one: str, other: str) -> int:
    """The reference without shortcuts."""
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


def test_every_finite_half_precision_number_is_restored_exactly() -> None:
    halves = np.arange(65_536, dtype=np.uint16).view(np.float16)
    finite = halves[np.isfinite(halves)]
    assert np.array_equal(restored([finite.tobytes()], finite.size)[0], finite.astype(np.float32))


@pytest.mark.parametrize("headings", [(), ("Leave", "Abroad")])
def test_a_chunk_read_from_its_row_is_the_frozen_chunk_that_was_stored(headings: tuple[str, ...]) -> None:
    chunk = Chunk(
        id=ChunkId("1-2"),
        document=DocumentId("document\udc80"),
        knowledge_base=KnowledgeBaseId("handbook"),
        ordinal=2,
        text="Thirty days.",
        title="Handbook",
        uri="file:///handbook.pdf",
        headings=headings,
        anchor="p. 3",
        kind="list",
        language="en",
    )
    document, *others = row_of(chunk).values
    ordinal, cid, *texts = others
    read = chunk_of((cid, document, ordinal, *texts), KnowledgeBaseId("handbook"))
    assert type(read) is Chunk
    assert read == chunk
    assert hash(read) == hash(chunk)
    assert replace(read, ordinal=3) == replace(chunk, ordinal=3)
    with pytest.raises(FrozenInstanceError):
        read.text = "Forty days."  # type: ignore[misc]
