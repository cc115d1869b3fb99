"""Every index, for the contract tests of the port: a new one joins by one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rag_engine.indexes import embedded
from tests.contracts.indexing import IDENTITY

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from rag_engine.ports import IndexIdentity
    from tests.contracts.indexing import OpenIndex, StoredIndex


OPENERS: dict[str, Callable[[Path, IndexIdentity], AbstractAsyncContextManager[StoredIndex]]] = {
    "embedded": lambda path, identity: embedded.connect(
        embedded.Settings(), data_dir=path, identity=identity
    ),
}


@pytest.fixture(params=OPENERS)
def open_index(request: pytest.FixtureRequest, tmp_path: Path) -> OpenIndex:
    """Opens the same store each time it is called, so that tests can come back to it or open it twice."""
    return lambda identity: OPENERS[request.param](tmp_path, identity)


@pytest.fixture
async def index(open_index: OpenIndex) -> AsyncIterator[StoredIndex]:
    async with open_index(IDENTITY) as opened:
        yield opened
