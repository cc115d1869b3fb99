from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.conversation.sources.asked_pictures import asks_for_picture
from bot.port import File
from rag_engine.errors import StorageUnavailable
from tests.unit.bot.asked import IN_THREAD, LEAVE, QUESTION
from tests.unit.bot.chatting import world

if TYPE_CHECKING:
    from pathlib import Path

    from bot.port import Room
    from bot.store.turns import ChatTurn

PICTURE = "Show me the diagram: how many days of leave do we have?"


@pytest.mark.parametrize(
    "question",
    [
        "Show me the diagram of the pump",
        "What is in Figure 3?",
        "Zeig mir die Abbildung zur Pumpe",
        "Montre-moi le schéma",
        "Покажи схему насоса",
        "给我看水泵的示意图",
        "ポンプの図を見せて",
    ],
)
def test_what_asks_for_a_picture(question: str) -> None:
    assert asks_for_picture(question)


@pytest.mark.parametrize(
    "question", ["", "What is the figure for Q3?", "Who imagines that?", "Bildung in der Firma", "graphical"]
)
def test_what_does_not(question: str) -> None:
    assert not asks_for_picture(question)


async def test_the_cited_page_follows_the_answer(tmp_path: Path) -> None:
    asked: list[tuple[str, ...]] = []

    async def pictures(turn: ChatTurn, room: Room, language: str) -> tuple[File, ...]:
        asked.append(tuple(citation.title for citation in turn.citations))
        return (File(name="page-1.png", media_type="image/png", content=b"png", description="Page 1"),)

    async with world(tmp_path, show_pictures=pictures) as here:
        await here.file("leave.md", LEAVE)
        here.says("28 days [1].")
        plain = await here.ask(QUESTION, **IN_THREAD)
        assert not plain.reply.files
        shown = await here.ask(PICTURE, **IN_THREAD)
    assert [file.name for file in shown.reply.files] == ["page-1.png"]
    assert shown.text == "28 days [1]."
    assert asked == [("leave.md",)]


async def test_pictures_that_fail_cost_only_the_pictures(tmp_path: Path) -> None:
    async def pictures(turn: ChatTurn, room: Room, language: str) -> tuple[File, ...]:
        raise StorageUnavailable

    async with world(tmp_path, show_pictures=pictures) as here:
        await here.file("leave.md", LEAVE)
        here.says("28 days [1].")
        shown = await here.ask(PICTURE, **IN_THREAD)
    assert shown.text == "28 days [1]."
    assert not shown.reply.files
