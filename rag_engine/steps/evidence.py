"""Decides before writing whether the passages answer."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict, Field

from rag_engine.errors import Unavailable
from rag_engine.evidence.close_sentence import compared
from rag_engine.evidence.features import share_mentioned
from rag_engine.evidence.verdict import asked_wordings, judge
from rag_engine.retrieval.queries.follow_ups import continues
from rag_engine.steps.fuse import judge_of
from rag_engine.text.language import detect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag_engine.evidence.close_sentence import SentenceCosines
    from rag_engine.evidence.verdict import EvidenceVerdict
    from rag_engine.pipeline import Inquiry
    from rag_engine.ports import Embedder, Ports, Step
    from rag_engine.steps.fuse import LegTrust
    from rag_engine.types import Hit, Ranking

PHASE = "prompt"
POSITION = 5
STATUS = ""

_JUDGED = "evidence_judged"
_HELD = 0.5
"""Of a message's words, in the hits."""
_KNOWN: Final = 0.8
"""Of a text's words, by an embedder that knows its language."""
_SOMEWHAT_KNOWN: Final = 0.3
_PATIENCE: Final = 5.0


class Settings(BaseModel):
    """Says "not found" in place of an answer from passages that do not answer."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = True
    """False: every question with hits is answered."""
    # Refuses at most 8 % of answerable questions in `python -m benchmarks.answers.evidence`, in each
    # language.
    line: float = Field(default=0.4, ge=0, le=1)
    """The least probability, from 0 to 1, that the passages answer; a higher one finds more questions unanswerable."""
    strong: float = Field(default=0.6, ge=0, le=1)
    """From this probability on the evidence is called strong."""
    line_with_model: float = Field(default=0.2, ge=0, le=1)
    """The same where a language model writes, which also says so itself if the passages do not answer."""


def build(settings: Settings, ports: Ports) -> Step:
    return partial(
        weigh,
        settings=settings,
        has_model=ports.model is not None,
        embedder=ports.embedder,
        trust=judge_of(ports.embedder),
    )


async def weigh(
    inquiry: Inquiry, *, settings: Settings, has_model: bool, embedder: Embedder, trust: LegTrust
) -> Inquiry:
    """Below the line the hits become `closest`.

    A model with room for the whole scope, or asked to read whole files, reads all of it.
    """
    is_judged = _JUDGED in inquiry.details or inquiry.route in ("research", "agent")
    if not settings.enabled or not inquiry.hits or is_judged:
        return inquiry
    if has_model and (inquiry.query.options.whole_files or _found(inquiry) <= inquiry.query.limit):
        return inquiry
    line = settings.line_with_model if has_model else settings.line
    wordings, rankings = await asyncio.to_thread(_judged_readings, inquiry)
    verdict = await judged(
        wordings,
        inquiry.hits,
        rankings,
        embedder=None if has_model else embedder,
        trust=trust,
        reranked=_reranked(inquiry),
    )
    if verdict is None:
        return inquiry
    is_answered = verdict.probability >= line or verdict.by_sentence
    return _decided(
        inquiry,
        verdict,
        {**verdict.as_json(), "line": line, "answered": is_answered},
        is_strong=verdict.probability >= settings.strong,
        line=line,
    )


async def judged(
    wordings: Sequence[str],
    hits: Sequence[Hit],
    rankings: Sequence[Ranking],
    *,
    embedder: Embedder | None,
    trust: LegTrust,
    reranked: float | None = None,
) -> EvidenceVerdict | None:
    """With `embedder`, sentences are compared: a language model does not wait for them."""
    is_dense = any(ranking.leg == "dense" and ranking.hits for ranking in rankings)
    contrast = await trust.contrast() if is_dense else 1.0
    asked = asked_wordings(wordings, rankings)
    said: Mapping[str, SentenceCosines] | None = None
    if embedder is not None and is_dense and reranked is None and await trust.knows_meaning():
        known = [question for question in asked if trust.familiarity(question) >= _SOMEWHAT_KNOWN]
        said = await _said(known, hits, embedder=embedder, contrast=contrast)
    verdict = await asyncio.to_thread(
        judge,
        asked,
        hits,
        familiarity=trust.familiarity,
        contrast=contrast,
        said=said,
        reranked=reranked,
    )
    if verdict is None or not said or verdict.question not in said:
        return verdict
    is_known = is_familiar(verdict.question, hits, trust)
    return replace(verdict, by_sentence=is_known and said[verdict.question].is_answer and _has_all(verdict))


async def _said(
    questions: Sequence[str], hits: Sequence[Hit], *, embedder: Embedder, contrast: float
) -> Mapping[str, SentenceCosines] | None:
    try:
        async with asyncio.timeout(_PATIENCE):
            return await compared(questions, hits, embedder=embedder, contrast=contrast)
    except (Unavailable, TimeoutError):
        return None


def is_familiar(question: str, hits: Sequence[Hit], trust: LegTrust) -> bool:
    """Short questions show less than a passage in their language."""
    best = hits[0].chunk
    same = detect(question) in ("", best.language)
    return max(trust.familiarity(question), trust.familiarity(best.text) if same else 0.0) >= _KNOWN


def _has_all(verdict: EvidenceVerdict) -> bool:
    features = verdict.reading.features
    return not features.names_missing and not features.figures_missing


def _decided(
    inquiry: Inquiry, verdict: EvidenceVerdict, details: dict[str, object], *, is_strong: bool, line: float
) -> Inquiry:
    judged = inquiry.noting(**{_JUDGED: details})
    if details["answered"]:
        return replace(
            judged,
            evidence="strong" if is_strong else "weak",
            by_meaning=verdict.by_sentence and verdict.probability < line,
            wording=verdict.question if verdict.question in inquiry.wordings else inquiry.wording,
        )
    return replace(
        judged, hits=(), evidence="none", closest=inquiry.hits, unmentioned=verdict.reading.unmentioned
    )


def _judged_readings(inquiry: Inquiry) -> tuple[tuple[str, ...], Sequence[Ranking]]:
    """Not the words of earlier questions if the files have nothing on what is asked now: they would answer for it."""
    asked = inquiry.query.text
    wordings = tuple(dict.fromkeys((inquiry.question, asked, *inquiry.wordings)))
    if not inquiry.beside or (inquiry.understanding and inquiry.understanding.question):
        return wordings, inquiry.rankings
    is_corrected = any(word.casefold() in asked.casefold() for word in inquiry.corrections)
    is_held = share_mentioned(asked, inquiry.rankings) >= _HELD
    if is_corrected or is_held or continues(asked):
        return wordings, inquiry.rankings
    joined = inquiry.question if inquiry.beside == asked else inquiry.beside
    own = [
        ranking for ranking in inquiry.rankings if (ranking.query or inquiry.question) != joined
    ] or inquiry.rankings
    return (asked,), own


def _found(inquiry: Inquiry) -> int:
    return len({hit.chunk.id for ranking in inquiry.rankings for hit in ranking.hits})


def _reranked(inquiry: Inquiry) -> float | None:
    best: Hit = inquiry.hits[0]
    return min(max(best.score, 0.0), 1.0) if "reranked" in inquiry.details else None
