"""What people asked is shown in the operator's terminal and cannot command it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import pytest

from bot import settings
from bot.cli.answers import conversations
from bot.cli.quality import feedback, gaps
from tests.unit.bot.chatting import world

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

ASKED = "Where is\x1b[2J the \x1b]0;owned\x07pool?"


@pytest.mark.parametrize("command", [conversations, feedback, gaps], ids=lambda each: each.__name__)
async def test_commands_for_terminals_are_not_passed_on(
    command: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FOOTNOTE_EMBEDDER__KIND", "hashing")
    async with world(tmp_path) as here:
        await here.file("leave.md", "# Leave\n\nThe leave is 28 days.")
        here.says("I do not know that.")
        post = await here.ask(ASKED)
        await here.press(post, "feedback", ends=":down")
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    chosen = settings.read().model_copy(update={"data_dir": tmp_path})
    assert await command.run(parser.parse_args([]), chosen) == 0
    shown = capsys.readouterr().out
    assert "pool?" in shown
    assert {"\x1b", "\x07"}.isdisjoint(shown)
