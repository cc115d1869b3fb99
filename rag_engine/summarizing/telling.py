"""A summary from its plan to what was told: one model after the other until one has read all parts, then its reply."""

from __future__ import annotations

import logging
import time
from collections import deque
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rag_engine import replying
from rag_engine.errors import ContentFiltered, RagError
from rag_engine.phrases import phrase
from rag_engine.replying import Told
from rag_engine.summarizing.summaries import STAGE, quoting
from rag_engine.types import Delta, Prompt, Retrieval, Stage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from rag_engine.pipeline import Inquiry
    from rag_engine.ports import Embedder, LanguageModel
    from rag_engine.summarizing.condensing import Condensed
    from rag_engine.summarizing.summaries import Plan, Summaries
    from rag_engine.types import AnswerEvent

_log = logging.getLogger(__name__)


async def said(sentence: str, inquiry: Inquiry) -> AsyncGenerator[AnswerEvent | Inquiry | Told]:
    """A sentence of ours, where there is nothing to summarise yet."""
    prompt = Prompt(messages=(), question=inquiry.query.text, scope=inquiry.query.scope)
    yield Retrieval(hits=())
    yield replace(inquiry, prompt=prompt)
    yield Delta(text=sentence)
    yield Told(text=sentence, citations=(), model="", prompt=prompt, notices=(), fallbacks=(), seconds={})


async def summarised(
    plan: Plan,
    inquiry: Inquiry,
    *,
    summaries: Summaries,
    models: Sequence[LanguageModel],
    embedder: Embedder,
    thinkers: set[str],
    seconds: float,
) -> AsyncGenerator[AnswerEvent | Inquiry | Told]:
    """A stage for each part that is read, then as `replying.reply`. Raises what the last model raises."""
    started = time.perf_counter()
    yield Stage(name=STAGE, detail="Reading…")
    chain = _Chain(summaries=summaries, plan=plan, models=deque(models), thinkers=thinkers)
    async with aclosing(chain.first()) as items:
        async for item in items:
            yield item
    condensed = chain.condensed
    inquiry = _prepared(inquiry, plan, condensed, seconds=time.perf_counter() - started)
    prompt = condensed.prompt
    yield Retrieval(hits=prompt.passages, fallbacks=inquiry.fallbacks, notices=inquiry.notices)
    yield Stage(name="answer", detail="Writing…")
    yield inquiry
    async with aclosing(
        replying.reply(
            prompt,
            models=tuple(chain.models),
            embedder=embedder,
            thinkers=thinkers,
            seconds=seconds,
            refit=chain.refit,
            last=quoting(plan),
            failures=chain.failures,
        )
    ) as reply:
        async for item in reply:
            yield item


@dataclass(slots=True, kw_only=True)
class _Chain:
    """The models that may still be asked; the first of them has read everything."""

    summaries: Summaries
    plan: Plan
    models: deque[LanguageModel]
    thinkers: set[str]
    failures: list[RagError] = field(default_factory=list[RagError])
    _condensed: Condensed | None = None

    @property
    def condensed(self) -> Condensed:
        """What the first model has read."""
        if self._condensed is None:
            raise RuntimeError("no model has read what is to be summarised")
        return self._condensed

    async def first(self) -> AsyncGenerator[Stage]:
        """Have one model after the other read, until one has. Raises what the last one raises."""
        while self._condensed is None:
            try:
                async with aclosing(
                    self.summaries.prompts(self.plan, self.models[0], thinkers=self.thinkers)
                ) as items:
                    async for item in items:
                        if isinstance(item, Stage):
                            yield item
                        else:
                            self._condensed = item
            except RagError as error:
                if len(self.models) == 1:
                    raise
                _log.warning("the language model %s did not read it: %s", self.models[0].name, error)
                self.failures.append(error)
                self.models.popleft()
                if isinstance(error, ContentFiltered):
                    self.models = deque([self.models[-1]])

    async def refit(self, model: LanguageModel) -> Prompt:
        """The prompt for a further model, which reads everything by itself."""
        if model is self.models[0]:
            return self.condensed.prompt
        async with aclosing(self.summaries.prompts(self.plan, model, thinkers=self.thinkers)) as items:
            async for item in items:
                if not isinstance(item, Stage):
                    return item.prompt
        raise RuntimeError("no prompt was made")


def _prepared(inquiry: Inquiry, plan: Plan, condensed: Condensed, *, seconds: float) -> Inquiry:
    notices = [*inquiry.notices, *plan.notices]
    if condensed.quoted:
        count = str(condensed.quoted)
        notices.append(phrase("parts_quoted", language=plan.task.language, count=count))
        inquiry = inquiry.falling_back("parts_quoted")
    if condensed.shortened:
        notices.append(phrase("sections_begun", language=plan.task.language))
        inquiry = inquiry.falling_back("sections_shortened")
    return replace(
        inquiry,
        prompt=condensed.prompt,
        notices=tuple(notices),
        seconds={**inquiry.seconds, STAGE: seconds},
    ).noting(
        documents=list(dict.fromkeys(hit.chunk.document for hit in plan.hits)),
        context="parts" if condensed.parts else "whole",
        parts=condensed.parts,
        passages_read=len(plan.hits),
        language=plan.task.language,
    )
