"""An engine with prepared hits and scripted models."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from rag_engine.embedders import hashing
from rag_engine.engine import Engine, Limits
from rag_engine.models.scripted import ScriptedLine, ScriptedModel
from rag_engine.pipeline import Inquiry, NamedStep
from rag_engine.types import (
    ConversationId,
    KnowledgeBaseId,
    Message,
    Prompt,
    Query,
)
from tests.unit.prompting import ScriptedAnswerer, passage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from pathlib import Path

    from rag_engine.errors import RagError
    from rag_engine.ports import History, LanguageModel
    from rag_engine.types import AnswerEvent, Hit


HITS = (
    passage("The notice period is four weeks.", rank=1, title="contract.pdf", anchor="p. 2"),
    passage("Leave is 28 days a year.", rank=2, title="handbook.pdf", anchor="p. 3"),
)


QUERY = Query(
    text="How long is the notice period?",
    knowledge_bases=frozenset({KnowledgeBaseId("kb")}),
    conversation=ConversationId("c"),
    scope="handbook",
)


@asynccontextmanager
async def engine(
    history: History,
    models: Sequence[LanguageModel],
    tmp_path: Path,
    *,
    hits: tuple[Hit, ...] = HITS,
    answerer: ScriptedAnswerer | None = None,
) -> AsyncGenerator[Engine]:
    async def find(inquiry: Inquiry) -> Inquiry:
        return replace(inquiry, hits=hits)

    async def pack(inquiry: Inquiry) -> Inquiry:
        told = [turn.text for turn in inquiry.history]
        messages = (Message(role="user", content="\n".join([*told, inquiry.question])),)
        return replace(inquiry, prompt=Prompt(messages=messages, passages=inquiry.hits))

    async with hashing.connect(hashing.Settings(), data_dir=tmp_path) as embedder:
        yield Engine(
            search_steps=[NamedStep(name="find", run=find, status="Searching…")],
            prompt_steps=[NamedStep(name="pack", run=pack)],
            models=models,
            answerer=answerer or ScriptedAnswerer("Four weeks [1]."),
            embedder=embedder,
            history=history,
            limits=Limits(question_characters=1000),
        )


async def events(running: Engine, query: Query = QUERY) -> list[AnswerEvent]:
    async with asyncio.timeout(10), aclosing(running.answer(query)) as answering:
        return [event async for event in answering]


def saying(
    *pieces: str, fault: RagError | None = None, gates: tuple[asyncio.Event, ...] = ()
) -> ScriptedModel:
    return ScriptedModel([ScriptedLine(pieces=pieces, fault=fault, gates=gates)])
