"""Hostile SQL texts against the check and the process that runs queries."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import TYPE_CHECKING

import pytest

from tests.hostile.sql_attacks import attacks

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.process

HEAVY = ("bomb", "join", "pattern")
"""They compute until they are stopped."""
NEVER_READ = ("write", "schema", "attach", "pragma", "extension", "file", "several", "recursive")
"""Texts that no reading of SQL makes harmless."""
PLACES = {name: f"/nowhere/{name}" for name in ("table", "database", "text", "folder", "own")}
OTHERS = tuple(family for family in attacks(PLACES) if family not in (*HEAVY, *NEVER_READ))


def test_there_are_more_than_300_hostile_texts() -> None:
    texts = [text for family in attacks(PLACES).values() for text in family]
    assert len(texts) >= 300
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize(
    ("families", "every"),
    [
        pytest.param(NEVER_READ, 1, id="refused before they run"),
        pytest.param(OTHERS, 1, id="that may be harmless"),
        pytest.param(HEAVY, 10, id="some of the heavy ones"),
        pytest.param(HEAVY, 1, id="all heavy ones", marks=pytest.mark.soak),
    ],
)
async def test_every_text_is_refused_or_ends(tmp_path: Path, families: tuple[str, ...], every: int) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.hostile.sql_attacks", str(tmp_path), str(every), *families),
        stdout=asyncio.subprocess.PIPE,
        env=os.environ,
    )
    async with asyncio.timeout(500):
        output, _ = await process.communicate()
    *lines, end = [json.loads(line) for line in output.decode().splitlines()]
    assert end == {"unchanged": True, "control": True}
    assert len(lines) >= sum(len(attacks(PLACES)[family]) // every for family in families)
    assert [line for line in lines if line["outcome"].startswith("crash") or line["leaks"]] == []
    if families is NEVER_READ:
        assert {line["outcome"] for line in lines} == {"QueryRefused"}
    assert [line for line in lines if line["seconds"] > 5] == []
    assert max(line["megabytes"] for line in lines) <= 256
    assert max(line["own megabytes"] for line in lines) <= 256
