"""Every index, for the contract tests of the port: a new one joins by one line."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from rag_engine.indexes import elasticsearch, embedded
from rag_engine.storage.sqlite.database import connect
from tests.contracts.indexing import IDENTITY
from tests.databases import new_database
from tests.elastic.node import shared_node

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from rag_engine.ports import IndexIdentity
    from rag_engine.storage.sqlite.database import Database
    from tests.contracts.indexing import OpenIndex, StoredIndex


OPENERS: dict[str, Callable[[Path, IndexIdentity], AbstractAsyncContextManager[StoredIndex]]] = {
    "embedded": lambda path, identity: embedded.connect(
        embedded.Settings(), data_dir=path, identity=identity
    ),
    "elasticsearch": lambda path, identity: elasticsearch.connect(
        elastic_settings(path), data_dir=path, identity=identity
    ),
}


def elastic_settings(path: Path) -> elasticsearch.Settings:
    """An index of the shared node that belongs to this folder."""
    alias = f"contract-{hashlib.sha256(str(path).encode()).hexdigest()[:16]}"
    return elasticsearch.Settings(url=shared_node(), alias=alias, timeout=30)


@pytest.fixture(params=OPENERS)
async def open_index(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[OpenIndex]:
    """Opens the same store each time it is called, so that tests can come back to it or open it twice."""
    yield lambda identity: OPENERS[request.param](tmp_path, identity)
    if request.param == "elasticsearch":
        await elasticsearch.remove(elastic_settings(tmp_path), data_dir=tmp_path)


@pytest.fixture
async def index(open_index: OpenIndex) -> AsyncIterator[StoredIndex]:
    async with open_index(IDENTITY) as opened:
        yield opened


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with connect(new_database(tmp_path / "footnote.sqlite")) as opened:
        yield opened
