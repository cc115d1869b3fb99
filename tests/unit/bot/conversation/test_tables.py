"""`/table` and charts: what a person sees of a computed answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.bot.chatting import World, world

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path


pytestmark = pytest.mark.process


@pytest.fixture
async def here(tmp_path: Path) -> AsyncGenerator[World]:
    async with world(tmp_path) as made:
        await made.file(
            "spent.csv", "Team,Month,Spent\nOps,2025-01-01,40\nIT,2025-02-01,2\nIT,2025-03-01,7\n"
        )
        yield made


async def test_the_command_computes_stays_private_and_is_stored_as_it_was_asked(here: World) -> None:
    await here.command("table", "spent by team as a chart")
    assert here.last.private is not None
    assert "| IT | 9 |" in here.last.text
    (file,) = here.last.reply.files
    assert (file.name, file.media_type) == ("chart.png", "image/png")
    assert "IT 9" in file.description
    assert file.content.startswith(b"\x89PNG")
    turn = await here.history.trace()
    assert turn is not None
    assert "computed" in turn.details


async def test_what_cannot_be_computed_is_said(here: World) -> None:
    await here.command("table", "who is the king of Spain")
    assert "did not understand this as something to compute" in here.last.text
