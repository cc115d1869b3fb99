"""One turn from its message to the last word: files first, then the answer."""

from __future__ import annotations

import logging
import re
from contextlib import aclosing, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from bot import hearing, rendering, streaming
from bot.accounts import Account
from bot.files import receiving
from bot.files.uploads import progress
from bot.port import Button, IncomingMessage, Place, Reply
from bot.sentences import say
from rag_engine.errors import RagError
from rag_engine.language import detect
from rag_engine.phrases import not_found
from rag_engine.types import Answer, ConversationId, Delta, Query, Retrieval, Stage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Sequence

    from bot.access import Scope
    from bot.files.taken_files import TakenFile
    from bot.places import PlaceSettings
    from bot.port import Room
    from bot.running import Run
    from bot.sentences.names import Sentence
    from bot.serving import Parts
    from bot.streaming.writing import MessageStream
    from bot.turns import ChatTurn, State, Turns
    from rag_engine.types import AnswerEvent, Turn

_STAGES: dict[str, Sentence] = {
    "retrieve": "stage_retrieve",
    "rerank": "stage_rerank",
    "answer": "stage_answer",
    "summarise": "stage_summarise",
    "part": "stage_part",
}

_CITATION = re.compile(r"\[\d+\]")

_log = logging.getLogger(__name__)


class Silence(Exception):
    """Nobody asked us, and there is nothing to tell."""


class Ledger:
    """A turn as it is kept. What cannot be kept is no reason to be silent: it is logged."""

    def __init__(self, turns: Turns, turn: ChatTurn, account: Account | None = None) -> None:
        self._turns = turns
        self.turn = turn
        self.account = account or Account.of(turn)
        self.forgotten = False
        """Somebody has removed what is kept of it."""

    async def note(self, state: State | None = None, **changes: object) -> None:
        """Change the turn, and keep it so."""
        self.turn = replace(self.turn, **changes, state=state or self.turn.state)
        self.account.kept(self.turn)
        try:
            self.forgotten = not await self._turns.save(self.turn)
        except RagError as error:
            _log.warning("turn %s could not be kept: %s", self.turn.id, error)

    async def posted(self, messages: tuple[str, ...]) -> None:
        """Messages of ours stand now."""
        await self.note("placeholder" if self.turn.state == "received" else None, messages=messages)


@dataclass(slots=True, kw_only=True)
class Case:
    """One turn while it is dealt with."""

    message: IncomingMessage
    room: Room
    settings: PlaceSettings
    language: str
    ledger: Ledger
    run: Run
    stream: MessageStream
    home: Place
    """The place that its files belong to."""
    listens: bool
    """There may be something before it in its thread that belongs to it."""
    unasked: bool = False
    """Nobody asked us: nothing is shown before there is something from the files to tell."""
    earlier: list[IncomingMessage] | None = None
    """The messages before it, once somebody has asked for them."""
    lines: tuple[str, ...] = ()
    """What became of its files."""
    kept: tuple[TakenFile, ...] = ()
    """The files that the turn has dealt with, now or when it was dealt with before."""
    links: frozenset[str] = frozenset()
    text: str = field(default="", init=False)
    """What is written so far."""

    def say(self, name: Sentence, /, **values: object) -> str:
        """A sentence in the asker's language."""
        return say(name, self.language, **values)

    def status(self, status: str) -> None:
        """Show what is being done."""
        if not self.unasked:
            self.stream.want(Reply(status=status, buttons=(self._button("stop"),)))

    def files(self, lines: tuple[str, ...]) -> None:
        """Show how far the files are."""
        self.stream.want(replace(progress(lines), buttons=(self._button("stop"),)))

    def growing(self, text: str) -> Reply:
        """The text so far."""
        return Reply(text=text, buttons=(self._button("stop"),), links=self.links)

    async def finish(self, reply: Reply, state: State) -> None:
        """The last word."""
        self.run.last_word()
        messages = await self.stream.finish(reply)
        await self.ledger.note(state, messages=messages)

    def buttons(self, *, cited: bool) -> tuple[Button, ...]:
        """Those under a whole answer."""
        rating = tuple(
            Button(name="feedback", label=self.say(way), value=f"{self.ledger.turn.id}:{way}", feedback=True)
            for way in ("up", "down")
        )
        sources = (self._button("sources"),) if cited else ()
        return (*sources, *self.again(), *rating)

    def broken_off(self, sentence: str) -> Reply:
        """The text so far with the sentence under it, or the sentence where there is no text."""
        notices = (*self.lines, sentence) if self.text else self.lines
        return Reply(text=self.text or sentence, notices=notices, links=self.links, buttons=self.again())

    def again(self) -> tuple[Button, ...]:
        """The button under what is no whole answer."""
        return (regenerate(self.ledger.turn, self.language),)

    def _button(self, name: Sentence) -> Button:
        return Button(name=name, label=self.say(name), value=self.ledger.turn.id)


