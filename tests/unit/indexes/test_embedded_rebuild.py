"""An index built beside the current one: resumed after an interruption, swapped in whole, or removed."""

from __future__ import annotations

import asyncio
import sqlite3
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import SchemaMismatch
from rag_engine.indexes import embedded
from tests.contracts.indexing import IDENTITY, base, document, found, lexical, put
from tests.unit.storage import programs

if TYPE_CHECKING:
    from pathlib import Path

    from tests.contracts.indexing import StoredIndex

SETTINGS = embedded.Settings()
OTHER = replace(IDENTITY, model="other@fp32")


async def filled(data_dir: Path, name: str, *, rebuilding: bool = False) -> None:
    async with embedded.connect(
        SETTINGS, data_dir=data_dir, identity=IDENTITY, rebuilding=rebuilding
    ) as index:
        await put(index, document(name), f"{name} text")


async def holds(index: StoredIndex) -> list[str]:
    ((names),) = await found(index, lexical("text"))
    return names


async def in_use(data_dir: Path) -> list[str]:
    async with embedded.connect(SETTINGS, data_dir=data_dir, identity=IDENTITY) as index:
        return await holds(index)


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def test_what_is_built_is_not_found_before_it_is_in_place_and_then_alone(tmp_path: Path) -> None:
    await filled(tmp_path, "old")
    await filled(tmp_path, "new", rebuilding=True)
    assert await in_use(tmp_path) == ["old/0"]
    await embedded.replace(SETTINGS, data_dir=tmp_path, identity=IDENTITY)
    assert await in_use(tmp_path) == ["new/0"]
    assert names(tmp_path) == ["index.sqlite"]


async def test_an_interrupted_rebuild_continues(tmp_path: Path) -> None:
    await filled(tmp_path, "one", rebuilding=True)
    await filled(tmp_path, "two", rebuilding=True)
    await embedded.replace(SETTINGS, data_dir=tmp_path, identity=IDENTITY)
    assert sorted(await in_use(tmp_path)) == ["one/0", "two/0"]


@pytest.mark.process
async def test_what_a_killed_program_wrote_is_there_when_it_is_put_in_place(tmp_path: Path) -> None:
    source = """
import asyncio, sys
from pathlib import Path
from tests.unit.indexes.test_embedded_rebuild import *

async def main():
    async with embedded.connect(
        SETTINGS, data_dir=Path(sys.argv[1]), identity=IDENTITY, rebuilding=True
    ) as index:
        await put(index, document("new"), "new text")
        print("put", flush=True)
        await asyncio.to_thread(sys.stdin.readline)

asyncio.run(main())
"""
    program = await programs.start(source, tmp_path)
    assert await programs.line(program) == "put"
    await programs.kill(program)
    await embedded.replace(SETTINGS, data_dir=tmp_path, identity=IDENTITY)
    assert await in_use(tmp_path) == ["new/0"]


async def test_a_rebuild_of_another_identity_is_discarded(tmp_path: Path) -> None:
    await filled(tmp_path, "one", rebuilding=True)
    async with embedded.connect(SETTINGS, data_dir=tmp_path, identity=OTHER, rebuilding=True) as index:
        assert await index.count(base("kb")) == 0


async def test_a_rebuild_of_another_identity_is_not_put_in_place(tmp_path: Path) -> None:
    await filled(tmp_path, "old")
    await filled(tmp_path, "new", rebuilding=True)
    with pytest.raises(SchemaMismatch):
        await embedded.replace(SETTINGS, data_dir=tmp_path, identity=OTHER)
    assert await in_use(tmp_path) == ["old/0"]


async def test_without_a_rebuild_the_index_in_use_stays(tmp_path: Path) -> None:
    await filled(tmp_path, "old")
    await embedded.replace(SETTINGS, data_dir=tmp_path, identity=IDENTITY)
    assert await in_use(tmp_path) == ["old/0"]


async def test_an_abandoned_rebuild_is_gone_and_the_index_in_use_stays(tmp_path: Path) -> None:
    await embedded.abandon(SETTINGS, data_dir=tmp_path)
    await filled(tmp_path, "old")
    await filled(tmp_path, "new", rebuilding=True)
    await embedded.abandon(SETTINGS, data_dir=tmp_path)
    assert not (tmp_path / "rebuilding").exists()
    assert await in_use(tmp_path) == ["old/0"]


async def test_removing_leaves_nothing_but_what_belongs_to_others(tmp_path: Path) -> None:
    await embedded.remove(SETTINGS, data_dir=tmp_path)
    (tmp_path / "footnote.sqlite").touch()
    await filled(tmp_path, "old")
    await filled(tmp_path, "new", rebuilding=True)
    async with asyncio.timeout(5):
        await embedded.remove(SETTINGS, data_dir=tmp_path)
    assert names(tmp_path) == ["footnote.sqlite"]


async def test_only_an_index_with_something_in_it_is_said_to_be_rebuilt(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await filled(tmp_path, "old")
    assert caplog.text == ""
    with sqlite3.connect(tmp_path / "index.sqlite") as connection:
        connection.execute("PRAGMA user_version=1")
    connection.close()
    assert await in_use(tmp_path) == ["old/0"]
    assert "is rebuilt" in caplog.text
