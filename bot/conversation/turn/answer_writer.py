from __future__ import annotations

import logging
import re
from contextlib import aclosing, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bot import rendering
from bot.commands.research import asks_for_research, without_request
from bot.conversation import thread_context
from bot.conversation.follow_ups import ShownAnswer
from bot.conversation.saved_filters import saved_filters
from bot.conversation.sources.asked_pictures import pictured
from bot.conversation.turn.final_reply import final_reply
from bot.conversation.turn.outside_search import message_search, web_use
from bot.conversation.turn.report_file import attach, attach_report
from bot.conversation.turn.tool_steps import tool_steps
from bot.messages import LANGUAGES
from bot.port import ChatError, Reply
from bot.streaming import scheduler
from rag_engine.agent.tool import is_tool_result
from rag_engine.errors import RagError
from rag_engine.types import BEST_PASSAGES, Answer, AnswerOptions, Delta, Query, Retrieval, Stage
from rag_engine.web.addresses import is_outside

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from bot.access.permissions import Scope
    from bot.conversation.dependencies import AudienceLookup, ForgetTurn, ResearchedTurns, ShowPictures
    from bot.conversation.follow_ups import FollowUps
    from bot.conversation.turn.context import TurnContext, TurnOptions
    from bot.conversation.turn.conversation_tags import ConversationTags
    from bot.conversation.turn.outside_search import LeaveOut
    from bot.conversation.turn.thread_titles import ThreadTitles
    from bot.messages.names import Sentence
    from bot.store.expert_requests import ExpertRequests
    from bot.store.message_files import MessageFiles
    from bot.store.topics import Topic, Topics
    from bot.store.turns import ChatTurn, Turns
    from rag_engine.engine import Engine
    from rag_engine.types import AnswerEvent, ConversationId, Hit, Turn

_STAGES: dict[str, Sentence] = {
    "retrieve": "stage_retrieve",
    "understand": "stage_understand",
    "outline": "stage_outline",
    "rerank": "stage_rerank",
    "web": "stage_web",
    "answer": "stage_answer",
    "summarise": "stage_summarise",
    "part": "stage_part",
    "research": "stage_research",
    "compute": "stage_compute",
    "agent": "stage_agent",
}
_MOST_VERSIONS = 10
_CITATION = re.compile(r"\[\d+\]")

_log = logging.getLogger(__name__)


