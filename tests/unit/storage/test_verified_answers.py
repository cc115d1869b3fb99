from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import UnknownKnowledgeBase
from rag_engine.metadata.verified_answer import VerifiedAnswer, VerifiedSource, Verifier
from rag_engine.storage.catalog import SqliteCatalog
from rag_engine.storage.sqlite.database import connect
from rag_engine.types import Document, DocumentId, DocumentRecord, KnowledgeBaseId

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

NOW = 1_000.0


@pytest.fixture
async def catalog(tmp_path: Path) -> AsyncGenerator[SqliteCatalog]:
    async with connect(tmp_path / "footnote.sqlite") as database:
        yield SqliteCatalog(database)


def record(base: KnowledgeBaseId, identity: str, digest: str) -> DocumentRecord:
    document = Document(
        id=DocumentId(identity),
        knowledge_base=base,
        title=f"{identity}.md",
        uri=f"file:///{identity}",
        media_type="text/markdown",
        digest=digest,
    )
    return DocumentRecord(document=document, state="ready", chunks=1)


async def saved(catalog: SqliteCatalog) -> VerifiedAnswer:
    base = (await catalog.open("handbook", model="m")).id
    await catalog.save(record(base, "leave", "d1"))
    await catalog.save(record(base, "answer", "d2"))
    answer = VerifiedAnswer(
        id=DocumentId("answer"),
        knowledge_base=base,
        question="How many days?",
        answer="28.",
        author=Verifier(name="Ann", platform="slack", workspace="T1", channel="C1", person="U1"),
        written_at=10,
        review_at=2 * NOW,
        sources=(VerifiedSource(document=DocumentId("leave"), digest="d1", title="leave.md"),),
    )
    await catalog.verified.save(answer)
    return answer


async def current(catalog: SqliteCatalog) -> VerifiedAnswer:
    (found,) = await catalog.verified.read({(await catalog.open("handbook", model="m")).id})
    return found


async def test_it_is_outdated_as_soon_as_a_source_changed(catalog: SqliteCatalog) -> None:
    answer = await saved(catalog)
    assert not (await current(catalog)).is_outdated(NOW)
    await catalog.save(record(answer.knowledge_base, "leave", ""))
    assert not (await current(catalog)).is_outdated(NOW), "a document under way has not changed yet"
    await catalog.save(record(answer.knowledge_base, "leave", "d3"))
    assert (await current(catalog)).changed == ("leave.md",)
    await catalog.verified.confirm(answer.id, review_at=2 * NOW)
    assert not (await current(catalog)).is_outdated(NOW)
    await catalog.remove(DocumentId("leave"))
    assert (await current(catalog)).changed == ("leave.md",)


async def test_it_is_outdated_after_its_review_date(catalog: SqliteCatalog) -> None:
    answer = await saved(catalog)
    assert not (await current(catalog)).is_outdated(NOW)
    assert (await current(catalog)).is_outdated(2 * NOW)
    await catalog.verified.save(replace(answer, review_at=0))
    assert not (await current(catalog)).is_outdated(1e12)


async def test_its_author_is_asked_once(catalog: SqliteCatalog) -> None:
    answer = await saved(catalog)
    assert await catalog.verified.outdated("slack", now=NOW) == []
    late = 3 * NOW
    assert [each.id for each in await catalog.verified.outdated("slack", now=late)] == [answer.id]
    assert await catalog.verified.outdated("discord", now=late) == []
    assert await catalog.verified.mark_asked(answer.id, at=late)
    assert not await catalog.verified.mark_asked(answer.id, at=late)
    assert await catalog.verified.outdated("slack", now=late) == []
    await catalog.verified.confirm(answer.id, review_at=late)
    assert [each.id for each in await catalog.verified.outdated("slack", now=late)] == [answer.id]


async def test_it_goes_with_its_document_and_its_knowledge_base(catalog: SqliteCatalog) -> None:
    answer = await saved(catalog)
    await catalog.remove(answer.id)
    assert await catalog.verified.find(answer.id) is None


async def test_a_missing_knowledge_base_is_named(catalog: SqliteCatalog) -> None:
    answer = await saved(catalog)
    with pytest.raises(UnknownKnowledgeBase):
        await catalog.verified.save(
            replace(answer, id=DocumentId("x"), knowledge_base=KnowledgeBaseId("none"))
        )
