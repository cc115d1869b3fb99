"""Passages by their place in the index, never their text."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from rag_engine.research.findings import Fact, Findings, SubQuestion
from rag_engine.types import ChunkId, DocumentId, Hit, KnowledgeBaseId

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rag_engine.pipeline import Inquiry
    from rag_engine.ports import IndexContents
    from rag_engine.research.budget import ResearchBudget
    from rag_engine.research.findings import Ending


class _Fact(BaseModel):
    text: str
    passages: tuple[str, ...]


class _Part(BaseModel):
    text: str
    round: int
    is_done: bool
    passages: tuple[str, ...]
    facts: tuple[_Fact, ...]
    faults: tuple[str, ...]


class _Place(BaseModel):
    id: str
    knowledge_base: str
    document: str
    ordinal: int
    score: float


class _Stored(BaseModel):
    model_config = ConfigDict(extra="ignore")

    question: str
    parts: tuple[_Part, ...]
    places: tuple[_Place, ...]
    missing: tuple[str, ...]
    contradictions: tuple[str, ...]
    refused: tuple[str, ...]
    faults: tuple[str, ...]
    ending: str
    calls: int
    searches: int
    tokens: int
    seconds: float


def dumped(findings: Findings, budget: ResearchBudget) -> str:
    stored = {
        "question": findings.question,
        "parts": [
            {
                "text": part.text,
                "round": part.round,
                "is_done": part.state in ("done", "failed"),
                "passages": part.passages,
                "facts": [{"text": fact.text, "passages": fact.passages} for fact in part.facts],
                "faults": part.faults,
            }
            for part in findings.parts
        ],
        "places": [
            {
                "id": hit.chunk.id,
                "knowledge_base": hit.chunk.knowledge_base,
                "document": hit.chunk.document,
                "ordinal": hit.chunk.ordinal,
                "score": hit.score,
            }
            for hit in findings.passages.values()
        ],
        "missing": findings.missing,
        "contradictions": findings.contradictions,
        "refused": findings.refused,
        "faults": findings.faults,
        "ending": findings.ending,
        **budget.as_json(),
    }
    return json.dumps(stored, ensure_ascii=False)


async def restored(
    text: str, inquiry: Inquiry, contents: IndexContents, budget: ResearchBudget
) -> Findings | None:
    """What the asker may still read, on the same question; continues `budget`. Raises the index's errors."""
    try:
        stored = _Stored.model_validate_json(text)
    except ValidationError:
        return None
    if stored.question != inquiry.question:
        return None
    passages = await _read(stored, inquiry, contents)
    budget.calls, budget.searches, budget.tokens = stored.calls, stored.searches, stored.tokens
    budget.earlier_seconds = stored.seconds
    parts = tuple(_part(part, passages) for part in stored.parts)
    is_whole = len(passages) == len(stored.places)
    findings = Findings(question=stored.question, parts=parts, passages=passages)
    return replace(
        findings,
        # They may repeat what can no longer be read.
        missing=stored.missing if is_whole else (),
        contradictions=stored.contradictions if is_whole else (),
        refused=stored.refused,
        faults=stored.faults,
        ending=cast("Ending", stored.ending),
    )


def _part(part: _Part, passages: Mapping[ChunkId, Hit]) -> SubQuestion:
    def known(ids: tuple[str, ...]) -> tuple[ChunkId, ...]:
        return tuple(ChunkId(one) for one in ids if ChunkId(one) in passages)

    return SubQuestion(
        text=part.text,
        round=part.round,
        state="done" if part.is_done else "waiting",
        passages=known(part.passages),
        facts=tuple(
            Fact(text=fact.text, passages=known(fact.passages))
            for fact in part.facts
            if known(fact.passages) == fact.passages
        ),
        faults=part.faults,
    )


async def _read(stored: _Stored, inquiry: Inquiry, contents: IndexContents) -> dict[ChunkId, Hit]:
    found: dict[ChunkId, Hit] = {}
    for place in stored.places:
        base, document = KnowledgeBaseId(place.knowledge_base), DocumentId(place.document)
        is_seen = inquiry.documents is None or document in inquiry.documents
        if base not in inquiry.query.knowledge_bases or not is_seen:
            continue
        chunks = await contents.chunks(base, document, limit=1, start=place.ordinal)
        for chunk in chunks:
            if chunk.id == place.id:
                found[chunk.id] = Hit(chunk=chunk, score=place.score, rank=len(found) + 1)
    return found
