"""Answers without a language model: quotes the sentences that best match the question."""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from rag_engine.errors import Unavailable
from rag_engine.generation.closest import closest_titles, shown
from rag_engine.generation.phrases import not_found, phrase
from rag_engine.models.extractive.asked_facts import Unmet, unmet
from rag_engine.models.extractive.candidates import candidates, quotable, quoted_cells
from rag_engine.models.extractive.compose import list_lines, quoted
from rag_engine.models.extractive.contradictions import newest_first
from rag_engine.models.extractive.sentence_scores import (
    Overlap,
    Scored,
    choose,
    distinct,
    overlaps,
    question_terms,
)
from rag_engine.models.extractive.summary import choose as choose_of_sections
from rag_engine.models.extractive.summary import draft
from rag_engine.models.extractive.table_rows import asked_cells
from rag_engine.tables.rules import asks_for_figure
from rag_engine.text.language import detect
from rag_engine.text.language.months import months
from rag_engine.text.question_parts import parts

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Sequence

    from rag_engine.ports import Answerer, Embedder
    from rag_engine.summaries.length_and_language import LengthAndLanguage
    from rag_engine.types import AnswerRequest, Chunk, Hit, Matrix

logger = logging.getLogger(__name__)

_PASSAGES_OF_A_PART = 4
"""Parts of a question lack the subject: only the best passages of the whole question answer them."""


