"""What every `Catalog`, `Documents` and `Library` must do."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.errors import NotAllowed, UnknownKnowledgeBase, UserError
from rag_engine.storage.catalog import SqliteCatalog
from rag_engine.storage.document_text import pack, unpack
from rag_engine.storage.sqlite.database import connect
from rag_engine.types import (
    Document,
    DocumentId,
    DocumentRecord,
    DocumentState,
    KnowledgeBase,
    KnowledgeBaseId,
    Section,
)
from tests.databases import new_database

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

MODEL = "all-MiniLM-L6-v2@fp32"


@pytest.fixture(params=["sqlite"])
async def catalog(tmp_path: Path) -> AsyncIterator[SqliteCatalog]:
    async with connect(new_database(tmp_path / "footnote.sqlite")) as database:
        yield SqliteCatalog(database)


@pytest.fixture
async def base(catalog: SqliteCatalog) -> KnowledgeBase:
    return await catalog.open("Handbook", model=MODEL)


def record(
    base: KnowledgeBase, name: str, *, digest: str = "d1", state: DocumentState = "ready", title: str = ""
) -> DocumentRecord:
    document = Document(
        id=DocumentId(name),
        knowledge_base=base.id,
        title=title or f"{name}.pdf",
        uri=f"file:///{name}.pdf",
        media_type="application/pdf",
        digest=digest,
        size=12,
    )
    return DocumentRecord(document=document, state=state, chunks=3, pages=2)


async def test_a_knowledge_base_is_made_once_whatever_the_case_and_the_spaces(catalog: SqliteCatalog) -> None:
    made = await catalog.open("  Team   Handbook ", model=MODEL)
    assert made == KnowledgeBase(id=made.id, name="Team Handbook", model=MODEL)
    assert await catalog.open("TEAM handbook", model="another") == made
    assert await catalog.knowledge_bases() == [made]


async def test_the_same_name_has_the_same_id_on_every_machine(catalog: SqliteCatalog, tmp_path: Path) -> None:
    here = await catalog.open("Straße", model=MODEL)
    async with connect(tmp_path / "other.sqlite") as database:
        there = await SqliteCatalog(database).open("STRASSE", model=MODEL)
    assert here.id == there.id


async def test_many_opens_at_once_make_one(catalog: SqliteCatalog) -> None:
    async with asyncio.timeout(5):
        opened = await asyncio.gather(*(catalog.open("Team", model=MODEL) for _ in range(20)))
    assert len({base.id for base in opened}) == 1


async def test_knowledge_bases_are_listed_by_name(catalog: SqliteCatalog) -> None:
    for name in ("beta", "Alpha", "gamma"):
        await catalog.open(name, model=MODEL)
    assert [base.name for base in await catalog.knowledge_bases()] == ["Alpha", "beta", "gamma"]


async def test_some_are_selected_by_id_and_by_name(catalog: SqliteCatalog) -> None:
    alpha, beta, gamma = [await catalog.open(name, model=MODEL) for name in ("Alpha", "beta", "gamma")]
    assert await catalog.select() == []
    assert await catalog.select(ids=[gamma.id, KnowledgeBaseId("nowhere")]) == [gamma]
    assert await catalog.select(ids={gamma.id, alpha.id}, names=["  BETA", "alpha", "delta"]) == [
        alpha,
        beta,
        gamma,
    ]


async def test_more_are_selected_than_a_statement_has_parameters(catalog: SqliteCatalog) -> None:
    alpha = await catalog.open("Alpha", model=MODEL)
    ids = [KnowledgeBaseId(f"{number}") for number in range(40_000)]
    odd = KnowledgeBaseId('"\ud800\0],[')
    assert await catalog.select(ids=[odd, *ids, alpha.id], names=[odd]) == [alpha]


@pytest.mark.parametrize("name", ["", " \t", "x" * 81, "a\x00b", "a\u202eb", "-rf", "\ud800"])
async def test_a_name_that_can_be_none_is_refused(catalog: SqliteCatalog, name: str) -> None:
    with pytest.raises(UserError, match="name"):
        await catalog.open(name, model=MODEL)
    assert await catalog.knowledge_bases() == []


async def test_the_model_can_be_recorded_again(catalog: SqliteCatalog, base: KnowledgeBase) -> None:
    await catalog.set_model(base.id, "e5@int8")
    assert await catalog.knowledge_bases() == [replace(base, model="e5@int8")]


async def test_a_record_comes_back_as_it_was_saved(catalog: SqliteCatalog, base: KnowledgeBase) -> None:
    saved = replace(record(base, "a", title="年度报告 <draft>"), reason="Two pages are scans.")
    await catalog.save(saved)
    assert await catalog.records(base.id) == [saved]
    assert await catalog.find(base.id, uri=saved.document.uri) == saved


async def test_saving_again_replaces_the_record_and_keeps_the_text(
    catalog: SqliteCatalog, base: KnowledgeBase
) -> None:
    sections = [Section(text="Hello", anchor="p. 1")]
    await catalog.save(record(base, "a", state="parsing"), sections=sections)
    await catalog.save(record(base, "a", digest="d2"))
    (found,) = await catalog.records(base.id)
    assert (found.state, found.document.digest) == ("ready", "d2")
    assert await catalog.sections(DocumentId("a")) == sections


async def test_a_digest_finds_ready_documents_only(catalog: SqliteCatalog, base: KnowledgeBase) -> None:
    for state in ("queued", "parsing", "embedding", "failed"):
        await catalog.save(record(base, state, state=state))
    assert await catalog.find(base.id, digest="d1") is None
    await catalog.save(record(base, "r"))
    found = await catalog.find(base.id, digest="d1")
    assert found is not None
    assert found.document.id == "r"
    unfinished = await catalog.find(base.id, uri="file:///queued.pdf")
    assert unfinished is not None
    assert unfinished.state == "queued"
    assert await catalog.find(base.id) is None


async def test_documents_of_several_sources_are_found_at_once(
    catalog: SqliteCatalog, base: KnowledgeBase
) -> None:
    one, other, third = (record(base, name) for name in ("a", "b", "c"))
    await catalog.save(one)
    await catalog.save(other, source="file:///copy.pdf")
    await catalog.save(third)
    uris = [one.document.uri, "file:///copy.pdf", other.document.uri, "file:///unknown.pdf"]
    found = await catalog.find_all(base.id, uris=uris)
    assert sorted(each.document.id for each in found) == ["a", "b"]
    elsewhere = await catalog.open("Elsewhere", model=MODEL)
    assert await catalog.find_all(elsewhere.id, uris=uris) == []
    assert await catalog.find_all(base.id, uris=[]) == []


async def test_nothing_is_found_in_another_knowledge_base(
    catalog: SqliteCatalog, base: KnowledgeBase
) -> None:
    other = await catalog.open("Other", model=MODEL)
    await catalog.save(record(base, "a"))
    assert await catalog.find(other.id, uri="file:///a.pdf", digest="d1") is None
    assert await catalog.records(other.id) == []


async def test_a_document_cannot_be_taken_from_another_knowledge_base(
    catalog: SqliteCatalog, base: KnowledgeBase
) -> None:
    saved = record(base, "a")
    await catalog.save(saved, sections=[Section(text="secret")])
    other = await catalog.open("Other", model=MODEL)
    with pytest.raises(NotAllowed, match="belongs to another knowledge base"):
        await catalog.save(record(other, "a"))
    assert await catalog.records(base.id) == [saved]
    assert await catalog.records(other.id) == []


async def test_every_source_leads_to_the_document(catalog: SqliteCatalog, base: KnowledgeBase) -> None:
    saved = record(base, "a")
    await catalog.save(saved)
    await catalog.save(saved, source="https://chat/1")
    await catalog.save(saved, source="https://chat/1")
    assert await catalog.sources(DocumentId("a")) == ["file:///a.pdf", "https://chat/1"]
    assert await catalog.find(base.id, uri="https://chat/1") == saved


async def test_a_source_that_is_removed_leads_nowhere_and_the_document_stays(
    catalog: SqliteCatalog, base: KnowledgeBase
) -> None:
    saved = record(base, "a")
    await catalog.save(saved, source="https://chat/1")
    for _ in range(2):
        await catalog.remove_source(base.id, "https://chat/1")
        assert await catalog.find(base.id, uri="https://chat/1") is None
        assert await catalog.sources(DocumentId("a")) == ["file:///a.pdf"]


async def test_a_source_leads_to_one_document_only(catalog: SqliteCatalog, base: KnowledgeBase) -> None:
    await catalog.save(record(base, "a"), source="https://chat/1")
    await catalog.save(record(base, "b", digest="d2"), source="https://chat/1")
    found = await catalog.find(base.id, uri="https://chat/1")
    assert found is not None
    assert found.document.id == "b"
    assert await catalog.sources(DocumentId("a")) == ["file:///a.pdf"]


async def test_records_are_ordered_by_title_then_id(catalog: SqliteCatalog, base: KnowledgeBase) -> None:
    for name, title in {"3": "beta", "2": "alpha", "1": "beta"}.items():
        await catalog.save(record(base, name, title=title))
    assert [found.document.id for found in await catalog.records(base.id)] == ["2", "1", "3"]


async def test_removing_a_document_removes_all_of_it_twice_over(
    catalog: SqliteCatalog, base: KnowledgeBase
) -> None:
    await catalog.save(record(base, "a"), source="https://chat/1", sections=[Section(text="x")])
    await catalog.save(record(base, "b"))
    for _ in range(2):
        await catalog.remove(DocumentId("a"))
    assert [found.document.id for found in await catalog.records(base.id)] == ["b"]
    assert await catalog.sources(DocumentId("a")) == []
    assert await catalog.sections(DocumentId("a")) == []


async def test_closing_a_knowledge_base_removes_all_in_it(
    catalog: SqliteCatalog, base: KnowledgeBase
) -> None:
    await catalog.save(record(base, "a"), sections=[Section(text="x")])
    for _ in range(2):
        await catalog.unfinished.withdraw(base.id)
        await catalog.unfinished.remove(base.id)
    assert await catalog.knowledge_bases() == []
    assert await catalog.records(base.id) == []
    assert await catalog.sections(DocumentId("a")) == []


async def test_saving_into_a_removed_knowledge_base_is_reported(
    catalog: SqliteCatalog, base: KnowledgeBase
) -> None:
    await catalog.unfinished.withdraw(base.id)
    await catalog.unfinished.remove(base.id)
    with pytest.raises(UnknownKnowledgeBase, match="removed meanwhile"):
        await catalog.save(record(base, "a"))
    assert await catalog.records(base.id) == []


async def test_a_file_name_that_is_no_text_can_be_kept(catalog: SqliteCatalog, base: KnowledgeBase) -> None:
    await catalog.save(record(base, "a", title="bad\udcffname.pdf"))
    (found,) = await catalog.records(base.id)
    assert found.document.title == "bad?name.pdf"


async def test_a_long_text_comes_back_whole(catalog: SqliteCatalog, base: KnowledgeBase) -> None:
    sections = [
        Section(
            text=f"Absatz {n}\n第{n}段 | a | b",
            anchor=f"p. {n // 10}",
            headings=("One", "Two\u2028x"),
            kind="table",
        )
        for n in range(5_000)
    ]
    await catalog.save(record(base, "a"), sections=sections)
    assert await catalog.sections(DocumentId("a")) == sections
    await catalog.save(record(base, "a"), sections=[])
    assert await catalog.sections(DocumentId("a")) == []


async def test_an_unknown_knowledge_base_is_empty(catalog: SqliteCatalog) -> None:
    assert await catalog.records(KnowledgeBaseId("nobody")) == []


@given(
    st.lists(
        st.builds(
            Section,
            text=st.text(alphabet=st.characters(codec=None)),
            anchor=st.text(max_size=10),
            headings=st.lists(st.text(max_size=10), max_size=3).map(tuple),
            kind=st.sampled_from(["prose", "list", "table", "code"]),
        ),
        max_size=8,
    )
)
def test_packing_loses_nothing(sections: list[Section]) -> None:
    assert unpack(pack(sections)) == sections
