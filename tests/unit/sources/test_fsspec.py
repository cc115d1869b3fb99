"""Stores behind fsspec: one in memory, and local files by their URL."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import fsspec
import pytest

from rag_engine.errors import MissingExtra
from rag_engine.sync.types import SyncCounts

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.sources.synced import Synced


async def test_a_store_is_followed(synced: Synced) -> None:
    root = f"/{uuid.uuid4().hex}"
    memory = fsspec.filesystem("memory")
    for name in ("a.md", "sub/b.txt", ".hidden.txt", "program.exe"):
        memory.pipe(f"{root}/{name}", f"What {name} says.".encode())
    source = await synced.add("fsspec", f"memory:/{root}")
    outcome = await synced.run(source)
    assert (outcome.error, outcome.counts) == ("", SyncCounts(new=2))
    assert (await synced.run(source)).counts == SyncCounts()
    assert synced.read == []
    memory.pipe(f"{root}/a.md", b"Something else.")
    memory.rm(f"{root}/sub", recursive=True)
    assert (await synced.run(source)).counts == SyncCounts(changed=1, gone=1)
    assert await synced.titles() == ["a.md"]


async def test_a_store_that_is_away_removes_nothing(synced: Synced, tmp_path: Path) -> None:
    folder = tmp_path / "store"
    folder.mkdir()
    (folder / "a.md").write_text("What a says.")
    source = await synced.add("fsspec", f"file://{folder}")
    await synced.run(source)
    folder.rename(tmp_path / "elsewhere")
    assert (await synced.run(source)).error
    assert await synced.titles() == ["a.md"]


async def test_a_library_that_is_missing_is_named(synced: Synced) -> None:
    source = await synced.add("fsspec", "smb://server/share")
    with pytest.raises(MissingExtra, match="needs a library that is not installed"):
        await synced.run(source)
