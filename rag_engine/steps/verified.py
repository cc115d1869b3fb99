from __future__ import annotations

import logging
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from rag_engine.errors import RagError
from rag_engine.metadata.verified_answer import VerifiedMatch
from rag_engine.steps.fuse import judge_of
from rag_engine.types import Hit
from rag_engine.verified.best_match import QuestionMatcher

if TYPE_CHECKING:
    from rag_engine.metadata.verified_answer import VerifiedAnswer, VerifiedAnswers
    from rag_engine.pipeline import Inquiry
    from rag_engine.ports import IndexContents, Ports, Step

PHASE = "search"
POSITION = 45
STATUS = ""

_log = logging.getLogger(__name__)


class Settings(BaseModel):
    """Answers with the words of a person who verified them, if the question is the same."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = True
    """False: verified answers are passages like others."""


def build(settings: Settings, ports: Ports) -> Step:
    matcher = QuestionMatcher(embedder=ports.embedder, contrast=judge_of(ports.embedder).contrast)
    answers = ports.verified if settings.enabled else None
    has_model = ports.model is not None
    return partial(put_first, answers=answers, contents=ports.contents, matcher=matcher, has_model=has_model)


async def put_first(
    inquiry: Inquiry,
    *,
    answers: VerifiedAnswers | None,
    contents: IndexContents | None,
    matcher: QuestionMatcher,
    has_model: bool,
) -> Inquiry:
    if answers is None or contents is None or inquiry.route != "search":
        return inquiry
    known = [
        each
        for each in await answers.read(inquiry.query.knowledge_bases)
        if inquiry.documents is None or each.id in inquiry.documents
    ]
    if not known:
        return inquiry
    asked = tuple(filter(None, (inquiry.question, inquiry.wording)))
    try:
        found = await matcher.compare(asked, known, shown={hit.chunk.document for hit in inquiry.hits})
        hit = await _first_passage(found.best, contents)
    except RagError as error:
        _log.warning("verified answers were not compared with the question: %s", type(error).__name__)
        return inquiry.falling_back("verified_unavailable")
    # Without its question it may seem to answer another one.
    unfit = found.others if has_model else {each.id for each in known}
    inquiry = replace(inquiry, hits=tuple(each for each in inquiry.hits if each.chunk.document not in unfit))
    if found.best is None or hit is None:
        return inquiry
    others = (each for each in inquiry.hits if each.chunk.document != found.best.id)
    hits = [replace(each, rank=rank) for rank, each in enumerate((hit, *others), 1)]
    outdated = found.best.is_outdated(time.time())
    noted = inquiry.noting(verified={"document": found.best.id, "outdated": outdated})
    return replace(
        noted,
        hits=tuple(hits[: inquiry.query.limit]),
        verified=VerifiedMatch(answer=found.best, hit=hit),
        evidence="weak" if outdated else "strong",
    )


async def _first_passage(answer: VerifiedAnswer | None, contents: IndexContents) -> Hit | None:
    if answer is None:
        return None
    chunks = await contents.chunks(answer.knowledge_base, answer.id, limit=1)
    return Hit(chunk=chunks[0], score=1.0, rank=1) if chunks else None
