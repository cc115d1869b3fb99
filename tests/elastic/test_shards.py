"""An index of several shards answers as one of a single shard does."""

from __future__ import annotations

import pytest

from tests.contracts.indexing import document, found, lexical, pairs, put_all
from tests.elastic.opening import bench


@pytest.mark.parametrize("shards", [1, 4])
async def test_a_word_that_one_shard_has_is_not_corrected_by_the_others(
    elastic_node: str, shards: int
) -> None:
    texts = ["contract harbour", *(f"contrast paint n{number}" for number in range(30))]
    async with bench(elastic_node) as at, at.opened(shards=shards) as index:
        await put_all(
            index,
            [(of, pairs(of, text)) for number, text in enumerate(texts) if (of := document(f"d{number}"))],
        )
        assert await found(index, lexical("contract")) == [["d0/0"]]
        # Corrected where no chunk in view has the word, although another knowledge base has it.
        await put_all(index, [(of := document("other", knowledge_base="other"), pairs(of, "contrast paint"))])
        assert await found(index, lexical("contract", "other")) == [["other/0"]]
        assert await found(index, lexical("harbuor")) == [["d0/0"]]


async def test_a_question_of_very_many_words_each_twice(elastic_node: str) -> None:
    words = " ".join(f"word{number}x" for number in range(990))
    async with bench(elastic_node) as at, at.opened() as index:
        await put_all(index, [(of := document("a"), pairs(of, words))])
        assert await found(index, lexical(f"{words} {words}")) == [["a/0"]]
        (request,) = at.proxy.seen("_msearch")
        assert request.text.count('"term"') <= 1_000
