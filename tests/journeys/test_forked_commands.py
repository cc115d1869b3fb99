"""A forked command (`tests.doubles.commands`) does what a new process does."""

from __future__ import annotations

import asyncio
import signal
from asyncio.subprocess import PIPE
from typing import TYPE_CHECKING

import pytest

from tests.conftest import PROJECT
from tests.doubles import commands
from tests.journeys.conftest import environment

if TYPE_CHECKING:
    from pathlib import Path

    from tests.journeys.conftest import Footnote


@pytest.mark.parametrize(
    ("arguments", "settings", "code"),
    [
        (("add", "leave.md"), {}, 0),
        (("add", "nowhere.md"), {}, 1),
        (("nonsense",), {}, 2),
        (("kb", "list"), {"FOOTNOTE_NONSENSE": "1"}, 78),
    ],
)
async def test_it_prints_and_returns_the_same(
    footnote: Footnote,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    settings: dict[str, str],
    code: int,
) -> None:
    (tmp_path / "leave.md").write_text("# Leave\n\nEverybody has 28 days.\n", encoding="utf-8")
    forked = await footnote(*arguments, FOOTNOTE_DATA_DIR=str(tmp_path / "forked"), **settings)
    monkeypatch.setenv("TEST_COMMANDS", "started")
    started = await footnote(*arguments, FOOTNOTE_DATA_DIR=str(tmp_path / "started"), **settings)
    assert forked == started
    assert forked.code == code


async def test_it_can_be_killed(tmp_path: Path) -> None:
    own = environment(tmp_path, PYTHONPATH=str(PROJECT), FOOTNOTE_EMBEDDER__KIND="hashing")
    async with asyncio.timeout(60):
        command = await commands.start("chat", environment=own, folder=tmp_path, stdin=PIPE)
        assert command.returncode is None
        command.kill()
        await command.communicate()
    assert command.returncode == -signal.SIGKILL
