"""The index is put in the place of another while nobody else has it, and only as a whole."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

import pytest

from bot import settings
from bot.composition.storage import storage as open_storage
from bot.maintenance import reindex
from rag_engine.errors import IndexUnavailable
from tests.unit.storage import programs

if TYPE_CHECKING:
    from pathlib import Path

    from bot.settings import Settings
    from tests.journeys.conftest import Footnote

OPEN = """
import asyncio, sys
from bot import settings
from bot.composition import application

async def main():
    async with application.library(settings.read()):
        print("open", flush=True)
        await asyncio.to_thread(sys.stdin.readline)

asyncio.run(main())
"""

REBUILD = """
import asyncio, sys
from bot import settings
from bot.maintenance import reindex

def progress(record):
    print(record.document.title, flush=True)
    sys.stdin.readline()

asyncio.run(reindex.rebuild(settings.read(), progress))
"""

DIMENSIONS = "FOOTNOTE_EMBEDDER__DIMENSIONS"


@pytest.fixture
async def chosen(footnote: Footnote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """The settings of a data directory with two documents, which the programs of the test have too."""
    monkeypatch.setenv("FOOTNOTE_EMBEDDER__KIND", "hashing")
    for name, days in (("leave", 28), ("notice", 30)):
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\nThe {name} is {days} days.\n", encoding="utf-8")
    assert (await footnote("add", "leave.md", "notice.md")).code == 0
    return settings.read()


async def test_a_rebuild_refuses_while_another_program_has_the_index_and_works_when_it_is_gone(
    chosen: Settings, footnote: Footnote, tmp_path: Path
) -> None:
    other = await programs.start(OPEN)
    try:
        assert await programs.line(other) == "open"
        with pytest.raises(
            IndexUnavailable, match=r"Another Footnote program has the index of .* open; stop it"
        ):
            await reindex.rebuild(chosen, patience=0.1)
        # The other one is not disturbed, nor is a third.
        (tmp_path / "probation.md").write_text("The probation is 90 days.\n", encoding="utf-8")
        assert (await footnote("add", "probation.md")).code == 0
    finally:
        await programs.kill(other)
    assert (await reindex.rebuild(chosen, patience=0.1)).documents == 3
    for name, days in (("leave", 28), ("notice", 30), ("probation", 90)):
        answer = await footnote("ask", f"How many days is the {name}?")
        assert f"{days} days" in answer.out, answer.err


async def test_a_file_that_is_added_while_the_index_is_rebuilt_waits_and_is_found_after(
    chosen: Settings, footnote: Footnote, tmp_path: Path
) -> None:
    (tmp_path / "probation.md").write_text("The probation is 90 days.\n", encoding="utf-8")
    rebuilding = await programs.start(REBUILD)
    first = await programs.line(rebuilding)
    adding = asyncio.create_task(footnote("add", "probation.md"))
    done, _ = await asyncio.wait({adding}, timeout=3)
    assert not done, adding.result()
    assert rebuilding.stdin is not None
    rebuilding.stdin.close()  # it goes on
    rest, complaints = await programs.end(rebuilding)
    assert sorted([first, *rest.splitlines()]) == ["leave.md", "notice.md"]
    assert complaints == ""
    assert (await adding).code == 0
    answer = await footnote("ask", "How many days is the probation?")
    assert "90 days" in answer.out, answer.err


async def test_a_rebuild_that_is_killed_leaves_the_old_index_with_the_old_model(
    chosen: Settings, footnote: Footnote, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await footnote("add", "notice.md", "--kb", "Other")).code == 0
    before = await models(chosen)
    monkeypatch.setenv(DIMENSIONS, "128")
    rebuilding = await programs.start(REBUILD)
    assert rebuilding.stdin is not None
    rebuilding.stdin.write(b"\n\n")
    for _ in range(3):
        assert await programs.line(rebuilding)  # at the third document one knowledge base is done
    await programs.kill(rebuilding)
    assert await models(chosen) == before
    answer = await footnote("ask", "How many days is the leave?")
    assert "28 days" in answer.out, answer.err
    assert (await reindex.rebuild(settings.read(), patience=0.1)).documents == 3
    assert await models(chosen) != before
    assert len(set(await models(settings.read()))) == 1
    assert not (chosen.data_dir / "rebuilding").exists()
    answer = await footnote("ask", "How many days is the leave?", **{DIMENSIONS: os.environ[DIMENSIONS]})
    assert "28 days" in answer.out, answer.err


async def models(chosen: Settings) -> list[str]:
    """The embedding models that the catalog names, one for each knowledge base."""
    async with open_storage(chosen) as storage:
        return [base.model for base in await storage.catalog.knowledge_bases()]
