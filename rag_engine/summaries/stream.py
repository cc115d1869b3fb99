from __future__ import annotations

import logging
import time
from collections import deque
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rag_engine.errors import ContentFiltered, RagError
from rag_engine.generation import generate
from rag_engine.generation.generate import GeneratedReply
from rag_engine.generation.phrases import phrase
from rag_engine.summaries.map_reduce import Condensed
from rag_engine.summaries.plan import STAGE, quoting
from rag_engine.types import Delta, Prompt, Retrieval, Stage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from rag_engine.pipeline import Inquiry
    from rag_engine.ports import Answerer, Embedder, LanguageModel
    from rag_engine.summaries.plan import Plan, Sentence, Summaries
    from rag_engine.types import AnswerEvent

_log = logging.getLogger(__name__)


async def sentence_events(
    sentence: Sentence, inquiry: Inquiry
) -> AsyncGenerator[AnswerEvent | Inquiry | GeneratedReply]:
    prompt = Prompt(messages=())
    yield Retrieval(hits=())
    named = [record.document.id for record in sentence.documents]
    yield replace(inquiry, prompt=prompt).noting(documents=named)
    yield Delta(text=sentence.text)
    yield GeneratedReply(
        text=sentence.text,
        citations=(),
        model="",
        prompt=prompt,
        notices=(),
        fallbacks=(),
        seconds={},
        language=sentence.language or "en",
        repeatable=sentence.is_provisional,
    )


async def summarised(
    plan: Plan,
    inquiry: Inquiry,
    *,
    summaries: Summaries,
    models: Sequence[LanguageModel],
    answerer: Answerer,
    embedder: Embedder,
    thinkers: set[str],
    seconds: float,
) -> AsyncGenerator[AnswerEvent | Inquiry | GeneratedReply]:
    """A stage per part, then like `generate.reply`. Raises the answerer's errors."""
    started = time.perf_counter()
    yield Stage(name=STAGE, detail="Reading…")
    request = quoting(plan)
    chain = _Chain(summaries=summaries, plan=plan, models=deque(models), thinkers=thinkers)
    async with aclosing(chain.first()) as items:
        async for item in items:
            yield item
    condensed = chain.condensed or Condensed(prompt=Prompt(messages=(), passages=request.passages))
    inquiry = _prepared(inquiry, plan, condensed, seconds=time.perf_counter() - started)
    prompt = condensed.prompt
    yield Retrieval(hits=prompt.passages, fallbacks=inquiry.fallbacks, notices=inquiry.notices)
    yield Stage(name="answer", detail="Writing…")
    yield inquiry
    async with aclosing(
        generate.reply(
            prompt,
            request,
            models=tuple(chain.models),
            answerer=answerer,
            embedder=embedder,
            thinkers=thinkers,
            seconds=seconds,
            refit=chain.refit,
            failures=chain.failures,
        )
    ) as reply:
        async for item in reply:
            yield item


@dataclass(slots=True, kw_only=True)
class _Chain:
    summaries: Summaries
    plan: Plan
    models: deque[LanguageModel]
    thinkers: set[str]
    failures: list[RagError] = field(default_factory=list[RagError])
    condensed: Condensed | None = None

    async def first(self) -> AsyncGenerator[Stage]:
        while self.models and self.condensed is None:
            try:
                async with aclosing(
                    self.summaries.prompts(self.plan, self.models[0], thinkers=self.thinkers)
                ) as items:
                    async for item in items:
                        if isinstance(item, Stage):
                            yield item
                        else:
                            self.condensed = item
            except RagError as error:
                _log.warning(
                    "the language model %s could not read the documents: %s", self.models[0].name, error
                )
                self.failures.append(error)
                self.models.popleft()
                if isinstance(error, ContentFiltered):
                    self.models.clear()

    async def refit(self, model: LanguageModel) -> Prompt:
        if self.condensed is not None and model is self.models[0]:
            return self.condensed.prompt
        async with aclosing(self.summaries.prompts(self.plan, model, thinkers=self.thinkers)) as items:
            async for item in items:
                if not isinstance(item, Stage):
                    return item.prompt
        raise RuntimeError("no prompt was made")


def _prepared(inquiry: Inquiry, plan: Plan, condensed: Condensed, *, seconds: float) -> Inquiry:
    notices = [*inquiry.notices, *plan.notices]
    if condensed.quoted:
        notices.append(phrase("parts_quoted", language=plan.task.language, count=condensed.quoted))
        inquiry = inquiry.falling_back("parts_quoted")
    if condensed.shortened:
        notices.append(phrase("sections_shortened", language=plan.task.language))
        inquiry = inquiry.falling_back("sections_shortened")
    return replace(
        inquiry,
        prompt=condensed.prompt,
        notices=tuple(notices),
        seconds={**inquiry.seconds, STAGE: seconds},
    ).noting(
        documents=list(plan.documents),
        context="parts" if condensed.parts else "whole",
        parts=condensed.parts,
        passages_read=len(plan.hits),
        language=plan.task.language,
    )
