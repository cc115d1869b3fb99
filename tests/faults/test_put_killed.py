"""The embedded index, killed while it writes: what was acknowledged is there, and no document is half there."""

from __future__ import annotations

import asyncio
import os
import random
import sqlite3
from asyncio.subprocess import DEVNULL
from contextlib import suppress
from typing import TYPE_CHECKING

from rag_engine.indexes.embedded import Settings, connect
from rag_engine.indexes.embedded.database.schema import is_consistent
from rag_engine.types import Search
from tests.conftest import PROJECT
from tests.doubles import commands
from tests.faults.put_documents import DOCUMENTS, IDENTITY, chunks, document

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.ports import Index

KILLS = 5


async def killed_while_putting(directory: Path, turn: int, acknowledged: int) -> dict[int, int]:
    """The last turn acknowledged of each document, by a process killed some time after so many acknowledgements."""
    process = await commands.start(
        *(str(directory), str(turn)),
        source=commands.module("tests.faults.put_documents"),
        environment=os.environ,
        folder=PROJECT,
        stderr=DEVNULL,
    )
    assert process.stdout is not None
    done: dict[int, int] = {}
    lines = 0
    try:
        while lines < acknowledged:
            line = await process.stdout.readline()
            assert line, "the process ended by itself"
            number, at = map(int, line.split())
            done[number] = at
            lines += 1
        # Somewhere inside the next puts, not just after an acknowledgement.
        with suppress(TimeoutError):
            async with asyncio.timeout(random.random() * 0.03):
                await process.wait()
    finally:
        process.kill()
    rest = await process.stdout.read()
    await process.wait()
    for line in rest.splitlines(keepends=True):
        if line.endswith(b"\n"):
            number, at = map(int, line.split())
            done[number] = at
    return done


async def check(directory: Path, acknowledged: dict[int, int]) -> None:
    async with connect(Settings(), data_dir=directory, identity=IDENTITY) as index:
        held: dict[str, list[str]] = {}
        async for chunk, vector in index.scan(document(0).knowledge_base):
            number, turn, ordinal = map(int, chunk.id.split("-"))
            expected, expected_vector = chunks(number, turn)[ordinal]
            assert chunk == expected
            assert float(vector @ expected_vector) > 1 - 1e-5
            held.setdefault(chunk.document, []).append(chunk.id)
        for number in range(DOCUMENTS):
            found = held.get(document(number).id, [])
            turns = {int(name.split("-")[1]) for name in found}
            assert len(turns) <= 1, f"document {number} holds chunks of several turns: {found}"
            for turn in turns:
                assert found == [chunk.id for chunk, _ in chunks(number, turn)]
                assert turn >= acknowledged.get(number, 0)
            assert turns or number not in acknowledged
            await both_legs_agree(index, number, turns, found)
    connection = sqlite3.connect(directory / "index.sqlite")
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert is_consistent(connection)
    connection.close()


async def both_legs_agree(index: Index, number: int, turns: set[int], found: list[str]) -> None:
    for turn in turns:
        base = frozenset({document(number).knowledge_base})
        ((first, vector), *_) = chunks(number, turn)
        rankings = await index.search(
            [
                Search(leg="lexical", knowledge_bases=base, limit=50, tokens=(f"document{number}",)),
                Search(leg="dense", knowledge_bases=base, limit=1, vector=vector),
            ]
        )
        assert sorted(hit.chunk.id for hit in rankings[0].hits) == sorted(found)
        assert rankings[1].hits[0].chunk == first


async def test_killed_while_it_puts(tmp_path: Path) -> None:
    acknowledged: dict[int, int] = {}
    for kill in range(KILLS):
        async with asyncio.timeout(120):
            acknowledged |= await killed_while_putting(
                tmp_path, turn=100 * (kill + 1), acknowledged=random.randint(1, 60)
            )
        await check(tmp_path, acknowledged)
