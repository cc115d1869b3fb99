"""Messages that the platform finds, beside the files: used, cited, and what goes wrong."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import pytest

from rag_engine.embedders import hashing
from rag_engine.errors import Unavailable
from rag_engine.pipeline import Inquiry
from rag_engine.ports import Ports
from rag_engine.retrieval.found_messages import FoundMessage
from rag_engine.steps import fuse
from rag_engine.steps.messages import Settings, add_messages
from rag_engine.types import Chunk, ChunkId, DocumentId, Hit, KnowledgeBaseId, Query
from rag_engine.web.addresses import is_outside
from tests.unit.steps.shelf import Shelf

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from rag_engine.ports import Index
    from rag_engine.retrieval.found_messages import FindMessages

pytestmark = pytest.mark.asyncio

ASKED = "What is the gangway password?"
SAID = FoundMessage(
    uri="https://acme.slack.com/archives/C1/p1",
    title="#general",
    author="Ben",
    text="The gangway password is marmalade.",
    at=1_790_000_000.0,
)
OTHER = replace(SAID, uri="https://acme.slack.com/archives/C1/p2", text="Lunch is at noon on Fridays.")


@pytest.fixture
async def ports(tmp_path: Path) -> AsyncIterator[Ports]:
    async with hashing.connect(hashing.Settings(), data_dir=tmp_path) as embedder:
        yield Ports(embedder=embedder, index=cast("Index", Shelf()))


async def added(
    ports: Ports,
    find: FindMessages,
    *,
    files: Sequence[Hit] = (),
    context: Sequence[Hit] = (),
    **settings: float,
) -> Inquiry:
    query = Query(text=ASKED, knowledge_bases=frozenset({KnowledgeBaseId("kb")}), messages=find)
    inquiry = Inquiry(query=query, question=ASKED, hits=tuple(files), context=tuple(context))
    chosen = Settings.model_validate(settings)
    return await add_messages(inquiry, settings=chosen, ports=ports, trust=fuse.judge_of(ports.embedder))


async def test_the_message_that_answers_comes_first_with_author_time_and_permalink(ports: Ports) -> None:
    async def find(question: str, limit: int) -> Sequence[FoundMessage]:
        assert (question, limit) == (ASKED, 20)
        return [OTHER, SAID]

    found = await added(ports, find)
    first = found.hits[0].chunk
    assert (first.text, first.uri, first.title) == (SAID.text, SAID.uri, "#general · Ben")
    assert first.anchor == "message, 2026-09-21 14:13 UTC"
    assert is_outside(first.document)
    assert SAID.text not in repr(found.details)


async def test_no_more_than_the_setting_allows(ports: Ports) -> None:
    async def find(question: str, limit: int) -> Sequence[FoundMessage]:
        return [replace(SAID, uri=f"https://acme.slack.com/{number}") for number in range(20)]

    assert len((await added(ports, find, passages=2)).hits) == 2


async def test_a_failure_and_a_slow_platform_are_one_sentence(ports: Ports) -> None:
    async def refuse(question: str, limit: int) -> Sequence[FoundMessage]:
        raise Unavailable("Slack limits it now.", backend="chat", reason="failed")

    async def hang(question: str, limit: int) -> Sequence[FoundMessage]:
        await asyncio.Event().wait()
        return []

    for failed in (await added(ports, refuse), await added(ports, hang, seconds=0.05)):
        assert failed.notices == ("Messages could not be searched this time.",)
        assert failed.fallbacks == ("messages_unavailable",)
        assert failed.hits == ()


async def test_only_what_is_searched_is_searched_in_messages_too_and_once(ports: Ports) -> None:
    asked: list[str] = []

    async def find(question: str, limit: int) -> Sequence[FoundMessage]:
        asked.append(question)
        return [SAID]

    found = await added(ports, find)
    trust = fuse.judge_of(ports.embedder)
    for inquiry in (found, replace(found, details={}, route="chat")):
        again = await add_messages(inquiry, settings=Settings(), ports=ports, trust=trust)
        assert again == inquiry
    assert asked == [ASKED]


def of_file(rank: int, name: str = "") -> Hit:
    chunk = Chunk(
        id=ChunkId(name or f"file{rank}"),
        document=DocumentId("d"),
        knowledge_base=KnowledgeBaseId("kb"),
        ordinal=rank,
        text="The gangway is steep.",
        title="handbook.md",
    )
    return Hit(chunk=chunk, score=0.9, rank=rank)


async def two(question: str, limit: int) -> Sequence[FoundMessage]:
    return [SAID, replace(SAID, uri=f"{SAID.uri}9", text="Ask Ann for the gangway password.")]


@pytest.mark.parametrize(
    ("weight", "order"),
    [(0.98, "ffmfmf"), (1.0, "fmfmff"), (0.9, "ffffmm")],
)
async def test_they_are_fused_with_the_files_by_rank_and_weight(
    ports: Ports, weight: float, order: str
) -> None:
    files = [of_file(rank) for rank in range(1, 5)]
    found = await added(ports, two, files=files, weight=weight)
    assert "".join("m" if is_outside(hit.chunk.document) else "f" for hit in found.hits) == order
    assert [hit.rank for hit in found.hits] == [1, 2, 3, 4, 5, 6]
    assert [hit.chunk.id for hit in found.hits if not is_outside(hit.chunk.document)] == [
        hit.chunk.id for hit in files
    ]
    noted = cast("dict[str, list[dict[str, int]]]", found.details["messages"])["passages"]
    assert [each["rank"] for each in noted] == [at for at, kind in enumerate(order, 1) if kind == "m"]


async def test_what_the_model_reads_keeps_its_order_and_its_neighbours(ports: Ports) -> None:
    files = [of_file(rank) for rank in range(1, 4)]
    context = [*files, of_file(0, "beside"), of_file(4)]
    found = await added(ports, two, files=files, context=context)
    shown = ["m" if is_outside(hit.chunk.document) else str(hit.chunk.id) for hit in found.context]
    assert shown == ["file1", "file2", "m", "file3", "m", "beside", "file4"]
    assert [hit.rank for hit in found.context] == [1, 2, 3, 4, 5, 0, 6]


async def test_no_weight_is_above_the_files(ports: Ports) -> None:
    with pytest.raises(ValueError, match="less than or equal to 1"):
        await added(ports, two, weight=1.1)
