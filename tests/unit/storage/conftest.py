"""An open database in the test's folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rag_engine.storage.sqlite.database import connect
from tests.databases import new_database

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from rag_engine.storage.sqlite.database import Database


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with connect(new_database(tmp_path / "footnote.sqlite")) as opened:
        yield opened
