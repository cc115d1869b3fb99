from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from rag_engine.metadata.conditions import described
from rag_engine.retrieval.queries.query_variants import is_same
from rag_engine.types import Answer, AnswerOptions, Stage, Trace

if TYPE_CHECKING:
    from rag_engine.generation.generate import GeneratedReply
    from rag_engine.pipeline import Inquiry
    from rag_engine.types import Citation, Evidence, Hit, Query, Turn, TurnId

_SHAKY = 0.5
_MOST_TRACED = 1_000


def evidence_of(inquiry: Inquiry, generated: GeneratedReply) -> Evidence:
    if inquiry.evidence and not generated.citations:
        return "none"
    is_shaky = generated.support_ratio < _SHAKY or bool(generated.unsupported)
    return "weak" if inquiry.evidence == "strong" and is_shaky else inquiry.evidence


def writing(inquiry: Inquiry, read: int) -> Stage:
    found = inquiry.found
    counts = f" {found.get('lexical', 0)} by words, {found.get('dense', 0)} by meaning, {read} read"
    return Stage(name="answer", detail=f"Writing…{counts if found else ''}", number=read, found=found)


def answer_of(inquiry: Inquiry, generated: GeneratedReply, turn: TurnId) -> Answer:
    return Answer(
        turn=turn,
        text=generated.text,
        citations=generated.citations,
        grounded=generated.grounded,
        support_ratio=generated.support_ratio,
        unsupported=generated.unsupported,
        timings=dict(inquiry.seconds),
        fallbacks=(*inquiry.fallbacks, *generated.fallbacks),
        notices=(*inquiry.notices, *generated.notices),
        model=generated.model,
        prompt_tokens=generated.prompt.tokens,
        route=inquiry.route,
        language=generated.language,
        repeatable=generated.repeatable,
        understood_as=_understood_as(inquiry),
        choices=_choices(inquiry),
        computed=generated.computed,
        corrections=inquiry.corrections,
        filtered_by=described(inquiry.filtered_by),
        evidence=evidence_of(inquiry, generated),
    )


def _understood_as(inquiry: Inquiry) -> str:
    understood = inquiry.understanding
    if understood is None or inquiry.route in ("chat", "clarify"):
        return ""
    return "" if is_same(understood.question, inquiry.query.text) else understood.question


def _choices(inquiry: Inquiry) -> tuple[str, ...]:
    understood = inquiry.understanding
    return understood.options if understood is not None and inquiry.route == "clarify" else ()


def answer_trace(inquiry: Inquiry, generated: GeneratedReply, answer: Answer, asked: Turn) -> Trace:
    prompt = generated.prompt
    details = {
        **inquiry.details,
        "question": inquiry.query.text,
        "history": [turn.id for turn in inquiry.history],
        "heard": sorted({turn.speaker for turn in inquiry.history if turn.speaker}),
        "searched_for": inquiry.question,
        "route": inquiry.route,
        "scope": inquiry.query.scope,
        "knowledge_bases": sorted(inquiry.query.knowledge_bases),
        "options": _options(inquiry.query),
        "model": generated.model,
        "prompt_tokens": prompt.tokens,
        "reply_tokens": prompt.reply_tokens,
        "passages": [_passage(hit) for hit in prompt.passages[:_MOST_TRACED]],
        # `footnote forget` finds traces by the documents that they name.
        "closest": [_passage(hit) for hit in inquiry.closest[:_MOST_TRACED]],
        "citations": [_citation(citation) for citation in answer.citations],
        "grounded": answer.grounded,
        "citing": dict(generated.citing),
        "notices": list(answer.notices),
    }
    return Trace(
        turn=answer.turn,
        conversation=asked.conversation,
        at=asked.at,
        seconds=answer.timings,
        fallbacks=answer.fallbacks,
        details=details,
    )


def _options(query: Query) -> dict[str, object]:
    usual = asdict(AnswerOptions())
    return {name: value for name, value in asdict(query.options).items() if value != usual[name]}


def _passage(hit: Hit) -> dict[str, object]:
    legs = [{"leg": leg.expansion or leg.leg, "rank": leg.rank, "score": leg.score} for leg in hit.legs]
    return {
        "document": hit.chunk.document,
        "chunk": hit.chunk.id,
        "title": hit.chunk.title,
        "anchor": hit.chunk.anchor,
        "score": hit.score,
        "legs": legs,
    }


def _citation(citation: Citation) -> dict[str, object]:
    return {
        "number": citation.number,
        "title": citation.title,
        "anchor": citation.anchor,
        "quote": citation.quote,
        "uri": citation.uri,
        "document": citation.document,
        "chunk": citation.chunk,
    }