class Settings(BaseModel):
    """Quotes the best sentences, without a language model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sentences: int = Field(default=4, ge=1, le=20)
    """Maximum sentences in an answer."""
    embedded_sentences: int = Field(default=64, ge=1)
    """Maximum sentences compared with the question by meaning, those with the most shared words first."""
    summary_sentences: int = Field(default=160, ge=1)
    """Maximum sentences of a document compared by meaning for a summary; longer documents are compared by words."""


@asynccontextmanager
async def connect(settings: Settings, *, embedder: Embedder) -> AsyncGenerator[Answerer]:
    yield _ExtractiveAnswerer(settings, embedder)


class _ExtractiveAnswerer:
    name = "extractive"

    def __init__(self, settings: Settings, embedder: Embedder) -> None:
        self._settings = settings
        self._embedder = embedder

    @asynccontextmanager
    async def answer(self, request: AnswerRequest) -> AsyncGenerator[AsyncIterator[str]]:
        async with aclosing(self._answer(request)) as pieces:
            yield pieces

    async def _answer(self, request: AnswerRequest) -> AsyncGenerator[str]:
        language = request.language or detect(request.question)
        if request.summary is not None:
            async for piece in self._summary(request, request.summary, language):
                yield piece
            return
        chosen, further = await self._choose(request)
        if not chosen:
            yield request.empty_answer or not_found(
                language=language,
                scope=request.scope,
                titles=closest_titles(request.passages or request.closest, language=language),
                unmentioned=shown(request.unmentioned),
            )
            return
        chosen, unmentioned = await asyncio.to_thread(_about_the_question, request, chosen)
        chosen, difference = await asyncio.to_thread(newest_first, chosen, request.passages, request.dates)
        yield phrase("extracted", language=language)
        if difference:
            yield f" {phrase(difference, language=language)}"
        if unmentioned:
            yield f" {phrase('unmentioned', language=language, words=', '.join(shown(unmentioned)))}"
        if _are_rows_alone(request.question, chosen):
            yield f" {phrase('rows_alone', language=language)}"
        elif _are_rows_cut(chosen, further):
            yield f" {phrase('rows_cut', language=language)}"
        if len(chosen) == 1 or any(item.candidate.is_code for item in chosen):
            for item in chosen:
                yield f"\n\n{quoted(item.candidate)}"
            return
        yield "\n"
        for item in chosen:
            yield f"\n- {quoted(item.candidate)}"

    async def _summary(
        self, request: AnswerRequest, style: LengthAndLanguage, language: str
    ) -> AsyncGenerator[str]:
        made = await asyncio.to_thread(draft, request.passages, style)
        vectors = await self._vectors(made.texts)
        choices = await asyncio.to_thread(choose_of_sections, made, vectors, style)
        if not choices:
            yield not_found(
                language=language,
                scope=request.scope,
                titles=closest_titles(request.passages, language=language),
            )
            return
        yield phrase("summarized", language=language)
        of = max(made.all_sections, request.sections)
        if made.all_sections > len(made.sections):
            yield f" {phrase('sections_joined', language=language, count=of)}"
        for line in list_lines(choices):
            yield line

    async def _vectors(self, texts: list[str]) -> Matrix | None:
        if not texts or len(texts) > self._settings.summary_sentences:
            return None
        try:
            return await self._embedder.embed(texts, side="passage")
        except Unavailable as error:
            logger.warning("Sentences are compared by their words alone: %s", error)
            return None

    async def _choose(self, request: AnswerRequest) -> tuple[list[Scored], list[Scored]]:
        """And what there was no room for."""
        asked = parts(request.question)
        if not all(question_terms(part) for part in asked):
            asked = (request.question,)
        most = self._settings.sentences
        found = await self._choose_for(
            request.question, request.passages, most=most + 1, by_meaning=request.by_meaning
        )
        whole, further = found[:most], found[most:]
        if len(asked) == 1 or not whole:
            return whole, further
        nearest = request.passages[:_PASSAGES_OF_A_PART]
        answers = [await self._choose_for(part, nearest, most=1) for part in asked]
        return distinct([*(scored for answer in answers for scored in answer), *whole], most), further

    async def _choose_for(
        self, question: str, passages: Sequence[Hit], *, most: int, by_meaning: bool = False
    ) -> list[Scored]:
        measured, possible = await asyncio.to_thread(_measure, question, passages)
        measured = sorted(measured, key=_promise)[: self._settings.embedded_sentences]
        cosines = await self._cosines(question, measured)
        terms, asked = question_terms(question), months(question)
        return [
            _to_the_point(scored, terms, asked, passages)
            for scored in choose(measured, possible, cosines, most=most, by_meaning=by_meaning)
        ]

    async def _cosines(self, question: str, measured: Sequence[Overlap]) -> list[float]:
        if not measured:
            return []
        texts = [item.candidate.text for item in measured]
        try:
            asked = await self._embedder.embed([question], side="query")
            vectors = await self._embedder.embed(texts, side="passage")
        except Unavailable as error:
            logger.warning("Sentences are compared by their words alone: %s", error)
            return []
        return [float(cosine) for cosine in vectors @ asked[0]]


def _are_rows_alone(question: str, chosen: Sequence[Scored]) -> bool:
    rows = sum(bool(item.candidate.cells) for item in chosen)
    return rows > 0 and asks_for_figure(question, of_one_row=rows == 1)


def _are_rows_cut(chosen: Sequence[Scored], further: Sequence[Scored]) -> bool:
    rows = sum(bool(item.candidate.cells) for item in chosen)
    return rows > 1 and any(item.candidate.cells for item in further)


def _about_the_question(
    request: AnswerRequest, chosen: Sequence[Scored]
) -> tuple[list[Scored], tuple[str, ...]]:
    asked = (request.question, *parts(request.question))
    found = [_best_unmet(asked, item, request.passages[item.candidate.passage].chunk) for item in chosen]
    fitting = [(item, unmet) for item, unmet in zip(chosen, found, strict=True) if not unmet.others]
    kept = fitting or list(zip(chosen, found, strict=True))
    fewest = min((unmet for _, unmet in kept), key=lambda unmet: len(unmet.words))
    return [item for item, _ in kept], fewest.words


def _best_unmet(asked: Sequence[str], item: Scored, chunk: Chunk) -> Unmet:
    return min((unmet(part, item.candidate, chunk) for part in asked), key=lambda found: len(found.words))


def _to_the_point(
    scored: Scored, terms: Sequence[frozenset[str]], asked: frozenset[int], passages: Sequence[Hit]
) -> Scored:
    candidate = scored.candidate
    if not candidate.cells:
        return scored
    language = passages[candidate.passage].chunk.language
    cells = asked_cells(candidate.cells, terms, asked, language=language)
    return replace(scored, candidate=quoted_cells(candidate, cells))


def _measure(question: str, passages: Sequence[Hit]) -> tuple[list[Overlap], float]:
    chunks = [hit.chunk for hit in passages]
    found = [candidates(index, chunk) for index, chunk in enumerate(chunks)]
    return overlaps(question_terms(question), quotable(found, chunks), passages)


def _promise(item: Overlap) -> tuple[float, int]:
    return -(item.own + item.with_context + item.with_passage), item.candidate.passage
