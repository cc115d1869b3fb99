"""Which files "this file" means in a place: the latest that still exist."""

from __future__ import annotations

import itertools
from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from bot.port import Person, Place
from bot.store.message_files import MessageFile, MessageFiles
from bot.store.turns import ChatTurn, Turns
from rag_engine.storage.sqlite.database import connect
from rag_engine.types import DocumentId, KnowledgeBaseId
from tests.databases import new_database

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from rag_engine.storage.sqlite.database import Database

CHANNEL = Place(platform="slack", workspace="T1", channel="C1")
THREAD = replace(CHANNEL, thread="1.5")


@pytest.fixture
async def database(tmp_path: Path) -> AsyncGenerator[Database]:
    async with connect(new_database(tmp_path / "chat.sqlite"), scripts=files("bot.store") / "sql") as opened:
        yield opened


@pytest.fixture
def taken(database: Database) -> MessageFiles:
    clock = itertools.count(1.0)
    return MessageFiles(database, clock=lambda: next(clock))


def file(name: str, message: str, *, place: Place = THREAD, answer: str = "a1") -> MessageFile:
    return MessageFile(
        place=place,
        attachment=f"F-{name}",
        answer=answer,
        name=name,
        uri=f"https://x/{name}",
        source=f"https://x/{name}",
        knowledge_base=KnowledgeBaseId("kb"),
        document=DocumentId(name),
        message=message,
    )


async def latest(taken: MessageFiles, place: Place) -> list[str]:
    return [each.name for each in await taken.latest(place)]


async def test_those_of_the_last_message_in_its_order(taken: MessageFiles) -> None:
    await taken.keep([file("old.md", "1.6")])
    await taken.keep([file("a.md", "1.7"), file("b.md", "1.7")])
    assert await latest(taken, THREAD) == ["a.md", "b.md"]
    assert await latest(taken, replace(CHANNEL, channel="C2")) == []


async def test_a_thread_without_files_means_those_of_its_channel_and_never_another_threads(
    taken: MessageFiles,
) -> None:
    await taken.keep([file("channel.md", "1.1", place=CHANNEL), file("other.md", "1.9", place=THREAD)])
    assert await latest(taken, replace(CHANNEL, thread="2.5")) == ["channel.md"]
    assert await latest(taken, CHANNEL) == ["channel.md"]


async def test_the_file_of_the_question_that_opened_the_thread(
    taken: MessageFiles, database: Database
) -> None:
    asked = ChatTurn(place=THREAD, message="1.5", person=Person(id="U1"))
    await Turns(database).claim(asked)
    await taken.keep([file("rules.md", "1.5", place=CHANNEL, answer=asked.id)])
    await taken.keep([file("newer.md", "3.0", place=CHANNEL, answer="another")])
    assert await latest(taken, THREAD) == ["rules.md"]


async def test_a_promoted_file_is_still_the_one(taken: MessageFiles) -> None:
    brought = file("plan.md", "1.6")
    await taken.keep([brought])
    await taken.move(brought, replace(brought, place=CHANNEL, knowledge_base=KnowledgeBaseId("channel")))
    assert await latest(taken, THREAD) == ["plan.md"]
