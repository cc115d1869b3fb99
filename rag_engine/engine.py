"""Engine: answer, search. One engine serves many askers at once."""

from __future__ import annotations

import asyncio
import time
import uuid
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rag_engine import pipeline, replying
from rag_engine.analysis import query_tokens
from rag_engine.errors import QueryTooLong, RagError, UserError
from rag_engine.pipeline import Inquiry, NamedStep
from rag_engine.replying import Told
from rag_engine.summarizing.telling import said, summarised
from rag_engine.types import (
    Answer,
    AnswerEvent,
    Citation,
    ConversationId,
    Hit,
    Prompt,
    Query,
    Retrieval,
    Stage,
    Trace,
    Turn,
    TurnId,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

    from rag_engine.ports import Embedder, History, LanguageModel
    from rag_engine.summarizing.summaries import Summaries


_MOST_TRACED = 1_000
"""Passages: those of a summary are all of a document's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """`question_characters` is the longest question that is taken; `history_turns` is how many earlier turns are read.

    `first_text_seconds` is how long all models together may take until one has begun to answer.
    """

    question_characters: int = 20_000
    history_turns: int = 20
    first_text_seconds: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """What the steps find is told by the first model that answers; the last one needs no server and quotes."""

    search_steps: Sequence[NamedStep]
    """From a question to ranked hits."""
    prompt_steps: Sequence[NamedStep]
    """From ranked hits to a prompt."""
    models: Sequence[LanguageModel]
    embedder: Embedder
    history: History
    limits: Limits = Limits()
    prompt_steps_for: Callable[[LanguageModel], Sequence[NamedStep]] | None = None
    """The `prompt_steps` of another model than the first, whose window may be smaller."""
    summaries: Summaries | None = None
    """For whoever asks for a summary of documents; None: that is a question as any other."""
    _thinkers: set[str] = field(default_factory=set[str], init=False)

    async def search(self, query: Query) -> Retrieval:
        """The passages an answer would be made from, best first, with provenance."""
        inquiry = await self._run(await self._inquiry(query, remember=False), self.search_steps)
        return Retrieval(
            hits=inquiry.hits[: query.limit], fallbacks=inquiry.fallbacks, notices=inquiry.notices
        )

    async def answer(self, query: Query) -> AsyncGenerator[AnswerEvent]:
        """Stages, one `Retrieval`, deltas, one `Answer`. Close the iterator (`aclosing`) to stop: the model's connection ends.

        Raises `UserError` for a question that cannot be asked and `Unavailable` when nothing can be searched. A model that
        fails is no error: the next one answers, or the text so far stays, and a notice says so.
        """
        asked_at = time.time()
        inquiry = await self._inquiry(query, remember=True)
        told, started = None, time.perf_counter()
        async with aclosing(await self._telling(inquiry)) as telling:
            async for item in telling:
                if isinstance(item, Inquiry):
                    inquiry, started = item, time.perf_counter()
                elif isinstance(item, Told):
                    told = item
                else:
                    yield item
        if told is None:
            raise RuntimeError("a reply ended without saying what was told")
        inquiry = replace(
            inquiry, seconds={**inquiry.seconds, "answer": time.perf_counter() - started, **told.seconds}
        )
        yield await self._remember(inquiry, told, asked_at=asked_at)

    async def _telling(self, inquiry: Inquiry) -> AsyncGenerator[AnswerEvent | Inquiry | Told]:
        """The events of an answer but for the last: by summarising what is meant, or by searching."""
        if self.summaries is None:
            return self._searched(inquiry)
        started = time.perf_counter()
        planned = await self.summaries.planned(inquiry)
        if planned is None:
            return self._searched(inquiry)
        inquiry = replace(inquiry, route="summarise")
        inquiry = replace(inquiry, seconds={**inquiry.seconds, "plan": time.perf_counter() - started})
        if isinstance(planned, str):
            return said(planned, inquiry)
        return summarised(
            planned,
            inquiry,
            summaries=self.summaries,
            models=self.models,
            embedder=self.embedder,
            thinkers=self._thinkers,
            seconds=self.limits.first_text_seconds,
        )

    async def _searched(self, inquiry: Inquiry) -> AsyncGenerator[AnswerEvent | Inquiry | Told]:
        async for item in pipeline.run(inquiry, (*self.search_steps, *self.prompt_steps)):
            if isinstance(item, Stage):
                yield item
            else:
                inquiry = item
        prompt = _prompt(inquiry)
        yield Retrieval(hits=prompt.passages, fallbacks=inquiry.fallbacks, notices=inquiry.notices)
        yield Stage(name="answer", detail="Writing…")
        yield inquiry
        async with aclosing(
            replying.reply(
                prompt,
                models=self.models,
                embedder=self.embedder,
                thinkers=self._thinkers,
                seconds=self.limits.first_text_seconds,
                refit=lambda model: self._refit(inquiry, model),
            )
        ) as reply:
            async for item in reply:
                yield item

    async def _inquiry(self, query: Query, *, remember: bool) -> Inquiry:
        await _check(query, self.limits)
        started = time.perf_counter()
        history: list[Turn] = []
        if remember and query.conversation and self.limits.history_turns:
            history = await self.history.read(query.conversation, limit=self.limits.history_turns)
        seconds = {"history": time.perf_counter() - started}
        spoken = _merged(history, query.heard, most=self.limits.history_turns)
        return Inquiry(query=query, question=query.text, history=spoken, seconds=seconds)

    async def _run(self, inquiry: Inquiry, steps: Sequence[NamedStep]) -> Inquiry:
        async for item in pipeline.run(inquiry, steps):
            if isinstance(item, Inquiry):
                inquiry = item
        return inquiry

    async def _refit(self, inquiry: Inquiry, model: LanguageModel) -> Prompt:
        """The prompt for a further model: made anew where the first one's does not fit its window."""
        prompt = _prompt(inquiry)
        if self.prompt_steps_for is None or prompt.tokens + prompt.reply_tokens <= model.context_tokens:
            return prompt
        return _prompt(await self._run(inquiry, self.prompt_steps_for(model)))

    async def _remember(self, inquiry: Inquiry, told: Told, *, asked_at: float) -> Answer:
        """Write both turns and the trace in one transaction; an answer that cannot be kept is still an answer."""
        turn = inquiry.query.turn or TurnId(uuid.uuid4().hex)
        answer = Answer(
            turn=turn,
            text=told.text,
            citations=told.citations,
            grounded=bool(told.citations),
            timings=dict(inquiry.seconds),
            fallbacks=(*inquiry.fallbacks, *told.fallbacks),
            notices=(*inquiry.notices, *told.notices),
            model=told.model,
            prompt_tokens=_prompt(inquiry).tokens,
            route=inquiry.route,
        )
        conversation = inquiry.query.conversation or ConversationId(f"single:{turn}")
        asked = Turn(
            id=question_of(turn),
            conversation=conversation,
            role="user",
            text=inquiry.query.text,
            at=asked_at,
        )
        said = Turn(id=turn, conversation=conversation, role="assistant", text=told.text, at=time.time())
        try:
            await self.history.write([asked, said], _trace(inquiry, told, answer, asked))
        except RagError as error:  # a full disk, a damaged file: whatever it is, the answer is there
            notice = f"This answer could not be kept in the history: {error}"
            answer = replace(
                answer,
                fallbacks=(*answer.fallbacks, "history_unavailable"),
                notices=(*answer.notices, notice),
            )
        return answer


def question_of(answer: TurnId) -> TurnId:
    """The id of the turn that the answer of that id replies to."""
    return TurnId(f"{answer}-question")


async def _check(query: Query, limits: Limits) -> None:
    if len(query.text) > limits.question_characters:
        raise QueryTooLong(
            f"The question has {len(query.text):,} characters and at most {limits.question_characters:,} are taken: "
            "shorten it, or add the text as a file and ask about that."
        )
    if not await asyncio.to_thread(query_tokens, query.text):
        raise UserError("There are no words in this question that could be searched for: ask it in words.")


def _merged(history: Sequence[Turn], heard: Sequence[Turn], *, most: int) -> tuple[Turn, ...]:
    """The conversation with what others said in it, in the order of time; the latest `most`.

    A question and its answer stay together: what was said while the answer was written comes after it.
    """
    turns = sorted(heard, key=lambda turn: turn.at)
    merged: list[Turn] = []
    for turn in history:
        while turns and turn.role == "user" and turns[0].at < turn.at:
            merged.append(turns.pop(0))
        merged.append(turn)
    merged += turns
    return tuple(merged[-most:] if most else ())


def _prompt(inquiry: Inquiry) -> Prompt:
    if inquiry.prompt is None:
        raise ValueError("the pipeline has no step that makes a prompt")
    return inquiry.prompt


def _trace(inquiry: Inquiry, told: Told, answer: Answer, asked: Turn) -> Trace:
    prompt = told.prompt
    details = {
        **inquiry.details,
        "question": inquiry.query.text,
        "searched_for": inquiry.question,
        "route": inquiry.route,
        "scope": inquiry.query.scope,
        "model": told.model,
        "prompt_tokens": prompt.tokens,
        "reply_tokens": prompt.reply_tokens,
        "passages": [_passage(hit) for hit in prompt.passages[:_MOST_TRACED]],
        "citations": [_citation(citation) for citation in answer.citations],
        "citing": dict(told.citing),
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


def _passage(hit: Hit) -> dict[str, object]:
    legs = [{"leg": leg.leg, "rank": leg.rank, "score": leg.score} for leg in hit.legs]
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
