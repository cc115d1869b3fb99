"""Engine: answer, search. One engine serves many askers at once."""

from __future__ import annotations

import time
import uuid
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from rag_engine import pipeline
from rag_engine.agent.agent import tool_search
from rag_engine.citations.versions import with_versions
from rag_engine.errors import RagError
from rag_engine.generation import generate
from rag_engine.generation.answer_trace import answer_of, answer_trace, writing
from rag_engine.generation.generate import GeneratedReply
from rag_engine.generation.partial_tables import partial_tables_notice
from rag_engine.generation.phrases import phrase
from rag_engine.generation.uncited import uncited
from rag_engine.pipeline import Inquiry, NamedStep
from rag_engine.research.research import from_one_search, spent, sub_search
from rag_engine.retriever import Limits, Retriever, begun, language_of, no_document, through
from rag_engine.summaries.entity_card import card_events
from rag_engine.summaries.intent import is_restyling
from rag_engine.summaries.plan import Sentence
from rag_engine.summaries.stream import sentence_events, summarised
from rag_engine.text.language import question_language
from rag_engine.types import (
    Answer,
    AnswerEvent,
    AnswerRequest,
    ConversationId,
    Hit,
    Prompt,
    Query,
    Retrieval,
    Stage,
    Turn,
    TurnId,
)
from rag_engine.verified.reply import verified_events

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping, Sequence

    from rag_engine.agent.agent import Agent
    from rag_engine.ports import Answerer, Embedder, History, IndexContents, LanguageModel, Metadata, Step
    from rag_engine.research.research import Research
    from rag_engine.summaries.plan import Summaries
    from rag_engine.tables.answers.computation import Computation


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """The first working model writes; without any, passages are quoted."""

    search_steps: Sequence[NamedStep]
    prompt_steps: Sequence[NamedStep]
    models: Sequence[LanguageModel]
    choices: Mapping[str, LanguageModel] = field(default_factory=dict[str, "LanguageModel"])
    """By label: a place or a question may ask them first."""
    answerer: Answerer
    embedder: Embedder
    history: History
    limits: Limits = field(default_factory=Limits)
    prompt_steps_for: Callable[[LanguageModel], Sequence[NamedStep]] | None = None
    """For a later model, whose window may be smaller."""
    summary_models: Sequence[LanguageModel] = ()
    """The models that summarise; none: `models`."""
    metadata: Metadata | None = None
    contents: IndexContents | None = None
    summaries: Summaries | None = None
    """None: requests for summaries are searched."""
    research: Research | None = None
    computation: Computation | None = None
    agent: Agent | None = None
    _thinkers: set[str] = field(default_factory=set[str], init=False)

    async def search(self, query: Query) -> Retrieval:
        retriever = Retriever(steps=self.search_steps, metadata=self.metadata, limits=self.limits)
        return await retriever.search(query)

    async def answers(self, query: Query, judge: Step) -> bool:
        inquiry = await begun(query, limits=self.limits, metadata=self.metadata)
        inquiry = await through(self.search_steps, inquiry)
        return bool((await judge(inquiry)).hits)

    async def answer(self, query: Query) -> AsyncGenerator[AnswerEvent]:
        """Yield stages, one `Retrieval`, deltas, one `Answer`. Close the iterator (`aclosing`) to stop.

        Raises `UserError` for an invalid question and `Unavailable` if nothing can be searched.
        """
        asked_at = time.time()
        inquiry = await begun(
            query,
            limits=self.limits,
            metadata=self.metadata,
            read_history=partial(self._history, query),
        )
        generated, started = None, time.perf_counter()
        events = await self._events(inquiry)
        async with aclosing(events if query.options.cites else uncited(events)) as items:
            async for item in items:
                if isinstance(item, Inquiry):
                    inquiry, started = item, time.perf_counter()
                elif isinstance(item, GeneratedReply):
                    generated = item
                else:
                    yield item
        if generated is None:
            raise RuntimeError("a reply ended without a GeneratedReply")
        inquiry = replace(
            inquiry, seconds={**inquiry.seconds, "answer": time.perf_counter() - started, **generated.seconds}
        )
        generated = await self._with_partial_tables(inquiry, generated)
        yield await self._remember(inquiry, generated, asked_at=asked_at)

    async def _events(self, inquiry: Inquiry) -> AsyncGenerator[AnswerEvent | Inquiry | GeneratedReply]:
        if inquiry.documents == frozenset():
            return sentence_events(_no_document(inquiry), inquiry)
        if inquiry.query.options.plain_chat and self.models:
            return self._answered(replace(inquiry, route="chat"))
        options = inquiry.query.options
        researches = options.research or options.compute or options.agent
        if not researches and (summary := await self._summary(inquiry)) is not None:
            return summary
        if researches or not _is_edit(inquiry):
            return self._searched(inquiry)
        inquiry = replace(inquiry, route="edit")
        if self.models:
            return self._searched(inquiry)
        text = phrase("rewriting_needs_model", language=language_of(inquiry))
        return sentence_events(Sentence(text=text, documents=(), language=language_of(inquiry)), inquiry)

    async def _summary(
        self, inquiry: Inquiry
    ) -> AsyncGenerator[AnswerEvent | Inquiry | GeneratedReply] | None:
        if self.summaries is None:
            return None
        started = time.perf_counter()
        planned = await self.summaries.planned(inquiry)
        if planned is None:
            return None
        inquiry = replace(inquiry, route="summarise")
        inquiry = replace(inquiry, seconds={**inquiry.seconds, "plan": time.perf_counter() - started})
        if isinstance(planned, Sentence):
            return sentence_events(planned, inquiry)
        return summarised(
            planned,
            inquiry,
            summaries=self.summaries,
            models=self._models(inquiry.query, self.summary_models or self.models),
            answerer=self.answerer,
            embedder=self.embedder,
            thinkers=self._thinkers,
            seconds=self.limits.first_text_seconds,
        )

    async def _searched(self, inquiry: Inquiry) -> AsyncGenerator[AnswerEvent | Inquiry | GeneratedReply]:
        async with aclosing(pipeline.run(inquiry, self.search_steps)) as steps:
            async for item in steps:
                if isinstance(item, Stage):
                    yield item
                else:
                    inquiry = item
        async with aclosing(await self._routed(inquiry)) as items:
            async for item in items:
                yield item

    async def _routed(self, inquiry: Inquiry) -> AsyncGenerator[AnswerEvent | Inquiry | GeneratedReply]:
        understood = inquiry.understanding
        if understood is not None and inquiry.route == "clarify":
            sentence = Sentence(text=understood.counter_question, documents=(), language=language_of(inquiry))
            return sentence_events(sentence, inquiry)
        if inquiry.route == "research" or inquiry.query.options.research:
            return self._researched(inquiry)
        if inquiry.route == "agent" or inquiry.query.options.agent:
            return self._with_tools(inquiry)
        if understood is not None and inquiry.route == "summarise":
            if (summary := await self._summary(inquiry)) is not None:
                return summary
            inquiry = replace(inquiry, route="search")
        if inquiry.verified is not None:
            return verified_events(inquiry.verified, inquiry, language=language_of(inquiry))
        models = self._models(inquiry.query, self.models)
        if inquiry.card is not None and not models:
            return card_events(inquiry.card, inquiry, language=language_of(inquiry))
        if self.computation is None or inquiry.card is not None:
            return self._answered(inquiry)
        return self.computation.answered(inquiry, models, otherwise=self._answered)

    async def _researched(self, inquiry: Inquiry) -> AsyncGenerator[AnswerEvent | Inquiry | GeneratedReply]:
        models = self._models(inquiry.query, self.models)
        if self.research is None or not models or not self.research.takes(inquiry):
            prepared = _once(from_one_search(inquiry, without="research", has_model=bool(models)))
        else:
            steps = sub_search(self.search_steps, self.prompt_steps)
            prepared = self.research.run(inquiry, partial(through, steps), model=models[0])
        async with aclosing(self._answered_after(prepared)) as items:
            async for item in items:
                yield item

    async def _with_tools(self, inquiry: Inquiry) -> AsyncGenerator[AnswerEvent | Inquiry | GeneratedReply]:
        models = self._models(inquiry.query, self.models)
        if self.agent is None or not models:
            prepared = _once(from_one_search(inquiry, without="tools", has_model=bool(models)))
        else:
            search = partial(through, tool_search(self.search_steps))
            prepared = self.agent.run(inquiry, search, model=models[0])
        async with aclosing(self._answered_after(prepared)) as items:
            async for item in items:
                yield item

    async def _answered_after(
        self, prepared: AsyncGenerator[Stage | Inquiry]
    ) -> AsyncGenerator[AnswerEvent | Inquiry | GeneratedReply]:
        inquiry: Inquiry | None = None
        async with aclosing(prepared) as items:
            async for item in items:
                if isinstance(item, Stage):
                    yield item
                else:
                    inquiry = item
        if inquiry is None:
            raise RuntimeError("a preparation ended without an inquiry")
        async with aclosing(self._answered(inquiry)) as answered:
            async for item in answered:
                yield item

    async def _answered(self, inquiry: Inquiry) -> AsyncGenerator[AnswerEvent | Inquiry | GeneratedReply]:
        models = self._models(inquiry.query, self.models)
        async with aclosing(pipeline.run(inquiry, self._steps_for(models))) as steps:
            async for item in steps:
                if isinstance(item, Stage):
                    yield item
                else:
                    inquiry = item
        empty, written = inquiry.query.options.empty_answer, self._written(inquiry, models)
        if empty and inquiry.route == "search" and not _prompt(inquiry).passages:
            sentence = Sentence(text=empty, documents=(), language=language_of(inquiry), may_change=True)
            written = sentence_events(sentence, inquiry)
        async with aclosing(written) as items:
            async for item in items:
                yield item

    async def _written(
        self, inquiry: Inquiry, models: Sequence[LanguageModel]
    ) -> AsyncGenerator[AnswerEvent | Inquiry | GeneratedReply]:
        prompt, query, question = _prompt(inquiry), inquiry.query, inquiry.wording or inquiry.question
        request = AnswerRequest(
            question=question,
            passages=_ranked(prompt.passages),
            by_meaning=inquiry.by_meaning,
            closest=inquiry.closest,
            unmentioned=inquiry.unmentioned,
            scope=query.scope_in(question_language(question, chosen=query.language)),
            language=query.language,
            empty_answer=query.options.empty_answer,
            dates=inquiry.dates,
        )
        yield Retrieval(hits=prompt.passages, fallbacks=inquiry.fallbacks, notices=inquiry.notices)
        yield writing(inquiry, len(prompt.passages))
        yield inquiry
        async with aclosing(
            generate.reply(
                prompt,
                request,
                models=models,
                answerer=self.answerer,
                embedder=self.embedder,
                thinkers=self._thinkers,
                seconds=self.limits.first_text_seconds,
                refit=lambda model: self._refit(inquiry, model),
                in_place_of_quotes=_failed_edit(inquiry),
            )
        ) as reply:
            async for item in reply:
                yield item

    def _models(self, query: Query, models: Sequence[LanguageModel]) -> Sequence[LanguageModel]:
        chosen = self.choices.get(query.options.model)
        return models if chosen is None else (chosen, *(model for model in models if model is not chosen))

    def _steps_for(self, models: Sequence[LanguageModel]) -> Sequence[NamedStep]:
        if self.prompt_steps_for is None or not models or models[0] not in self.choices.values():
            return self.prompt_steps
        return self.prompt_steps_for(models[0])

    async def _history(self, query: Query) -> Sequence[Turn]:
        if not query.conversation or not self.limits.history_turns:
            return ()
        before = question_of(query.version_of) if query.version_of else None
        return await self.history.read(query.conversation, limit=self.limits.history_turns, before=before)

    async def _refit(self, inquiry: Inquiry, model: LanguageModel) -> Prompt:
        prompt = _prompt(inquiry)
        if self.prompt_steps_for is None or prompt.tokens + prompt.reply_tokens <= model.context_tokens:
            return prompt
        return _prompt(await through(self.prompt_steps_for(model), inquiry))

    async def _with_partial_tables(self, inquiry: Inquiry, generated: GeneratedReply) -> GeneratedReply:
        if self.contents is None or generated.computed or inquiry.route == "summarise":
            return generated
        prompt = generated.prompt
        notice = await partial_tables_notice(
            generated.text,
            generated.citations,
            prompt.passages,
            contents=self.contents,
            language=language_of(inquiry),
            shortened=prompt.shortened,
        )
        return replace(generated, notices=(*generated.notices, notice)) if notice else generated

    async def _remember(self, inquiry: Inquiry, generated: GeneratedReply, *, asked_at: float) -> Answer:
        turn = inquiry.query.turn or TurnId(uuid.uuid4().hex)
        generated = replace(generated, citations=await with_versions(generated.citations, self.metadata))
        answer = answer_of(inquiry, generated, turn)
        answer = replace(answer, research=spent(inquiry), used_tools="agent" in inquiry.details)
        conversation = inquiry.query.conversation or ConversationId(f"single:{turn}")
        text, earlier = inquiry.query.text, inquiry.query.version_of
        asked = Turn(id=question_of(turn), conversation=conversation, role="user", text=text, at=asked_at)
        said = Turn(id=turn, conversation=conversation, role="assistant", text=generated.text, at=time.time())
        replaced = (question_of(earlier), earlier) if earlier else ()
        trace = answer_trace(inquiry, generated, answer, asked)
        try:
            await self.history.write([asked, said], trace, in_place_of=replaced)
        except RagError as error:
            notices = (*answer.notices, f"This answer could not be kept in the history: {error}")
            fallbacks = (*answer.fallbacks, "history_unavailable")
            answer = replace(answer, fallbacks=fallbacks, notices=notices)
        return answer


def question_of(answer: TurnId) -> TurnId:
    return TurnId(f"{answer}-question")


def _ranked(passages: Sequence[Hit]) -> tuple[Hit, ...]:
    return tuple(sorted((hit for hit in passages if hit.rank), key=lambda hit: hit.rank))


async def _once(inquiry: Inquiry) -> AsyncGenerator[Stage | Inquiry]:
    yield inquiry


def _is_edit(inquiry: Inquiry) -> bool:
    if not inquiry.history or inquiry.query.files_attached:
        return False
    return inquiry.history[-1].role == "assistant" and is_restyling(inquiry.query.text)


def _no_document(inquiry: Inquiry) -> Sentence:
    return Sentence(text=no_document(inquiry), documents=(), language=language_of(inquiry))


def _failed_edit(inquiry: Inquiry) -> str:
    return phrase("rewriting_failed", language=language_of(inquiry)) if inquiry.route == "edit" else ""


def _prompt(inquiry: Inquiry) -> Prompt:
    if inquiry.prompt is None:
        raise ValueError("the pipeline has no step that makes a prompt")
    return inquiry.prompt
