"""Titles and tags that contain a text, for who is writing one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest

from rag_engine.storage.catalog import SqliteCatalog
from rag_engine.storage.sqlite.database import connect
from tests.unit.archive.shelf import MemoryIndex, Shelf

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from rag_engine.types import KnowledgeBase


@pytest.fixture
async def here(tmp_path: Path) -> AsyncGenerator[Shelf]:
    async with connect(tmp_path / "footnote.sqlite") as database:
        yield Shelf(catalog=SqliteCatalog(database), index=MemoryIndex())


@pytest.fixture
async def base(here: Shelf) -> KnowledgeBase:
    base = await here.fill(documents=0)
    other = await here.fill("Board", documents=0)
    for name in ("Budget 2025", "Übersicht", "100 % a_b", "年度预算"):
        record = await here.add(base, name, chunks=1)
        await here.catalog.metadata.tag(record.document.id, add=[f"about {name}", "all"])
    await here.catalog.metadata.describe(record.document.id, {"tags": ("ALL", "front matter")})
    secret = await here.add(other, "Budget of the board", chunks=1)
    await here.catalog.metadata.tag(secret.document.id, add=["all secrets"])
    failed = await here.fail(base, "Budget scan")
    await here.catalog.metadata.tag(failed.document.id, add=["all failed"])
    return base


@pytest.mark.parametrize(
    ("kind", "text", "found"),
    [
        ("title", "", ["100 % a_b.pdf", "Budget 2025.pdf", "Übersicht.pdf", "年度预算.pdf"]),
        ("title", "BUDGET", ["Budget 2025.pdf"]),
        ("title", "überSICHT", ["Übersicht.pdf"]),
        ("title", "预算", ["年度预算.pdf"]),
        ("title", "% a_", ["100 % a_b.pdf"]),
        ("title", "b_d", []),
        ("title", "\\", []),
        ("tag", "all", ["all"]),
        ("tag", "front", ["front matter"]),
        ("tag", "budget", ["about Budget 2025"]),
    ],
)
async def test_names_of_the_documents_that_can_be_searched(
    here: Shelf, base: KnowledgeBase, kind: Literal["title", "tag"], text: str, found: list[str]
) -> None:
    names = await here.catalog.metadata.names({base.id}, kind=kind, text=text, limit=25)
    assert [name.casefold() for name in names] == [name.casefold() for name in found]


async def test_no_more_than_asked_for_and_none_without_knowledge_bases(
    here: Shelf, base: KnowledgeBase
) -> None:
    assert len(await here.catalog.metadata.names({base.id}, kind="title", text="", limit=2)) == 2
    assert await here.catalog.metadata.names(set(), kind="title", text="", limit=25) == []
