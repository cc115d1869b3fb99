from __future__ import annotations

import logging
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Literal, Protocol, cast

from rag_engine.errors import RagError
from rag_engine.generation.phrases import phrase
from rag_engine.research.budget import ResearchBudget, ResearchLimits
from rag_engine.research.findings import Findings
from rag_engine.research.loop import STAGE, ResearchLoop
from rag_engine.research.stored_findings import dumped, restored
from rag_engine.text.language import question_language

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence

    from rag_engine.generation.phrases import Phrase
    from rag_engine.pipeline import Inquiry, NamedStep
    from rag_engine.ports import Embedder, IndexContents, LanguageModel
    from rag_engine.types import ConversationId, DocumentId, Hit, Stage, TurnId

    SearchSteps = Callable[[Inquiry], Awaitable[Inquiry]]

_LIMITS = ResearchLimits()

_log = logging.getLogger(__name__)


class FindingsStore(Protocol):
    async def read(self, turn: TurnId) -> str: ...

    async def write(self, turn: TurnId, conversation: ConversationId, state: str) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Research:
    embedder: Embedder
    contents: IndexContents
    store: FindingsStore
    task_models: Mapping[str, LanguageModel] = field(default_factory=dict[str, "LanguageModel"])
    limits: ResearchLimits = _LIMITS
    automatic: bool = True
    """Whether a language model may choose it."""

    def takes(self, inquiry: Inquiry) -> bool:
        return self.automatic or inquiry.query.options.research

    async def run(
        self, inquiry: Inquiry, search: SearchSteps, *, model: LanguageModel
    ) -> AsyncGenerator[Stage | Inquiry]:
        """Stages with the plan, then what was found."""
        budget = ResearchBudget(limits=self.limits)
        findings = await self._begun(inquiry, budget)
        budget.searches += 1
        loop = ResearchLoop(
            findings=findings,
            model=model,
            task_models=self.task_models,
            embedder=self.embedder,
            budget=budget,
            search=partial(found_for, inquiry, search, self.limits.read),
            keep=partial(self._keep, inquiry, budget),
        )
        async with aclosing(loop.run()) as stages:
            async for stage in stages:
                yield stage
        yield _reported(inquiry, loop.findings, budget)

    async def _begun(self, inquiry: Inquiry, budget: ResearchBudget) -> Findings:
        fresh = Findings(question=inquiry.question)
        if inquiry.query.turn is None:
            return fresh
        try:
            stored = await self.store.read(inquiry.query.turn)
            return (stored and await restored(stored, inquiry, self.contents, budget)) or fresh
        except RagError as error:
            _log.warning("an interrupted research run starts again: %s", error)
            return fresh

    async def _keep(self, inquiry: Inquiry, budget: ResearchBudget, findings: Findings) -> None:
        query = inquiry.query
        if query.turn is None or query.conversation is None:
            return
        try:
            await self.store.write(query.turn, query.conversation, dumped(findings, budget))
        except RagError as error:
            _log.warning("the findings of a research run could not be stored: %s", error)


def from_one_search(inquiry: Inquiry, *, without: Literal["research", "tools"], has_model: bool) -> Inquiry:
    inquiry = replace(inquiry, route="search")
    if has_model:
        return inquiry
    query = inquiry.query
    name: Phrase = "research_needs_model" if without == "research" else "tools_need_model"
    notice = phrase(name, language=question_language(query.text, chosen=query.language))
    return replace(inquiry.falling_back(f"{without}_without_model"), notices=(*inquiry.notices, notice))


def sub_search(search_steps: Sequence[NamedStep], prompt_steps: Sequence[NamedStep]) -> list[NamedStep]:
    """What does not answer a sub-question is left out."""
    searching = [step for step in search_steps if step.name != "understand"]
    return [*searching, *(step for step in prompt_steps if step.name in ("evidence", "web"))]


def spent(inquiry: Inquiry) -> dict[str, object]:
    noted = inquiry.details.get("research")
    return {**cast("dict[str, object]", noted)} if isinstance(noted, dict) else {}


async def found_for(
    inquiry: Inquiry,
    search: SearchSteps,
    most: int,
    text: str,
    *,
    documents: frozenset[DocumentId] | None = None,
) -> Sequence[Hit]:
    """With the asker's audience and filters; `documents` can only narrow them."""
    allowed = inquiry.documents
    chosen = allowed if documents is None else documents if allowed is None else documents & allowed
    if chosen == frozenset():
        return ()
    query = replace(inquiry.query, text=text, conversation=None, other_turns=(), turn=None, files=())
    asked = replace(
        inquiry,
        query=query,
        question=text,
        documents=chosen,
        route="search",
        history=(),
        beside="",
        rankings=(),
        hits=(),
        further=(),
        pending=None,
        understanding=None,
        wordings=(),
        wording="",
        corrections={},
        details={},
    )
    return (await search(asked)).hits[:most]


def _reported(inquiry: Inquiry, findings: Findings, budget: ResearchBudget) -> Inquiry:
    inquiry = inquiry.noting(research=_noted(findings, budget))
    inquiry = replace(inquiry, seconds={**inquiry.seconds, STAGE: budget.seconds})
    if _is_incomplete(findings):
        inquiry = inquiry.falling_back("research_incomplete")
    hits = findings.best(budget.limits.passages)
    if not hits:
        return replace(inquiry, route="search")
    query = replace(inquiry.query, limit=max(len(hits), 1), exact_limit=True)
    notices = list(inquiry.notices)
    if findings.unanswered:
        language = question_language(query.text, chosen=query.language)
        listed = "; ".join(findings.unanswered)
        notices.append(phrase("research_gaps", language=language, gaps=listed))
    return replace(
        inquiry,
        query=query,
        route="research",
        hits=hits,
        further=(),
        closest=(),
        findings=findings,
        notices=tuple(notices),
    )


def _is_incomplete(findings: Findings) -> bool:
    return bool(findings.faults) or any(part.faults for part in findings.parts)


def _noted(findings: Findings, budget: ResearchBudget) -> dict[str, object]:
    return {
        "rounds": findings.round,
        "ending": findings.ending,
        **budget.as_json(),
        "queries": [
            {
                "query": part.text,
                "round": part.round,
                "passages": len(part.passages),
                "facts": [{"fact": fact.text, "passages": list(fact.passages)} for fact in part.facts],
                "faults": list(part.faults),
            }
            for part in findings.parts
        ],
        "refused": list(findings.refused),
        "missing": list(findings.unanswered),
        "contradictions": list(findings.contradictions),
        "faults": list(findings.faults),
    }
