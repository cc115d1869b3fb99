"""A slash command is one file."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

import bot.commands
from bot.commands import SPECS, registry
from tests.doubles.town import TownRoom
from tests.unit.bot.access.knowledge import ANN, opened
from tests.unit.bot.commands.counter import Counter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MODULE = """
from bot.commands.context import reply
from bot.commands.specs import SlashCommand
from bot.port import CommandSpec, Option

async def echo(use):
    return reply(use.values["words"])

COMMANDS = (
    SlashCommand(
        position=500,
        spec=CommandSpec(
            name="kb echo",
            description="Repeat the words",
            options=(Option(name="words", description="What to repeat", required=True),),
        ),
        execute=echo,
    ),
)
"""


@pytest.fixture
def one_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "kb_echo.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.setattr(bot.commands, "__path__", [*bot.commands.__path__, str(tmp_path)])
    registry.commands.cache_clear()
    yield
    sys.modules.pop("bot.commands.kb_echo", None)
    registry.commands.cache_clear()


@pytest.mark.usefixtures("one_more")
async def test_a_command_is_found_parsed_listed_and_executed(tmp_path: Path) -> None:
    assert [spec.name for spec in registry.specs() if spec not in SPECS] == ["kb echo"]
    async with opened(tmp_path) as chat:
        counter = Counter(chat=chat, room=TownRoom(directory=chat.town))
        assert await counter.say(ANN, "echo two words") == "two words"
        pages = [await counter.push(ANN, f"help:{page}") for page in (1, 2, 3)]
        assert "- `/kb echo WORDS`: Repeat the words" in str(pages)
        assert "Did you mean `/kb echo WORDS`?" in await counter.say(ANN, "ehco x")
        assert "Did you mean" not in await counter.say(ANN, "nonsense")


def test_positions_are_unique() -> None:
    positions = [command.position for command in registry.commands().values()]
    assert len(set(positions)) == len(positions)
    assert positions == sorted(positions)
