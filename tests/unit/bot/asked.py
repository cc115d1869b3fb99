"""A service with one file, the question that it answers, and what the model was shown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.unit.bot.chatting import THREAD, world

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from tests.unit.bot.chatting import World

LEAVE = "# Leave\n\nEverybody has 28 days of leave a year. See https://intranet.example/leave for the form.\n"
QUESTION = "How many days of leave do we have?"
IN_THREAD = {"place": THREAD, "in_thread": True}
WITH_ID = re.compile(r"\(id [0-9a-f]{4}\)")


@pytest.fixture
async def here(tmp_path: Path) -> AsyncGenerator[World]:
    async with world(tmp_path) as made:
        await made.file("leave.md", LEAVE)
        yield made


def prompt(here: World, number: int = -1) -> str:
    return "\n".join(message.content for message in here.model.prompts[number][1].messages)
