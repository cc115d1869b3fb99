from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.conversation.explanation.passage_excerpt import excerpt
from bot.conversation.explanation.traced_answer import TracedAnswer, traced_answer
from bot.store.turns import Turns
from bot.web.known_bases import readable_ids
from bot.web.visit import HIDDEN, UNCHECKED, NothingHere, Shown
from rag_engine.parsing.media_types import shown
from rag_engine.types import KnowledgeBaseId

if TYPE_CHECKING:
    from bot.conversation.explanation.traced_answer import TracedPassage
    from bot.store.turns import ChatTurn
    from bot.web.visit import Visit
    from rag_engine.types import Trace

_LEGS: Final = {
    "lexical": "words",
    "dense": "meaning",
    "summary": "summary",
    "question": "made-up question",
    "graph": "graph",
}


_SHORTEST: Final = 0.001


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPassage:
    number: int
    kind: str
    title: str = ""
    anchor: str = ""
    text: str = ""
    reasons: tuple[str, ...] = ()
    score: float = 0.0
    cited: tuple[int, ...] = ()
    document: str = ""
    base: str = ""


async def trace_of(visit: Visit, identity: str) -> Shown:
    """Raises `NothingHere`, also for a question of another workspace."""
    turn = await Turns(visit.parts.chat).find(identity)
    if turn is None or turn.state == "withdrawn" or not visit.reader.sees(turn.place):
        raise NothingHere
    verdict = await visit.reader.reads(turn.place, private_of=turn.person.id if turn.private else "")
    if verdict != "readable":
        hidden = UNCHECKED if verdict == "unknown" else HIDDEN
        return Shown(template="trace.html", values={"turn": turn, "hidden": hidden}, title="A question")
    trace = await visit.parts.history.trace(turn.turn) if turn.turn else None
    answer = traced_answer(trace) if trace is not None else None
    readable = await _scope(visit, turn, answer) if answer else frozenset[str]()
    values = {
        "turn": turn,
        "hidden": "",
        "place": await visit.reader.channel_name(turn.place),
        "answer": answer,
        "passages": await _passages(visit, answer, readable) if answer else [],
        # Queries and filters may name what only other files say.
        "reads_all": bool(answer) and answer.knowledge_bases <= readable,
        "ratings": await _ratings(visit, turn),
        **(await _written(visit, trace) if trace else {"text": "", "stages": [], "fallbacks": ()}),
    }
    return Shown(template="trace.html", values=values, title="A question")


async def _written(visit: Visit, trace: Trace) -> dict[str, object]:
    said = await visit.parts.history.turn(trace.turn)
    details = trace.details
    return {
        "text": said.text if said else "",
        "stages": sorted(
            ((name, seconds) for name, seconds in trace.seconds.items() if seconds >= _SHORTEST),
            key=lambda each: -each[1],
        ),
        "fallbacks": trace.fallbacks,
        "prompt_tokens": details.get("prompt_tokens", 0),
    }


async def _ratings(visit: Visit, turn: ChatTurn) -> list[tuple[str, str, int]]:
    rows = await visit.parts.chat.fetch(
        "SELECT rating, reason, count(*) FROM feedback WHERE answer = ? GROUP BY rating, reason ORDER BY min(at)",
        (turn.id,),
    )
    return [
        ("helpful" if rating == "up" else "not helpful", reason.replace("_", " "), count)
        for rating, reason, count in rows
    ]


async def _passages(visit: Visit, answer: TracedAnswer, readable: frozenset[str]) -> list[ShownPassage]:
    return list(await asyncio.gather(*(_passage(visit, each, answer, readable) for each in answer.passages)))


async def _scope(visit: Visit, turn: ChatTurn, answer: TracedAnswer) -> frozenset[str]:
    """As for *Why this?*: what this person may be shown there, and what the page shows them anyway."""
    found = frozenset[str](await readable_ids(visit, sorted(answer.knowledge_bases)))
    person, directory = visit.reader.person, await visit.reader.directory(turn.place)
    if person is None or directory is None:
        return found
    scope = await visit.parts.audiences.scope(turn.place, directory, person=person)
    return found | scope.knowledge_bases


async def _passage(
    visit: Visit, passage: TracedPassage, answer: TracedAnswer, readable: frozenset[str]
) -> ShownPassage:
    reasons = tuple(f"{_LEGS.get(leg, leg)}: no. {rank}, {score:.2f}" for leg, rank, score in passage.legs)
    hidden = ShownPassage(
        number=passage.number, kind=passage.kind, reasons=reasons, score=passage.score, cited=passage.cited
    )
    rows = await visit.parts.engine.fetch(
        "SELECT knowledge_base, title FROM documents WHERE id = ? AND id NOT IN (SELECT document FROM removals)",
        (passage.document,),
    )
    if not rows or rows[0][0] not in readable:
        return hidden
    sections = await visit.parts.catalog.sections(passage.document)
    wanted = answer.understood_as or answer.question
    return ShownPassage(
        number=passage.number,
        kind=passage.kind,
        title=shown(rows[0][1]),
        anchor=passage.anchor,
        text=await asyncio.to_thread(excerpt, sections, passage.anchor, wanted),
        reasons=reasons,
        score=passage.score,
        cited=passage.cited,
        document=passage.document,
        base=KnowledgeBaseId(rows[0][0]),
    )
