"""What cannot be undone is asked about in a terminal, and needs `--yes` elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conftest import PROJECT
from tests.doubles import terminal
from tests.journeys.conftest import COMMAND, environment

if TYPE_CHECKING:
    from pathlib import Path

    from tests.journeys.conftest import Footnote

DESTRUCTIVE = (
    ("kb", "remove", "default"),
    ("kb", "remove", "default", "note.md"),
    ("forget", "document", "default", "note.md", "--json"),
    ("restore", "backup.zip", "--replace"),
)


@pytest.fixture
async def filled(footnote: Footnote, tmp_path: Path) -> Footnote:
    (tmp_path / "note.md").write_text("# Note\n\nThe lamp is lit at dusk.\n", encoding="utf-8")
    assert (await footnote("add", "note.md")).code == 0
    return footnote


async def test_without_a_terminal_nothing_is_touched_unless_yes_is_given(
    filled: Footnote, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    before = {path: path.read_bytes() for path in data.glob("*.sqlite")}
    for command in DESTRUCTIVE:
        refused = await filled(*command, stdin="y\n")
        assert (refused.code, refused.out) == (2, ""), command
        assert "--yes" in refused.err, command
    assert {path: path.read_bytes() for path in data.glob("*.sqlite")} == before
    assert (await filled("kb", "remove", "default", "--yes")).code == 0
    assert "There are no knowledge bases yet" in (await filled("kb", "list")).out


async def test_in_a_terminal_it_asks(filled: Footnote, tmp_path: Path) -> None:
    settings = {"FOOTNOTE_DATA_DIR": str(tmp_path / "data"), "FOOTNOTE_EMBEDDER__KIND": "hashing"}
    own = environment(tmp_path, PYTHONPATH=str(PROJECT), **settings)
    async with terminal.running([*COMMAND, "kb", "remove", "default"], environment=own) as shown:
        await shown.until("Remove the knowledge base default and everything in it? [y/N]")
        shown.type("n\n")
        await shown.until("Nothing was removed.")
        await shown.end()
