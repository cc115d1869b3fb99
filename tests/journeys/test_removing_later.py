"""What is removed while the index is away is found by nobody, and is gone when the index is back; imports wait for it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.doubles import flaky_index
from tests.journeys.test_waiting import WAITING, adding, line, started

if TYPE_CHECKING:
    from pathlib import Path

    from tests.journeys.conftest import Footnote

__all__ = ["adding"]
NOT_YET = "The search index does not answer: questions no longer find this"


async def passages(adding: Footnote, query: str) -> str:
    found = await adding("search", query, "--json")
    assert found.code == 0, found.err
    return found.out


@pytest.mark.parametrize("what", [("docs", "leave.md"), ("docs",)])
async def test_what_is_removed_while_the_index_is_away_is_gone_when_it_is_back(
    adding: Footnote, tmp_path: Path, what: tuple[str, ...]
) -> None:
    away = tmp_path / "data" / flaky_index.AWAY
    assert (await adding("add", "leave.md", "--kb", "docs")).code == 0
    assert (await adding("add", "notice.md", "--kb", "other")).code == 0
    away.touch(0o600)
    removed = await adding("kb", "remove", *what, "--yes")
    assert (removed.code, removed.err) == (0, "")
    assert NOT_YET in removed.out
    away.unlink()
    # The index is back and still has it: no question may find it.
    assert "28 days" not in await passages(adding, "leave days")
    done = await adding("add", "probation.md", "--kb", "other")
    assert done.code == 0
    assert "leave.md" not in (await adding("kb", "show", *what[:1])).out
    assert "docs" not in (await adding("kb", "list")).out or len(what) == 2
    again = await adding("add", "leave.md", "--kb", "docs")
    assert again.out.splitlines()[-1].startswith("1 file: 1 added"), "its bytes are not there any more"
    assert "28 days" in await passages(adding, "leave days")


async def test_an_import_waits_for_the_index(adding: Footnote, tmp_path: Path) -> None:
    assert (await adding("add", "leave.md", "notice.md", "--kb", "docs")).code == 0
    assert (await adding("kb", "export", "docs", "docs.zip")).code == 0
    away = tmp_path / "data" / flaky_index.AWAY
    away.touch(0o600)
    process = await started(tmp_path, "kb", "import", "docs.zip", "--name", "copy")
    assert await line(process) == WAITING
    away.unlink()
    async with asyncio.timeout(60):
        out, complaints = await process.communicate()
    assert (process.returncode, complaints) == (0, b"")
    assert out.decode().splitlines()[-1].startswith("copy: 2 documents")
