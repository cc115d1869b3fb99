"""What every tool of ours owes: a description and a schema, one sentence for wrong arguments, passages of what may be read alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import jsonschema
import pytest

from bot.composition import loader
from rag_engine.agent.tool import Tool, ToolContext, ToolFailed, ToolPorts
from rag_engine.errors import QueryRefused
from rag_engine.pipeline import Inquiry
from rag_engine.types import Chunk, ChunkId, DocumentId, Hit, KnowledgeBaseId, Query
from tests.unit.agent.setup import nothing_computed, records

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMES = ("compute", "list", "read", "search", "web")
GOOD: dict[str, dict[str, object]] = {
    "compute": {"question": "total of Field"},
    "list": {},
    "read": {"document": "kb/people.md"},
    "search": {"query": "leave"},
    "web": {"query": "lighthouse height"},
}


def chunk(document: str, text: str, base: str = "kb", ordinal: int = 0) -> Chunk:
    return Chunk(
        id=ChunkId(f"{document}#{ordinal}"),
        document=DocumentId(document),
        knowledge_base=KnowledgeBaseId(base),
        ordinal=ordinal,
        text=text,
        title=document,
    )


class Contents:
    """Holds three parts of each document of the knowledge base that it is asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def chunks(
        self, knowledge_base: KnowledgeBaseId, document: DocumentId, *, limit: int, start: int = 0
    ) -> list[Chunk]:
        self.asked.append(knowledge_base)
        if not document.startswith(f"{knowledge_base}/"):
            return []
        parts = [chunk(document, f"Part {n}.", knowledge_base, n) for n in range(3)]
        return parts[start : start + limit]


async def web_step(inquiry: Inquiry) -> Inquiry:
    assert inquiry.query.web == "asked"
    page = Hit(chunk=chunk("web:1", f"About {inquiry.question}."), score=1.0, rank=1)
    return replace(inquiry, hits=(page,))


def tools() -> dict[str, Tool]:
    contents = cast("Any", Contents())
    ports = ToolPorts(contents=contents, records=records, compute=nothing_computed, web=web_step)
    return {tool.name: tool for tool in loader.tools(ports)}


def context(*, documents: frozenset[str] | None = None, held: Sequence[Hit] = ()) -> ToolContext:
    async def search(text: str, *, documents: frozenset[DocumentId] | None = None) -> list[Hit]:
        return [Hit(chunk=chunk("kb/people.md", text), score=1.0, rank=1)]

    query = Query(
        text="How high is the lighthouse?", knowledge_bases=frozenset({KnowledgeBaseId("kb")}), web="asked"
    )
    chosen = None if documents is None else frozenset(map(DocumentId, documents))
    inquiry = Inquiry(query=query, question=query.text, documents=chosen)
    return ToolContext(inquiry=inquiry, search=search, model=cast("Any", None), passages=held)


def test_these_are_the_tools() -> None:
    assert tuple(tools()) == NAMES


@pytest.mark.parametrize("name", NAMES)
async def test_it_says_what_it_does_and_takes_what_its_schema_says(name: str) -> None:
    tool = tools()[name]
    assert 5 < len(tool.description.split()) < 50
    jsonschema.Draft202012Validator.check_schema(dict(tool.parameters))
    properties = cast("dict[str, dict[str, object]]", tool.parameters["properties"])
    assert all(one.get("description") for one in properties.values())
    jsonschema.validate(GOOD[name], dict(tool.parameters))
    if name == "compute":
        with pytest.raises(QueryRefused, match="No table holds this"):
            await tool.run(GOOD[name], context())
    else:
        assert (await tool.run(GOOD[name], context())).hits


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("wrong", [{"nonsense": 1}, {"query": []}, {"question": "x" * 5_000}, {"start": -1}])
async def test_wrong_arguments_are_one_sentence(name: str, wrong: dict[str, object]) -> None:
    with pytest.raises(ToolFailed) as refusal:
        await tools()[name].run({**GOOD[name], **wrong}, context())
    assert str(refusal.value).startswith("Wrong arguments: ")
    assert len(str(refusal.value)) < 200


async def test_reading_goes_on_around_a_passage_and_stays_in_the_scope() -> None:
    read = tools()["read"]
    held = [Hit(chunk=chunk("kb/people.md", "Part 2.", ordinal=2), score=1.0, rank=1)]
    around = await read.run({"passage": 1}, context(held=held))
    assert [hit.chunk.ordinal for hit in around.hits] == [0, 1, 2]
    later = await read.run({"document": "kb/people.md", "start": 1}, context())
    assert [hit.chunk.ordinal for hit in later.hits] == [1, 2]
    for document in ("other/secret.md", "", "web:1"):
        with pytest.raises(ToolFailed, match="nothing to read"):
            await read.run({"document": document}, context())
    with pytest.raises(ToolFailed, match="nothing to read"):
        await read.run({"document": "kb/people.md"}, context(documents=frozenset({"kb/canteen.md"})))


async def test_the_list_names_what_may_be_read_and_goes_on() -> None:
    listed = tools()["list"]
    found = await listed.run({"name": "PEOPLE"}, context())
    assert "people.md (text/markdown, 1 parts)" in found.hits[0].chunk.text
    assert "secret" not in found.hits[0].chunk.text
    assert "people.md: kb/people.md" in found.text
    filtered = await listed.run({}, context(documents=frozenset({"kb/canteen.md"})))
    assert "There are 1 documents:\ncanteen.md" in filtered.hits[0].chunk.text
    assert (await listed.run({"start": 999}, context())).hits == ()


async def test_the_web_never_gets_words_that_only_the_files_hold() -> None:
    """Whatever a page or a file orders the model to tell a search provider."""
    held = [Hit(chunk=chunk("kb/secret.md", "The launch code is Zanthorp."), score=1.0, rank=1)]
    web = tools()["web"]
    with pytest.raises(ToolFailed, match="zanthorp is in the files and not in the question"):
        await web.run({"query": "lighthouse Zanthorp"}, context(held=held))
    assert (await web.run({"query": "lighthouse height in metres"}, context(held=held))).hits
    page = [Hit(chunk=chunk("web:1", "The lighthouse of Varnholm."), score=1.0, rank=1)]
    assert (await web.run({"query": "lighthouse Varnholm"}, context(held=page))).hits


def test_the_web_is_offered_only_where_this_question_may_use_it() -> None:
    web, base = tools()["web"], Query(text="x", knowledge_bases=frozenset({KnowledgeBaseId("kb")}))
    allowed = {
        use: web.is_offered(replace(base, web=use)) for use in ("never", "on_request", "if_nothing", "asked")
    }  # type: ignore[arg-type]
    assert allowed == {"never": False, "on_request": False, "if_nothing": True, "asked": True}