def regenerate(turn: ChatTurn, language: str) -> Button:
    """The button that asks for the answer again."""
    return Button(name="regenerate", label=say("regenerate", language), value=turn.id)


def conversation(place: Place) -> ConversationId:
    """The conversation a place holds: its thread, else its channel."""
    return ConversationId(":".join((place.platform, place.workspace, place.channel, place.thread)))


def conversation_of(turn: ChatTurn) -> ConversationId:
    """That of the turn's place; what one person alone reads there is a conversation of its own."""
    place = conversation(turn.place)
    return ConversationId(f"{place}:ask:{turn.person.id}") if turn.private else place


def line_of(turn: ChatTurn) -> str:
    """Who waits for whom: the turns of a conversation; where no thread holds it, those of one asker in it."""
    conversation = conversation_of(turn)
    return conversation if turn.place.thread or turn.private else f"{conversation}:by:{turn.person.id}"


async def answer(case: Case, parts: Parts) -> None:
    """Everything that is said to a question. Raises what the engine and the stream raise."""
    turn = case.ledger.turn
    await _forget_earlier(turn, parts)
    if turn.turn:
        await case.ledger.note(turn=None, citations=())
    person = turn.person if turn.private else None
    scope = await parts.audiences.scope(turn.place, case.room.directory, person=person)
    if not scope.knowledge_bases:
        if case.unasked:
            raise Silence
        notices = (*case.lines, *map(case.say, scope.notices))
        await case.finish(Reply(text=case.say("no_files"), notices=notices, buttons=case.again()), "final")
        return
    query = await _query(case, parts, scope)
    case.links = rendering.links_in(query.text) | _links(query.heard)
    async with (
        aclosing(parts.engine.answer(query)) as answering,
        aclosing(_followed(answering, case, parts, searched=len(scope.knowledge_bases))) as followed,
        aclosing(_when_known(followed)) if case.unasked else nullcontext(followed) as events,
    ):
        told = await streaming.relay(
            events,
            case.stream,
            final=lambda answer: _final(answer, case, scope),
            growing=case.growing,
        )
    if told is None:
        raise RuntimeError("the engine ended without an answer")
    await case.ledger.note("final", messages=case.stream.messages)


async def _forget_earlier(turn: ChatTurn, parts: Parts) -> None:
    """What came of it before: also what the engine remembers of a beginning whose end we did not live to see."""
    if turn.turn:
        await parts.forget_turn(turn.turn)
    if turn.begun > 1:
        await parts.forget_turn(replace(turn, begun=turn.begun - 1).engine_turn)


