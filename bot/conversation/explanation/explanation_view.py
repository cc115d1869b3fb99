"""*Why this?* Permissions are checked again, as for the sources."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Final, Protocol, cast

from bot.access.permissions import MOST_IN_NAME
from bot.conversation.explanation.passage_excerpt import excerpt, statements
from bot.conversation.explanation.traced_answer import TracedAnswer, TracedPassage, traced_answer
from bot.conversation.sources.readable_records import readable_record
from bot.conversation.turn.tool_steps import tool_step
from bot.messages import language_of, say
from bot.messages.refusals import NameList
from bot.port import Button, Reply
from bot.rendering.literal import literal
from rag_engine.agent.tool import RESULT, is_tool_result
from rag_engine.parsing.media_types import shown
from rag_engine.text.place_names import place_in_language

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from bot.access.permissions import Scope
    from bot.conversation.dependencies import AudienceLookup
    from bot.messages.names import Sentence
    from bot.port import Action, Person, Place, Room
    from bot.store.turns import ChatTurn, Turns
    from rag_engine.ingestion.ingestion import DocumentCatalog
    from rag_engine.types import ConversationId, Trace, Turn, TurnId

BUTTON: Final = "why"
AT_ONCE: Final = 5
QUOTING: Final = "extractive"
_TURNS: Final = 1000
_NUMBER: Final = re.compile(r"[0-9]{1,4}")
_LEGS: Final[dict[str, Sentence]] = {
    "lexical": "why_by_words",
    "dense": "why_by_meaning",
    "summary": "why_by_summary",
    "question": "why_by_question",
    "graph": "why_by_graph",
    "letters": "why_by_letters",
}


class AnswerHistory(Protocol):
    async def read(self, conversation: ConversationId, *, limit: int) -> list[Turn]: ...

    async def trace(self, turn: TurnId | None = None) -> Trace | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Explained:
    answer: TracedAnswer
    text: str
    scope: Scope
    language: str

    def say(self, name: Sentence, /, **values: object) -> str:
        return say(name, self.language, **values)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplanationView:
    audiences: AudienceLookup
    catalog: DocumentCatalog
    history: AnswerHistory
    turns: Turns

    async def latest(self, place: Place, person: Person, room: Room, language: str) -> Reply:
        turn = await self.turns.latest_of(place, person.id)
        if turn is None:
            return Reply(text=say("why_none", language))
        return await self.show(turn, person, room, language)

    async def press(self, turn: ChatTurn, action: Action, room: Room) -> Reply:
        language = language_of("", action.person)
        return await self.show(turn, action.person, room, language, value=action.value)

    async def show(
        self, turn: ChatTurn, person: Person, room: Room, language: str, *, value: str = ""
    ) -> Reply:
        """The value can be forged: it only selects the page."""
        trace = await self.history.trace(turn.turn) if turn.turn else None
        if trace is None:
            return Reply(text=say("too_old", language))
        answer = traced_answer(trace)
        parts = max(1, -(-len(answer.passages) // AT_ONCE))
        part = _part(value, parts)
        explained = _Explained(
            answer=answer,
            text=await self._answer_text(trace),
            scope=await self.audiences.scope(turn.place, room.directory, person=person),
            language=language,
        )
        facts = list(_facts(explained)) if part == 1 else []
        wanted = answer.passages[(part - 1) * AT_ONCE : part * AT_ONCE]
        entries = [(passage.kind, await self._entry(passage, explained)) for passage in wanted]
        lists = [
            f"{explained.say('why_used' if kind == 'used' else 'why_closest')}\n\n"
            + "\n\n".join(text for _, text in same)
            for kind, same in groupby(entries, key=lambda entry: entry[0])
        ]
        left_out = (
            [explained.say("why_left_out", count=answer.left_out)]
            if part == parts and answer.left_out > 0
            else []
        )
        head = ["\n".join(f"- {fact}" for fact in facts)] if facts else []
        return Reply(
            text="\n\n".join((*head, *lists, *left_out)),
            notices=tuple(
                explained.say(notice, reason=explained.scope.reason_in(language))
                for notice in explained.scope.notices
            ),
            buttons=_buttons(turn, part, parts, language),
            links=frozenset(),
        )

    async def _answer_text(self, trace: Trace) -> str:
        turns = await self.history.read(trace.conversation, limit=_TURNS)
        return next((turn.text for turn in turns if turn.id == trace.turn), "")

    async def _entry(self, passage: TracedPassage, explained: _Explained) -> str:
        if is_tool_result(passage.document):
            name = passage.document.removeprefix(RESULT).partition(":")[0]
            return f"**{passage.number}.** {literal(tool_step(name, '', explained.language))}"
        record = await readable_record(self.catalog, passage.document, explained.scope.knowledge_bases)
        if record is None:
            return f"**{passage.number}.** {explained.say('source_gone')}"
        sections = await self.catalog.sections(passage.document)
        answer = explained.answer
        text = await asyncio.to_thread(
            excerpt, sections, passage.anchor, answer.understood_as or answer.question
        )
        title = literal(shown(record.document.title))
        place = (
            f", {literal(place_in_language(passage.anchor, explained.language))}" if passage.anchor else ""
        )
        lines = [f"**{passage.number}.** {title}{place}", " · ".join(_reasons(passage, explained))]
        for number in passage.cited:
            lines += [
                explained.say("why_supports", statement=literal(statement))
                for statement in statements(explained.text, number)
            ]
        quoted = [f"> {literal(text)}"] if text else []
        return "\n".join((*(f"{line}  " for line in lines if line), *quoted))


def _part(value: str, parts: int) -> int:
    wanted = value.partition(":")[2]
    return min(max(int(wanted), 1), parts) if _NUMBER.fullmatch(wanted) else 1


def _facts(explained: _Explained) -> Iterator[str]:
    answer = explained.answer
    yield explained.say("why_question", question=literal(answer.question))
    if answer.understood_as:
        yield explained.say("understood_as", question=literal(answer.understood_as))
    yield from _filter(explained)
    if not answer.searched:
        if not answer.passages:
            yield explained.say("why_unsearched")
    else:
        if answer.further_queries:
            queries = " · ".join(literal(query) for query in answer.further_queries)
            yield explained.say("why_further", queries=queries)
        if bases := _bases(explained):
            yield explained.say("why_places", bases=literal(bases))
        yield explained.say(
            "why_found", lexical=answer.found.get("lexical", 0), dense=answer.found.get("dense", 0)
        )
        if len(answer.weights) > 1:
            weights = {leg: round(100 * answer.weights.get(leg, 0.0)) for leg in ("lexical", "dense")}
            yield explained.say("why_weights", **weights)
        if answer.research:
            yield _researched(explained)
        if answer.agent:
            yield _tools(explained)
        if answer.reranked:
            yield explained.say("why_reranked")
        if answer.probability is not None:
            percent, line = (round(100 * share) for share in answer.probability)
            yield explained.say("why_probability", percent=percent, line=line)
    if answer.sql and _may_read_all(explained):
        # It quotes values of the tables.
        yield explained.say("why_computed", sql=literal(answer.sql))
    quoted = answer.model == QUOTING
    author = explained.say("fact_quotes") if quoted else literal(answer.model)
    yield explained.say("why_author", model=author)


def _researched(explained: _Explained) -> str:
    spent = explained.answer.research
    listed = cast("list[dict[str, object]]", spent.get("queries", []))
    # Queries may name what only other files say.
    shown = [str(one.get("query", "")) for one in listed] if _may_read_all(explained) else []
    amounts = {name: spent.get(name, 0) for name in ("rounds", "searches", "calls", "tokens")}
    return explained.say("why_research", queries=" · ".join(map(literal, shown)) or "…", **amounts)


def _tools(explained: _Explained) -> str:
    spent = explained.answer.agent
    listed = cast("list[dict[str, object]]", spent.get("made", []))
    # Arguments may name what was found in files that this person cannot read.
    may_read = _may_read_all(explained)
    made = [
        tool_step(str(one.get("tool")), _arguments(one) if may_read else "…", explained.language)
        for one in listed
    ]
    amounts = {name: spent.get(name, 0) for name in ("steps", "calls", "tokens")}
    return explained.say("why_tools", made=" · ".join(map(literal, made)) or "…", **amounts)


def _arguments(made: Mapping[str, object]) -> str:
    return ", ".join(map(str, cast("dict[str, object]", made.get("arguments", {})).values()))


def _filter(explained: _Explained) -> Iterator[str]:
    answer, may_read_all = explained.answer, _may_read_all(explained)
    if answer.filter and (may_read_all or not answer.filter_by_model):
        yield explained.say("filtered_by", filter=literal(answer.filter))
        if answer.filter_by_model:
            yield explained.say("why_filter_by_model")
    if answer.filter_left_out and may_read_all:
        left_out = ", ".join(map(literal, answer.filter_left_out))
        yield explained.say("why_filter_left_out", filter=left_out)


def _may_read_all(explained: _Explained) -> bool:
    searched = explained.answer.knowledge_bases
    return bool(searched) and searched <= explained.scope.knowledge_bases


def _bases(explained: _Explained) -> str:
    scope, searched = explained.scope, explained.answer.knowledge_bases
    names = [name for base, name in scope.names.items() if base in searched]
    if names:
        return NameList(names, MOST_IN_NAME).in_language(explained.language)
    return explained.answer.scope if _may_read_all(explained) else ""


def _reasons(passage: TracedPassage, explained: _Explained) -> Iterator[str]:
    for number in passage.cited:
        yield explained.say("why_cited", number=f"\\[{number}\\]")
    for leg, name in _LEGS.items():
        found = [(rank, score) for searched, rank, score in passage.legs if searched == leg]
        if found:
            rank, score = min(found)
            yield explained.say(name, rank=rank, score=f"{score:.2f}")
    if passage.shortened:
        yield explained.say("why_shortened")


def _buttons(turn: ChatTurn, part: int, parts: int, language: str) -> tuple[Button, ...]:
    others: Sequence[tuple[Sentence, int]] = (("sources_back", part - 1), ("sources_more", part + 1))
    return tuple(
        Button(name=BUTTON, label=say(name, language), value=f"{turn.id}:{number}")
        for name, number in others
        if 1 <= number <= parts
    )
