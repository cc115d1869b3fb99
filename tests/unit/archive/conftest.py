"""Two installations: an archive leaves one and comes to the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.archive.shelf import Shelf, shelf

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Shelf]:
    async with shelf(tmp_path / "here") as opened:
        yield opened


@pytest.fixture
async def there(tmp_path: Path) -> AsyncIterator[Shelf]:
    async with shelf(tmp_path / "there") as opened:
        yield opened
