from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from bot.port import Place
from bot.store.question_list import QuestionFilter, questions
from bot.web.traces import trace_of
from bot.web.visit import HIDDEN, UNCHECKED, NothingHere, Shown

if TYPE_CHECKING:
    from bot.store.question_list import ListedQuestion
    from bot.web.visit import Visit

TITLE: Final = "Questions"
PATH: Final = "questions"
POSITION: Final = 10

OUTCOMES: Final = {
    "": "all",
    "answered": "answered",
    "unanswered": "not found",
    "down": "rated not helpful",
    "failed": "failed",
    "stopped": "stopped",
    "talk": "talk and help",
}
_AT_ONCE: Final = 50
_LONGEST: Final = 200


async def show(visit: Visit) -> Shown:
    if visit.rest and visit.rest[0]:
        return await trace_of(visit, visit.rest[0])
    chosen = _chosen(visit)
    if chosen.channel:
        place = Place(platform=chosen.platform, workspace=chosen.workspace, channel=chosen.channel)
        if await visit.reader.reads(place) != "readable":  # hidden questions do not say where they are from
            raise NothingHere

    async def reads(listed: ListedQuestion) -> bool:
        return await visit.reader.reads(listed.place, private_of=listed.private_of) == "readable"

    part = await questions(visit.parts.chat, chosen, limit=_AT_ONCE, reads=reads)
    rows = await asyncio.gather(*(_row(visit, each) for each in part.questions))
    values = {
        "rows": rows,
        "outcomes": OUTCOMES,
        "chosen": chosen,
        "here": f"{chosen.platform}:{chosen.workspace}:{chosen.channel}" if chosen.channel else "",
        "next": part.next,
        "first": "before" not in visit.query,
    }
    return Shown(template="questions.html", values=values)


def _chosen(visit: Visit) -> QuestionFilter:
    who = visit.visitor
    at, _, identity = visit.query.get("before", "").partition("~")
    before = {"before": (float(at), identity)} if _is_moment(at) else {}
    platform, _, rest = visit.query.get("in", "")[:_LONGEST].partition(":")
    workspace, _, channel = rest.partition(":")
    return QuestionFilter(
        platform=who.platform or platform,
        workspace=who.workspace or workspace,
        channel=channel,
        outcome=visit.choice("outcome", *OUTCOMES),
        text=visit.query.get("text", "")[:_LONGEST].strip(),
        **before,
    )


def _is_moment(text: str) -> bool:
    whole, _, rest = text.partition(".")
    digits = whole + rest
    return digits.isascii() and digits.isdecimal() and bool(whole) and len(digits) < 24


async def _row(visit: Visit, listed: ListedQuestion) -> dict[str, object]:
    verdict = await visit.reader.reads(listed.place, private_of=listed.private_of)
    is_readable = verdict == "readable"
    return {
        "listed": listed,
        "hidden": "" if is_readable else UNCHECKED if verdict == "unknown" else HIDDEN,
        "place": await visit.reader.channel_name(listed.place) if is_readable else "",
        "outcome": OUTCOMES.get(listed.outcome, "") or "being answered",
    }
