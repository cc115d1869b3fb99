"""The file that says how far a rebuild is: true at every byte at which its writing may have ended."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.maintenance import reindex_journal
from bot.maintenance.reindex_journal import Entry
from rag_engine.errors import BadSettings
from tests.contracts.indexing import base, document

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rag_engine.types import DocumentId

RECIPE = {"model": "m@fp32", "dimensions": 24}
DONE = Entry(knowledge_base=base("kb"), version="v", chunks=2)
MAYBE = Entry(knowledge_base=base("kb"))


async def write(path: Path, steps: Iterable[tuple[str, str]]) -> None:
    async with reindex_journal.opened(path, RECIPE) as log:
        for state, name in steps:
            of = document(name)
            if state == "begun":
                await log.start(of)
            elif state == "done":
                await log.finish(of, version="v", chunks=2)
            elif of.id in log.entries:
                await log.remove(of.id)


async def entries(path: Path, recipe: reindex_journal.Recipe = RECIPE) -> dict[DocumentId, Entry]:
    async with reindex_journal.opened(path, recipe) as log:
        return log.entries


async def test_what_was_written_is_read_again_and_continued(tmp_path: Path) -> None:
    path = tmp_path / "data" / "rebuilding.jsonl"
    await write(path, [("begun", "a"), ("done", "a"), ("begun", "b"), ("begun", "c"), ("gone", "c")])
    assert await entries(path) == {"a": DONE, "b": MAYBE}
    await write(path, [("done", "b"), ("begun", "a")])
    assert await entries(path) == {"a": MAYBE, "b": DONE}


async def test_another_recipe_starts_over(tmp_path: Path) -> None:
    path = tmp_path / "log"
    await write(path, [("done", "a")])
    assert await entries(path, {**RECIPE, "dimensions": 32}) == {}
    assert await entries(path) == {}


@pytest.mark.parametrize("content", [b"\x00\xff", b"not ours\n", b"{}\n" * 3, b"\n"])
async def test_what_is_not_ours_starts_over(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "log"
    path.write_bytes(content)
    await write(path, [("done", "a")])
    assert await entries(path) == {"a": DONE}


async def test_a_line_that_cannot_be_read_starts_over(tmp_path: Path) -> None:
    path = tmp_path / "log"
    await write(path, [("done", "a")])
    with path.open("ab") as file:
        file.write(b'{"state":"do\n')
    await write(path, [("begun", "b")])
    assert await entries(path) == {"b": MAYBE}


@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["begun", "done", "gone"]), st.sampled_from("abc")), min_size=1, max_size=8
    ),
    kept=st.floats(min_value=0, max_value=1),
)
def test_cut_at_any_byte_it_says_what_was_whole_and_can_be_written_on(
    steps: list[tuple[str, str]], kept: float
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        asyncio.run(write(path, steps))
        content = path.read_bytes()
        cut = content[: round(kept * len(content))]
        whole = cut[: cut.rfind(b"\n") + 1]
        path.write_bytes(whole)
        expected = asyncio.run(entries(path))
        path.write_bytes(cut)
        assert asyncio.run(entries(path)) == expected
        path.write_bytes(cut)
        asyncio.run(write(path, [("done", "d")]))
        assert asyncio.run(entries(path)) == {**expected, "d": DONE}


async def test_a_place_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadSettings, match="FOOTNOTE_DATA_DIR"):
        await entries(tmp_path / "file" / "log")


async def test_removing_what_is_not_there_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "log"
    await reindex_journal.remove(path)
    await write(path, [("done", "a")])
    await reindex_journal.remove(path)
    assert await entries(path) == {}