class NothingToSay(Exception):
    """Nobody addressed us, and the files do not answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerWriter:
    engine: Engine
    audiences: AudienceLookup
    turns: Turns
    topics: Topics
    files: MessageFiles
    forget_turn: ForgetTurn
    passages: int | None
    follow_ups: FollowUps
    titles: ThreadTitles
    tags: ConversationTags
    findings: ResearchedTurns
    pictures: ShowPictures | None = None
    experts: ExpertRequests
    leave_out: LeaveOut

    async def write(self, context: TurnContext) -> None:
        """Raises the errors of engine and stream, and `NothingToSay`."""
        turn, view = context.recorder.turn, context.view
        await self._forget_earlier(turn)
        if turn.turn:
            versions = turn.versions[-_MOST_VERSIONS + 1 :]
            await context.recorder.save(turn=None, citations=(), choices=(), versions=versions)
        scope = await self._scope(context)
        if not scope.knowledge_bases and not self._chats_without_files(context, scope):
            if context.options.unprompted:
                raise NothingToSay
            await view.finish_without_files(scope)
            return
        if turn.scope:
            scope = scope.narrowed(turn.scope, view.language)
        query = await self._query(context, scope)
        view.links = rendering.links_in(query.text) | _links(query.other_turns)
        async with (
            aclosing(self.engine.answer(query)) as answering,
            aclosing(self._recorded(answering, context, searched=len(scope.knowledge_bases))) as recorded,
            aclosing(_from_first_citation(recorded))
            if context.options.unprompted
            else nullcontext(recorded) as events,
        ):
            answer = await scheduler.relay(
                events,
                view.stream,
                final=lambda answer: final_reply(answer, context, scope, deepens=self._deepens(answer)),
                growing=view.growing,
            )
        if answer is None:
            raise RuntimeError("the engine ended without an answer")
        await context.recorder.save("final", messages=view.stream.messages)
        await self._attach_files(context, answer)
        self._begin_background_tasks(context, query, answer)

    def _begin_background_tasks(self, context: TurnContext, query: Query, answer: Answer) -> None:
        if not answer.grounded:
            return
        turn, view = context.recorder.turn, context.view
        shown = ShownAnswer(
            query=replace(query, messages=None), text=answer.text, passages=view.passages, reply=view.final
        )
        self.follow_ups.begin(turn, shown, context.room)
        self.titles.begin(turn, answer.text, context.room)
        self.tags.begin(turn, answer.text)

    async def _show_pictures(self, context: TurnContext) -> None:
        turn, view = context.recorder.turn, context.view
        if self.pictures is None or not pictured(turn.question, turn.citations):
            return
        try:
            if files := await self.pictures(turn, context.room, view.language):
                await attach(view.stream, view.final, *files)
        except (RagError, ChatError) as error:
            _log.warning("pictures of an answer were left out: %s", type(error).__name__)

    async def _attach_files(self, context: TurnContext, answer: Answer) -> None:
        if answer.research or answer.used_tools:
            try:
                await self.findings.remove(context.recorder.turn.engine_turn)
            except RagError as error:
                _log.warning("findings of a finished answer were not deleted and expire later: %s", error)
        if not answer.research and answer.computed is None:
            await self._show_pictures(context)
        await attach_report(context.view.stream, context.view.final, answer)

    def _deepens(self, answer: Answer) -> bool:
        is_searched = answer.repeatable and answer.route in ("search", "agent")
        return is_searched and bool(self.engine.models) and self.engine.research is not None

    async def _scope(self, context: TurnContext) -> Scope:
        turn, directory = context.recorder.turn, context.room.directory
        person = turn.person if turn.private else None
        scope = await self.audiences.scope(turn.place, directory, person=person, asker=turn.person)
        if scope.group:
            await self.turns.note_group(turn.place)
        return scope

    def _chats_without_files(self, context: TurnContext, scope: Scope) -> bool:
        settings = context.options.settings
        is_blended = settings.knowledge == "blended" and not (scope.unchecked or context.options.unprompted)
        return bool(self.engine.models) and (settings.route == "chat" or is_blended)

    async def start_over(self, context: TurnContext) -> None:
        turn, view = context.recorder.turn, context.view
        await self.topics.start(turn.place, turn.person if turn.private else None)
        await view.finish(Reply(text=view.say("new_topic")), "final")

    async def _forget_earlier(self, turn: ChatTurn) -> None:
        earlier = replace(turn, starts=turn.starts - 1).engine_turn
        if turn.attempts > 1:
            await self.findings.move(earlier, turn.engine_turn)
        surplus = turn.versions[: -_MOST_VERSIONS + 1]
        for identity in (*surplus, *([] if earlier in turn.versions else [earlier])):
            await self.forget_turn(identity)

    async def _query(self, context: TurnContext, scope: Scope) -> Query:
        turn, options = context.recorder.turn, context.options
        experts = await self.experts.experts(scope.knowledge_bases, turn.place)
        context.view.offers_experts = bool(experts)
        topic = await self.topics.current(turn.place, turn.person if turn.private else None)
        conversation = _conversation(turn, topic)
        await context.recorder.save(conversation=conversation)
        others: tuple[Turn, ...] = ()
        if context.reads_thread and options.earlier:
            earlier = [message for message in options.earlier if message.at > topic.started_at]
            known = {turn.message, *await self.turns.answered(turn.place, [each.id for each in earlier])}
            others = thread_context.other_turns(
                earlier, known=known, before=turn.asked_at, conversation=conversation
            )
        own = await self.files.brought_by(turn.place, turn.about or turn.message)
        return Query(
            text=without_request(turn.question),
            knowledge_bases=scope.knowledge_bases,
            conversation=conversation,
            scope=scope.name_in(context.question_language),
            scopes={language: scope.name_in(language) for language in LANGUAGES},
            limit=self.passages or BEST_PASSAGES,
            exact_limit=self.passages is not None,
            other_turns=others,
            knowledge="prefer_sources" if options.settings.knowledge == "blended" else "only_sources",
            language=options.settings.language,
            turn=turn.engine_turn,
            version_of=turn.versions[-1] if turn.versions else None,
            files=tuple(each.document or each.source for each in own or await self.files.latest(turn.place)),
            files_attached=bool(own),
            names=scope.names_in(context.question_language),
            as_asked=options.as_asked,
            filters=saved_filters(options.settings),
            unfiltered=options.unfiltered,
            time_zone=context.message.person.time_zone,
            asker_language=context.message.person.language,
            web=web_use(options),
            messages=message_search(context, self.leave_out),
            options=_answer_options(options, turn, plain_chat=not scope.knowledge_bases),
        )

    async def _recorded(
        self, events: AsyncIterator[AnswerEvent], context: TurnContext, *, searched: int
    ) -> AsyncGenerator[AnswerEvent]:
        view, recorder = context.view, context.recorder
        async for event in events:
            if isinstance(event, Stage):
                steps = tool_steps(event.steps, view.language)
                yield replace(event, detail=_stage_sentence(event, context, searched), steps=steps)
                continue
            if isinstance(event, Retrieval):
                view.passages = event.hits
                view.links |= rendering.links_in("\n".join(map(_addresses, event.hits)))
            elif isinstance(event, Delta):
                if not view.text and event.text:
                    await recorder.save("streaming")
                view.text += event.text
            else:
                # The buttons look up its citations.
                versions = tuple(dict.fromkeys((*recorder.turn.versions, event.turn)))
                await recorder.save(
                    turn=event.turn, citations=event.citations, choices=event.choices, versions=versions
                )
                if recorder.forgotten:
                    # `footnote forget` ran before anything was stored.
                    await self.forget_turn(event.turn)
                recorder.turn_log.answered(event)
            yield event


def _stage_sentence(stage: Stage, context: TurnContext, searched: int) -> str:
    name = _STAGES.get("part" if stage.of else stage.name)
    if not name:
        return stage.detail
    if stage.found:
        counts = {leg: stage.found.get(leg, 0) for leg in ("lexical", "dense")}
        return context.view.say("stage_found", **counts, number=stage.number)
    return context.view.say(name, number=max(stage.number, 1), count=stage.of or searched)


async def _from_first_citation(events: AsyncIterator[AnswerEvent]) -> AsyncGenerator[AnswerEvent]:
    held = ""
    cites = False
    async for event in events:
        if isinstance(event, Delta) and not cites:
            held += event.text
            cites = _CITATION.search(held) is not None
            if cites:
                yield Delta(text=held)
        elif isinstance(event, Answer) and not event.grounded:
            raise NothingToSay
        elif cites or not isinstance(event, Stage):
            yield event


def _answer_options(options: TurnOptions, turn: ChatTurn, *, plain_chat: bool) -> AnswerOptions:
    settings = options.settings
    return AnswerOptions(
        persona=settings.persona,
        model=turn.model or settings.model,
        temperature=settings.temperature,
        empty_answer=settings.empty_answer,
        cites=settings.citations,
        plain_chat=plain_chat or settings.route == "chat",
        research=asks_for_research(turn.question),
        tools="off" if options.unprompted else settings.tools,
    )


def _conversation(turn: ChatTurn, topic: Topic) -> ConversationId:
    is_earlier = topic.started_at > turn.asked_at
    return turn.conversation if turn.conversation and is_earlier else topic.conversation


def _addresses(hit: Hit) -> str:
    """Strangers' texts could hide theirs."""
    chunk = hit.chunk
    is_ours = not (is_outside(chunk.document) or is_tool_result(chunk.document))
    return f"{chunk.uri} {chunk.text if is_ours else ''}"


def _links(turns: tuple[Turn, ...]) -> frozenset[str]:
    return frozenset[str]().union(*(rendering.links_in(turn.text) for turn in turns))
