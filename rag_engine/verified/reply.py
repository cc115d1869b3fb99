"""Without a language model."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from rag_engine.answer_events import Delta, Retrieval
from rag_engine.generation.generate import GeneratedReply
from rag_engine.generation.phrases import phrase
from rag_engine.generation.prompt_safety import neutral
from rag_engine.types import Citation, Prompt
from rag_engine.verified.question_match import has_same_words

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from rag_engine.answer_events import AnswerEvent
    from rag_engine.metadata.verified_answer import VerifiedAnswer, VerifiedMatch
    from rag_engine.pipeline import Inquiry

MODEL: Final = "verified"
_LONGEST_QUOTE: Final = 400


async def verified_events(
    match: VerifiedMatch, inquiry: Inquiry, *, language: str
) -> AsyncGenerator[AnswerEvent | Inquiry | GeneratedReply]:
    answer, chunk = match.answer, match.hit.chunk
    prompt = Prompt(messages=(), passages=(match.hit,))
    yield Retrieval(hits=prompt.passages, fallbacks=inquiry.fallbacks, notices=inquiry.notices)
    yield inquiry
    text = f"{_heading(answer.question, inquiry, language)}{answer.answer.rstrip()} [1]"
    yield Delta(text=text)
    citation = Citation(
        number=1,
        title=answer.question,
        anchor="",
        uri=answer.uri or chunk.uri,
        quote=chunk.text[:_LONGEST_QUOTE].rstrip(),
        document=answer.id,
        chunk=chunk.id,
    )
    yield GeneratedReply(
        text=text,
        citations=(citation,),
        model=MODEL,
        prompt=prompt,
        notices=marks(answer, language=language),
        fallbacks=(),
        seconds={},
        grounded=True,
        support_ratio=1.0,
        language="",
    )


def _heading(question: str, inquiry: Inquiry, language: str) -> str:
    if has_same_words(inquiry.query.text, question):
        return ""
    words = " ".join(neutral(question, keep_markers=False).split())
    return f"{phrase('verified_question', language=language, question=words)}\n\n"


def marks(answer: VerifiedAnswer, *, language: str) -> tuple[str, ...]:
    """Who verified it and when, and whether it may be outdated."""
    name = " ".join(answer.author.name.split()) or "?"
    shown = [phrase("verified_by", language=language, person=name, date=day(answer.written_at, language))]
    if answer.changed:
        titles = ", ".join(answer.changed)
        shown.append(phrase("verified_changed", language=language, titles=titles))
    elif answer.is_outdated(time.time()):
        shown.append(phrase("verified_due", language=language, date=day(answer.review_at, language)))
    return tuple(shown)


def day(at: float, language: str) -> str:
    """In UTC: `3 May 2026`, by its numbers in other languages."""
    moment = datetime.fromtimestamp(at, UTC)
    return f"{moment.day} {moment:%B %Y}" if language == "en" else moment.date().isoformat()
