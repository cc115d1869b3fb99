from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from rag_engine.citations.statements import Statement
from rag_engine.citations.verification import verify
from rag_engine.generation import passage_blocks, prompts, structured_reply
from rag_engine.generation.context_budget import messages_size
from rag_engine.generation.prompt_safety import neutral
from rag_engine.research.findings import Fact
from rag_engine.research.replies import FactsReply, SubqueriesReply, SufficiencyReply
from rag_engine.retrieval.queries.query_variants import plain_texts
from rag_engine.text import tokens
from rag_engine.types import Message, Prompt

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rag_engine.ports import Embedder, LanguageModel
    from rag_engine.research.findings import Findings, SubQuestion
    from rag_engine.types import ChunkId, Hit

SUBQUERIES: Final = "subqueries"
EXTRACT: Final = "extract"
SUFFICIENCY: Final = "sufficiency"
TASKS: Final = (SUBQUERIES, EXTRACT, SUFFICIENCY)
LONGEST_QUESTION: Final = 300
_LONGEST_FACT: Final = 400
_LONGEST_NOTE: Final = 200
_PASSAGE_TOKENS: Final = 600
_QUESTION_TOKENS: Final = 1_200
_KNOWN_TOKENS: Final = 1_500
_REPLY_TOKENS: Final = 768


async def planned(model: LanguageModel, question: str, *, most: int) -> tuple[str, ...]:
    """Raises the model's errors and `UnreadableReply`."""
    prompt = await asyncio.to_thread(_prompt, SUBQUERIES, [f"Questions: {most}.", _asked(question)])
    reply = await structured_reply.ask(model, prompt, SubqueriesReply, task=SUBQUERIES)
    found = plain_texts(reply.questions, longest=LONGEST_QUESTION)[:most]
    if not found:
        raise structured_reply.UnreadableReply("The plan holds no question.")
    return found


async def extracted(
    model: LanguageModel,
    embedder: Embedder,
    findings: Findings,
    part: SubQuestion,
    hits: Sequence[Hit],
    *,
    most: int,
) -> tuple[Fact, ...]:
    """Those that the passages support. Raises as `planned`."""
    blocks = [
        passage_blocks.passage(number, hit, _cut(hit.chunk.text, _PASSAGE_TOKENS))
        for number, hit in enumerate(hits, 1)
    ]
    known = _known(part for part in findings.parts if part.facts)
    pieces = [*blocks, *([f"Known so far:\n{known}"] if known else []), _asked(findings.question)]
    pieces.append(f"Facts: {most}.\nPart:\n{neutral(part.text, keep_markers=True)}")
    prompt = await asyncio.to_thread(_prompt, EXTRACT, pieces)
    reply = await structured_reply.ask(model, prompt, FactsReply, task=EXTRACT)
    said = {
        _line(one.fact): tuple(dict.fromkeys(n - 1 for n in one.passages if 0 < n <= len(hits)))
        for one in reply.facts
    }
    stated = {
        text: passages for text, passages in said.items() if 0 < len(text) <= _LONGEST_FACT and passages
    }
    return await _supported(dict(list(stated.items())[:most]), hits, findings.question, embedder)


async def judged(model: LanguageModel, findings: Findings, *, most: int) -> SufficiencyReply:
    """Raises as `planned`."""
    pieces = [f"Found:\n{_known(findings.parts)}", f"Questions: {most}.", _asked(findings.question)]
    prompt = await asyncio.to_thread(_prompt, SUFFICIENCY, pieces)
    reply = await structured_reply.ask(model, prompt, SufficiencyReply, task=SUFFICIENCY)
    return reply.model_copy(
        update={
            "questions": list(plain_texts(reply.questions, longest=LONGEST_QUESTION)),
            "missing": list(plain_texts(reply.missing, longest=_LONGEST_NOTE))[:most],
            "contradictions": list(plain_texts(reply.contradictions, longest=_LONGEST_FACT))[:most],
        }
    )


async def _supported(
    stated: dict[str, tuple[int, ...]], hits: Sequence[Hit], question: str, embedder: Embedder
) -> tuple[Fact, ...]:
    if not stated:
        return ()
    text = "\n".join(stated)
    starts = [0]
    for fact in stated:
        starts.append(starts[-1] + len(fact) + 1)
    listed = [
        Statement(
            start=start, end=start + len(fact), insertion=start + len(fact), words=fact, passages=(passage,)
        )
        for start, (fact, passages) in zip(starts, stated.items(), strict=False)
        for passage in passages
    ]
    verdicts = await verify(text, listed, hits, question=question, embedder=embedder)
    supporting: dict[str, dict[ChunkId, None]] = {}
    for one, verdict in zip(listed, verdicts, strict=True):
        if verdict.state in ("held", "unchecked") and not verdict.words:
            found = supporting.setdefault(one.words, {})
            found.update((hits[place].chunk.id, None) for place in verdict.passages)
    return tuple(Fact(text=fact, passages=tuple(found)) for fact, found in supporting.items() if found)


def _prompt(task: str, pieces: Sequence[str]) -> Prompt:
    messages = (
        Message(role="system", content=prompts.instructions(task)),
        Message(role="user", content="\n\n".join(pieces)),
    )
    size = messages_size(messages, tokens.estimate)
    return Prompt(messages=messages, tokens=size, reply_tokens=_REPLY_TOKENS)


def _asked(question: str) -> str:
    return f"Question:\n{neutral(_cut(question, _QUESTION_TOKENS), keep_markers=True)}"


def _known(parts: Iterator[SubQuestion] | Sequence[SubQuestion]) -> str:
    lines = [line for part in parts for line in _found(part)]
    return _cut("\n".join(lines), _KNOWN_TOKENS)


def _found(part: SubQuestion) -> Iterator[str]:
    yield f"Part: {neutral(part.text, keep_markers=True)}"
    for fact in part.facts:
        yield f"- {neutral(fact.text, keep_markers=True)}"
    if not part.facts:
        yield "- nothing found"


def _line(text: str) -> str:
    return " ".join(text.split())


def _cut(text: str, limit: int) -> str:
    return tokens.cut_middle(text, limit, count=tokens.estimate)
