from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import UnknownKnowledgeBase, UserError
from rag_engine.retrieval.queries.synonyms import MOST_ENTRIES
from rag_engine.storage.catalog import SqliteCatalog
from rag_engine.storage.sqlite.database import connect
from rag_engine.storage.synonyms import SqliteSynonyms
from rag_engine.types import KnowledgeBaseId
from tests.databases import new_database

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from rag_engine.storage.sqlite.database import Database


@pytest.fixture
async def database(tmp_path: Path) -> AsyncGenerator[Database]:
    async with connect(new_database(tmp_path / "footnote.sqlite")) as opened:
        yield opened


@pytest.fixture
async def base(database: Database) -> KnowledgeBaseId:
    return (await SqliteCatalog(database).open("ours", model="m")).id


async def test_entries_come_back_in_order_and_by_knowledge_base(
    database: Database, base: KnowledgeBaseId
) -> None:
    other = (await SqliteCatalog(database).open("theirs", model="m")).id
    synonyms = SqliteSynonyms(database)
    await synonyms.add(base, [("PTO", "paid leave"), ("年假", "annual leave")])
    await synonyms.add(other, [("Heron", "payroll")])
    assert await synonyms.read({base}) == {base: [("PTO", "paid leave"), ("年假", "annual leave")]}
    assert set(await synonyms.read({base, other})) == {base, other}
    assert await synonyms.read({KnowledgeBaseId("none")}) == {}


async def test_entries_of_one_first_term_become_one(database: Database, base: KnowledgeBaseId) -> None:
    synonyms = SqliteSynonyms(database)
    await synonyms.add(base, [("PTO", "paid leave")])
    await synonyms.add(base, [("pto", "Paid Leave", "vacation")])
    assert await synonyms.read({base}) == {base: [("PTO", "paid leave", "vacation")]}


async def test_an_entry_or_a_term_is_removed(database: Database, base: KnowledgeBaseId) -> None:
    synonyms = SqliteSynonyms(database)
    await synonyms.add(base, [("PTO", "paid leave", "vacation"), ("Heron", "payroll")])
    assert await synonyms.remove(base, "vacation")
    assert await synonyms.remove(base, "payroll")
    assert await synonyms.read({base}) == {base: [("PTO", "paid leave")]}
    assert await synonyms.remove(base, "pto")
    assert not await synonyms.remove(base, "pto")
    assert await synonyms.read({base}) == {}


async def test_too_many_entries_are_refused_and_none_is_added(
    database: Database, base: KnowledgeBaseId
) -> None:
    synonyms = SqliteSynonyms(database)
    with pytest.raises(UserError, match=f"may have {MOST_ENTRIES} entries"):
        await synonyms.add(base, [(f"a{number}", f"b{number}") for number in range(MOST_ENTRIES + 1)])
    with pytest.raises(UserError, match="may have 10 terms"):
        await synonyms.add(base, [("a", *(f"b{n}" for n in range(9))), ("a", "more")])
    assert await synonyms.read({base}) == {}


async def test_a_knowledge_base_takes_its_synonyms_along(database: Database, base: KnowledgeBaseId) -> None:
    synonyms = SqliteSynonyms(database)
    await synonyms.add(base, [("PTO", "paid leave")])
    catalog = SqliteCatalog(database)
    assert await catalog.unfinished.withdraw(base)
    assert await catalog.unfinished.remove(base)
    assert await synonyms.read({base}) == {}
    with pytest.raises(UnknownKnowledgeBase):
        await synonyms.add(base, [("PTO", "paid leave")])
