"""The answerer for when there is no language model: it quotes the sentences of the passages that fit the question best."""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from rag_engine.errors import ModelUnavailable, Unavailable
from rag_engine.language import detect
from rag_engine.models.extractive.candidates import candidates, quoted_cells
from rag_engine.models.extractive.parts import parts
from rag_engine.models.extractive.rows import asked_cells
from rag_engine.models.extractive.saying import quoted, said
from rag_engine.models.extractive.scoring import Overlap, Scored, choose, distinct, overlaps, question_terms
from rag_engine.models.extractive.summary import choose as choose_of_sections
from rag_engine.models.extractive.summary import draft
from rag_engine.months import months
from rag_engine.phrases import not_found, phrase
from rag_engine.untrusted import neutral

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Sequence

    from rag_engine.ports import Embedder, LanguageModel
    from rag_engine.summarizing.lengths import Wishes
    from rag_engine.types import Hit, Matrix, Prompt

logger = logging.getLogger(__name__)

_WINDOW = 1_000_000
_NAMED_TITLES = 3
_PASSAGES_OF_A_PART = 4
"""A part of a question has lost its subject: it is answered from the best passages of the whole question."""


class Settings(BaseModel):
    """How much is quoted."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sentences: int = Field(default=4, ge=1, le=20)
    """The most sentences in one answer."""
    embedded_sentences: int = Field(default=64, ge=1)
    """The most sentences whose meaning is compared with the question's: those that share most words with it."""
    summary_sentences: int = Field(default=160, ge=1)
    """The most sentences of a document whose meaning is compared for a summary; of a longer one their words decide."""


@asynccontextmanager
async def connect(settings: Settings, *, embedder: Embedder) -> AsyncGenerator[LanguageModel]:
    """An answerer that needs no server and no key."""
    yield _ExtractiveModel(settings, embedder)


class _ExtractiveModel:
    name = "extractive"
    context_tokens = _WINDOW

    def __init__(self, settings: Settings, embedder: Embedder) -> None:
        self._settings = settings
        self._embedder = embedder

    @asynccontextmanager
    async def stream(self, prompt: Prompt, *, task: str) -> AsyncGenerator[AsyncIterator[str]]:
        """The sentences one by one, each with the number of its passage. Any task but `answer` is `ModelUnavailable`."""
        if task != "answer":
            raise ModelUnavailable(f"There is no language model for the task {task!r}.")
        async with aclosing(self._answer(prompt)) as pieces:
            yield pieces

    async def _answer(self, prompt: Prompt) -> AsyncGenerator[str]:
        language = prompt.language or detect(prompt.question)
        if prompt.summary is not None:
            async for piece in self._summary(prompt, prompt.summary, language):
                yield piece
            return
        chosen = await self._choose(prompt)
        if not chosen:
            yield not_found(language=language, scope=prompt.scope, titles=_titles(prompt.passages))
            return
        yield phrase("extracted", language=language)
        if len(chosen) == 1 or any(item.candidate.is_code for item in chosen):
            for item in chosen:
                yield f"\n\n{quoted(item.candidate)}"
            return
        yield "\n"
        for item in chosen:
            yield f"\n- {quoted(item.candidate)}"

    async def _summary(self, prompt: Prompt, wishes: Wishes, language: str) -> AsyncGenerator[str]:
        """The most telling sentences of every section, under its heading."""
        made = await asyncio.to_thread(draft, prompt.passages, wishes)
        vectors = await self._vectors(made.texts)
        choices = await asyncio.to_thread(choose_of_sections, made, vectors, wishes)
        if not choices:
            yield not_found(language=language, scope=prompt.scope, titles=_titles(prompt.passages))
            return
        yield phrase("summarized", language=language)
        of = max(made.all_sections, prompt.sections)
        if made.all_sections > len(made.sections):
            yield f" {phrase('sections_joined', language=language, count=f'{of:,}')}"
        for line in said(choices):
            yield line

    async def _vectors(self, texts: list[str]) -> Matrix | None:
        """Of the sentences, where they are few enough and the embedder answers."""
        if not texts or len(texts) > self._settings.summary_sentences:
            return None
        try:
            return await self._embedder.embed(texts, side="passage")
        except Unavailable as error:
            logger.warning("Sentences are compared by their words alone: %s", error)
            return None

    async def _choose(self, prompt: Prompt) -> list[Scored]:
        """The sentences for the whole question; where it asks several things, first those for each of them."""
        asked = parts(prompt.question)
        if not all(question_terms(part) for part in asked):
            asked = (prompt.question,)
        most = self._settings.sentences
        whole = await self._choose_for(prompt.question, prompt.passages, most=most)
        if len(asked) == 1 or not whole:
            return whole
        nearest = prompt.passages[:_PASSAGES_OF_A_PART]
        answers = [await self._choose_for(part, nearest, most=1) for part in asked]
        return distinct([*(scored for answer in answers for scored in answer), *whole], most)

    async def _choose_for(self, question: str, passages: Sequence[Hit], *, most: int) -> list[Scored]:
        measured, possible = await asyncio.to_thread(_measure, question, passages)
        measured = sorted(measured, key=_promise)[: self._settings.embedded_sentences]
        cosines = await self._cosines(question, measured)
        terms, asked = question_terms(question), months(question)
        return [
            _to_the_point(scored, terms, asked, passages)
            for scored in choose(measured, possible, cosines, most=most)
        ]

    async def _cosines(self, question: str, measured: Sequence[Overlap]) -> list[float]:
        """Closeness of each candidate to the question; empty where the embedder does not answer: words then decide alone."""
        if not measured:
            return []
        texts = [item.candidate.text for item in measured]
        try:
            asked = await self._embedder.embed([question], side="query")
            said = await self._embedder.embed(texts, side="passage")
        except Unavailable as error:
            logger.warning("Sentences are compared by their words alone: %s", error)
            return []
        return [float(cosine) for cosine in said @ asked[0]]


def _to_the_point(
    scored: Scored, terms: Sequence[frozenset[str]], asked: frozenset[int], passages: Sequence[Hit]
) -> Scored:
    """Of a row only the cells that are asked about."""
    candidate = scored.candidate
    if not candidate.cells:
        return scored
    language = passages[candidate.passage].chunk.language
    cells = asked_cells(candidate.cells, terms, asked, language=language)
    return replace(scored, candidate=quoted_cells(candidate, cells))


def _measure(question: str, passages: Sequence[Hit]) -> tuple[list[Overlap], float]:
    found = [candidate for index, hit in enumerate(passages) for candidate in candidates(index, hit.chunk)]
    return overlaps(question_terms(question), found, passages)


def _promise(item: Overlap) -> tuple[float, int]:
    """Sorts the candidates that share most with the question first, those of better passages before others."""
    return -(item.own + item.with_context + item.with_passage), item.candidate.passage


def _titles(passages: Sequence[Hit]) -> tuple[str, ...]:
    """The first titles, no citations for being named."""
    titles = dict.fromkeys(
        neutral(hit.chunk.title, keep_markers=False) for hit in passages if hit.chunk.title
    )
    return tuple(titles)[:_NAMED_TITLES]
