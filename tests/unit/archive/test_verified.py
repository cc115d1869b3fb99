"""Verified answers in an export: with their question, author, day and sources, and still the answer to their question."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING

import pytest

from rag_engine import archive
from rag_engine.metadata.verified_answer import (
    MEDIA_TYPE,
    VerifiedAnswer,
    VerifiedSource,
    Verifier,
    verified_id,
    verified_uri,
)
from rag_engine.types import Document, DocumentRecord, Section
from tests.unit.archive.shelf import IDENTITY, Shelf, row

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.types import KnowledgeBase

QUESTION = "Who has the spare key?"


async def verify(here: Shelf, answer: VerifiedAnswer) -> None:
    """Kept, and searchable, as its editor does."""
    document = Document(
        id=answer.id,
        knowledge_base=answer.knowledge_base,
        title=answer.question,
        uri=verified_uri(answer.id),
        media_type=MEDIA_TYPE,
        digest="digest",
        size=11,
    )
    await here.catalog.verified.save(answer)
    await here.index.put(document, [row(document, 0)])
    record = DocumentRecord(document=document, state="ready", reason="", chunks=1, pages=1)
    section = Section(text=answer.answer, headings=(answer.question,))
    await here.catalog.save(record, source=document.uri, sections=[section])


async def moved(here: Shelf, there: Shelf, base: KnowledgeBase, file: Path, name: str = "") -> VerifiedAnswer:
    await archive.export(
        base,
        file,
        library=here.catalog,
        contents=here.index,
        identity=IDENTITY,
        verified=here.catalog.verified,
    )
    await archive.import_(
        file,
        name=name,
        catalog=there.catalog,
        documents=there.catalog,
        index=there.index,
        identity=IDENTITY,
        verified=there.catalog.verified,
    )
    (found,) = [each for each in await there.catalog.knowledge_bases() if each.name == (name or base.name)]
    (answer,) = await there.catalog.verified.read({found.id})
    return answer


@pytest.mark.parametrize("name", ["", "Copy"])
async def test_author_day_and_sources_come_along(
    here: Shelf, there: Shelf, tmp_path: Path, name: str
) -> None:
    base = await here.fill()
    source = (await here.catalog.records(base.id))[0].document
    author = Verifier(name="Ada", platform="slack", workspace="T1", channel="C1", person="U1")
    saved = VerifiedAnswer(
        id=verified_id(base.id, QUESTION),
        knowledge_base=base.id,
        question=QUESTION,
        answer="Ada has it.",
        author=author,
        written_at=1_700_000_000.0,
        review_at=1_800_000_000.0,
        uri="https://chat.test/1",
        sources=(VerifiedSource(document=source.id, digest=source.digest, title=source.title),),
    )
    await verify(here, saved)
    answer = await moved(here, there, base, tmp_path / "kb.zip", name)
    assert (answer.question, answer.answer, answer.uri) == (QUESTION, "Ada has it.", "https://chat.test/1")
    assert answer.author == Verifier(name="Ada"), "accounts stay where they are"
    assert (answer.written_at, answer.review_at) == (1_700_000_000.0, 1_800_000_000.0)
    assert answer.id == verified_id(answer.knowledge_base, QUESTION)
    assert answer.changed == ()
    assert [each.title for each in answer.sources] == [source.title]
    record = await there.catalog.find(answer.knowledge_base, uri=f"verified:{answer.id}")
    assert record is not None
    assert (record.document.id, record.state) == (answer.id, "ready")
    rows = [each async for each, _ in there.index.scan(answer.knowledge_base)]
    (chunk,) = [each for each in rows if each.document == answer.id]
    assert chunk.uri == f"verified:{answer.id}"


async def test_exports_without_any_stay_readable_for_earlier_versions(here: Shelf, tmp_path: Path) -> None:
    base = await here.fill()
    await archive.export(
        base,
        tmp_path / "kb.zip",
        library=here.catalog,
        contents=here.index,
        identity=IDENTITY,
        verified=here.catalog.verified,
    )
    with zipfile.ZipFile(tmp_path / "kb.zip") as file:
        assert json.loads(file.read("manifest.json"))["version"] == 1
