"""`/kb help`: short enough for a phone, and all of a command on request."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from bot.commands import registry
from tests.doubles.town import TownRoom
from tests.unit.bot.access.knowledge import ANN, opened
from tests.unit.bot.commands.counter import Counter

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def counter(tmp_path: Path) -> AsyncIterator[Counter]:
    async with opened(tmp_path) as chat:
        yield Counter(chat=chat, room=TownRoom(directory=chat.town))


async def test_every_command_is_on_a_page_without_what_may_be_left_out(counter: Counter) -> None:
    first = await counter.reply(ANN, "help")
    pages = [first.text]
    assert all(len(line) < 160 for line in first.text.splitlines())
    assert [button.value for button in first.buttons] == ["help:2"]
    second = await counter.push(ANN, "help:2")
    assert second is not None
    pages.append(second.text)
    named = set(re.findall(r"`/((?:kb )?[a-z]+)", "\n".join(pages)))
    assert named >= set(registry.commands())
    assert "persona" not in "".join(pages)


async def test_one_command_is_explained_with_all_that_it_takes(counter: Counter) -> None:
    shown = await counter.say(ANN, "help settings")
    for option in registry.commands()["kb settings"].spec.options:
        assert f"`{option.name}`: {option.description}" in shown
    assert await counter.say(ANN, "help /kb settings") == shown
    assert "There is no such command" in await counter.say(ANN, "help nonsense")