async def _query(case: Case, parts: Parts, scope: Scope) -> Query:
    turn = case.ledger.turn
    own = conversation_of(turn)
    await case.ledger.note(conversation=own)
    heard: tuple[Turn, ...] = ()
    if case.listens and case.earlier:
        ids = [said.id for said in case.earlier]
        known = {turn.message, *await parts.turns.answered(turn.place, ids)}
        heard = hearing.heard(case.earlier, known=known, before=turn.asked_at, conversation=own)
    brought, files = await _files(turn, parts)
    return Query(
        text=turn.question,
        knowledge_bases=scope.knowledge_bases,
        conversation=own,
        scope=scope.name,
        limit=parts.passages,
        heard=heard,
        knowledge="prefer_sources" if case.settings.knowledge == "blended" else "only_sources",
        language=case.settings.language,
        turn=turn.engine_turn,
        files=files,
        brought=brought,
        names=scope.names,
    )


async def _files(turn: ChatTurn, parts: Parts) -> tuple[bool, tuple[str, ...]]:
    """Whether the question came with files, and what "this file" means in it: those, else the last of the conversation."""
    own = await parts.taken.brought_by(turn.place, turn.about or turn.message)
    found = own or await parts.taken.latest(turn.place)
    return bool(own), tuple(file.document or file.source for file in found)


async def _followed(
    events: AsyncIterator[AnswerEvent], case: Case, parts: Parts, *, searched: int
) -> AsyncGenerator[AnswerEvent]:
    """The events as they come, while the case and its ledger keep up with them."""
    async for event in events:
        if isinstance(event, Stage):
            name = _STAGES.get("part" if event.of else event.name)
            if name == "stage_retrieve" and searched == 1:
                name = "stage_retrieve_one"
            count = event.of or searched
            said = case.say(name, number=event.number, count=count) if name else event.detail
            yield replace(event, detail=said)
            continue
        if isinstance(event, Retrieval):
            addresses = [f"{hit.chunk.uri} {hit.chunk.text}" for hit in event.hits]
            case.links |= rendering.links_in("\n".join(addresses))
        elif isinstance(event, Delta):
            if not case.text and event.text:
                await case.ledger.note("streaming")
            case.text += event.text
        else:
            # Before it is shown: the buttons under it must find what it cites.
            await case.ledger.note(turn=event.turn, citations=event.citations)
            if case.ledger.forgotten:
                # `footnote forget` looked for what the engine remembers before there was anything.
                await parts.forget_turn(event.turn)
            case.ledger.account.answered(event)
        yield event


async def _when_known(events: AsyncIterator[AnswerEvent]) -> AsyncGenerator[AnswerEvent]:
    """The events from the first citation on. Raises `Silence` where the answer cites nothing."""
    held = ""
    cites = False
    async for event in events:
        if isinstance(event, Delta) and not cites:
            held += event.text
            cites = _CITATION.search(held) is not None
            if cites:
                yield Delta(text=held)
        elif isinstance(event, Answer) and not (cites or event.grounded):
            raise Silence
        elif cites or not isinstance(event, Stage):
            yield event


def _final(answer: Answer, case: Case, scope: Scope) -> Reply:
    case.run.last_word()
    shown = rendering.final(answer)
    left_out = map(case.say, scope.notices)
    notices = (*case.lines, *shown.notices, *left_out, *_remarks(answer, case, scope))
    return replace(
        shown,
        notices=notices,
        buttons=(*case.buttons(cited=bool(answer.citations)), *receiving.promotions(case)),
        links=case.links,
    )


def _remarks(answer: Answer, case: Case, scope: Scope) -> tuple[str, ...]:
    """What must be said of an answer that cites nothing: where it comes from, or what to do about it."""
    if answer.grounded or answer.route == "summarise":
        return ()
    asked = case.settings.language or detect(case.ledger.turn.question)
    nothing = not_found(language=asked, scope=scope.name)
    if case.settings.knowledge == "blended" and not answer.text.startswith(nothing):
        return (case.say("general"),)
    return (case.say("not_found_advice"),)


def _links(heard: Sequence[Turn]) -> frozenset[str]:
    return frozenset[str]().union(*(rendering.links_in(turn.text) for turn in heard))
