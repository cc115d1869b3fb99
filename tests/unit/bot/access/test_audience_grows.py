"""Threads that ever got a file become many: what a question costs does not grow with them."""

from __future__ import annotations

import sqlite3
from contextlib import AsyncExitStack, closing
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from bot.access.audience import Audiences
from bot.access.permissions import Permissions
from bot.settings import AccessSettings
from bot.store.expert_requests import ExpertRequests
from bot.store.places import Places
from bot.store.topics import Topics
from rag_engine.errors import UnknownKnowledgeBase, UserError
from rag_engine.storage.catalog import SqliteCatalog
from rag_engine.storage.sqlite.database import Database, connect
from rag_engine.sync.store import SqliteSources
from tests.databases import new_database
from tests.unit.bot.access.knowledge import ANN, BEN, Chat, place, town

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from rag_engine.storage.sqlite.database import Row, Transaction

THREADS = 3_000
FEW = 40


class Counted(Database):
    """A database that tells how many rows came out, and what SQLite did for them, counted in its own steps."""

    def __init__(self, database: Database) -> None:
        self._counted = database
        self.rows = 0
        self.most_steps = 0

    async def fetch(self, sql: str, parameters: Sequence[object] = ()) -> list[Row]:
        rows = await self._counted.fetch(sql, parameters)
        self.rows += len(rows)
        self.most_steps = max(self.most_steps, self._steps(sql, parameters))
        return rows

    def _steps(self, sql: str, parameters: Sequence[object]) -> int:
        steps = 0

        def count() -> None:
            nonlocal steps
            steps += 1

        with closing(sqlite3.connect(self._counted.path)) as again:
            again.execute(
                "SELECT count(*) FROM sqlite_master"
            ).fetchall()  # how many tables there are counts nothing
            again.set_progress_handler(count, 1)
            again.execute(sql, parameters).fetchall()
        return steps

    def transaction(self) -> AbstractAsyncContextManager[Transaction]:
        return self._counted.transaction()


@pytest.fixture
async def databases(tmp_path: Path) -> AsyncIterator[tuple[Counted, Counted]]:
    async with AsyncExitStack() as stack:
        kept = await stack.enter_async_context(connect(new_database(tmp_path / "footnote.sqlite")))
        chat = await stack.enter_async_context(
            connect(new_database(tmp_path / "chat.sqlite"), scripts=files("bot.store") / "sql")
        )
        async with kept.transaction() as transaction:
            await transaction.execute_many(
                "INSERT INTO knowledge_bases (id, name, folded, model, created_at) VALUES (?, ?, ?, 'hashing', 0)",
                [(f"kb{one}", *(2 * [f"slack:t1:c:{one}~{one:012x}"])) for one in range(THREADS)],
            )
        async with chat.transaction() as transaction:
            await transaction.execute_many(
                "INSERT INTO audiences (knowledge_base, platform, workspace, channel, thread, label, folded) "
                "VALUES (?, 'slack', 'T1', ?, ?, '', '')",
                [(f"kb{one}", "GENERAL" if one % 2 else "LEGAL", f"old{one}") for one in range(THREADS)],
            )
        yield Counted(kept), Counted(chat)


@pytest.fixture
async def chat(databases: tuple[Counted, Counted]) -> Chat:
    kept, chat = databases
    catalog, places = SqliteCatalog(kept), Places(chat)
    audiences = Audiences(
        places=places,
        catalog=catalog,
        access=Permissions(settings=AccessSettings(everywhere=("Rules",))),
        model="hashing",
    )
    return Chat(
        catalog=catalog,
        places=places,
        topics=Topics(chat),
        experts=ExpertRequests(chat),
        audiences=audiences,
        town=town(),
        sources=SqliteSources(kept),
    )


async def test_a_question_reads_what_its_place_uses_and_no_table_as_a_whole(
    chat: Chat, databases: tuple[Counted, Counted]
) -> None:
    rules, audiences = await chat.operators("rules"), chat.audiences
    general, thread = await audiences.own(place()), await audiences.own(place(thread="1"))
    random, legal = await audiences.own(place("RANDOM")), await audiences.own(place("LEGAL"))
    handbook = await audiences.create(place(), "Handbook", everyone=True)
    for base in (random, handbook, legal):
        await chat.places.bind(place(), base.id)
    everyones = {rules.id, general.id, thread.id, random.id, handbook.id}

    scope = await audiences.scope(place(thread="1"), chat.town)
    assert scope.knowledge_bases == {general.id, thread.id}  # a guest is in #general
    private = await audiences.scope(place(thread="1"), chat.town, person=BEN)
    assert private.knowledge_bases == everyones | {legal.id}
    direct = await audiences.scope(place("DM_BEN"), chat.town, asker=BEN)
    assert direct.knowledge_bases == (everyones | {legal.id}) - {thread.id}
    for wanted, expected in (("", thread), ("handbook", handbook), ("<#LEGAL>", legal), ("rules", rules)):
        found = await audiences.find(wanted, place(thread="1"), chat.town, BEN)
        assert found.knowledge_base == expected
    with pytest.raises(UserError, match="already"):
        await audiences.create(place(), "HANDBOOK", everyone=True)
    assert sum(database.rows for database in databases) < 4 * FEW
    assert max(database.most_steps for database in databases) < THREADS / 4


async def test_what_threads_hold_is_in_nobodys_list(chat: Chat, databases: tuple[Counted, Counted]) -> None:
    await chat.audiences.own(place("RANDOM"))
    listed = await chat.audiences.readable(place(), chat.town, BEN)
    assert [one.name.in_language("en") for one in listed] == ["#random"]
    with pytest.raises(UnknownKnowledgeBase, match=r"there are: #random\."):
        await chat.audiences.find("nonsense", place(), chat.town, BEN)
    assert sum(database.rows for database in databases) < FEW
    assert max(database.most_steps for database in databases) < THREADS / 4
    assert [one.name.in_language("en") for one in await chat.audiences.readable(place(), chat.town, ANN)] == [
        "#random"
    ]
