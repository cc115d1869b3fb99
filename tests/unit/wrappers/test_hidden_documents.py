"""An index without the documents that are to be removed."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from rag_engine.errors import IndexUnavailable, first_error
from rag_engine.wrappers.hidden_documents import HiddenDocumentsIndex

if TYPE_CHECKING:
    from rag_engine.ports import StoredIndex, Unfinished


class AwayIndex:
    async def search(self, searches: object) -> list[object]:
        raise IndexUnavailable("The search index is away.", backend="double", retry_after=3)


class NothingLeaving:
    async def leaving(self) -> dict[str, str]:
        return {}


async def test_an_index_that_is_away_raises_its_own_error() -> None:
    index = HiddenDocumentsIndex(cast("StoredIndex", AwayIndex()), cast("Unfinished", NothingLeaving()))
    with pytest.raises(IndexUnavailable, match="is away") as raised:
        await index.search([])
    assert raised.value.retry_after == 3


def test_the_first_error_of_nested_groups_keeps_its_cause() -> None:
    cause, error = OSError("refused"), IndexUnavailable("away")
    error.__cause__ = cause
    group = ExceptionGroup("outer", [ExceptionGroup("inner", [error]), ValueError()])
    with pytest.raises(IndexUnavailable) as raised, first_error():
        raise group
    assert raised.value is error
    assert raised.value.__cause__ is cause


def test_other_errors_pass_the_block_unchanged() -> None:
    with pytest.raises(KeyError, match="x"), first_error():
        raise KeyError("x")
