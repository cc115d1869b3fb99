from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bot.store.expert_requests import ExpertRequests
from bot.web.known_bases import check_changes, known_base, known_bases
from bot.web.visit import HIDDEN, UNCHECKED, Moved, NothingHere, Shown
from rag_engine.ingestion.verified_editor import VerifiedEditor
from rag_engine.types import DocumentId

if TYPE_CHECKING:
    from bot.port import Place
    from bot.store.expert_requests import ExpertRequest
    from bot.web.known_bases import KnownBase
    from bot.web.visit import Reply, Visit
    from rag_engine.metadata.verified_answer import VerifiedAnswer
    from rag_engine.types import KnowledgeBaseId

TITLE: Final = "Experts"
PATH: Final = "experts"
POSITION: Final = 60
SAID: Final = {
    "confirmed": "The verified answer is confirmed.",
    "revoked": "The verified answer is revoked.",
}
_LATEST: Final = 50
_STATES: Final = {
    "draft": "not sent",
    "sending": "being sent",
    "waiting": "waiting for an answer",
    "handing": "going to other experts",
    "asking": "asking back",
    "asked": "waiting for the asker",
    "replying": "waiting for an answer",
    "answered": "answered",
    "delivered": "answered",
    "declined": "no answer",
    "withdrawn": "withdrawn",
    "closed": "closed",
}


async def show(visit: Visit) -> Reply:
    known = {each.base.id: each for each in await known_bases(visit) if each.is_readable}
    answers = await visit.parts.catalog.verified.read(list(known))
    if visit.rest and visit.rest[0]:
        for each in answers:
            if each.id == visit.rest[0]:
                values = {
                    **_answer(visit, each, known[each.knowledge_base]),
                    "asks": "revoke" in visit.query,
                    "titles": await _titles(visit, each, list(known)),
                }
                return Shown(template="verified.html", values=values, title="A verified answer")
        raise NothingHere
    requests = await ExpertRequests(visit.parts.chat).latest(
        visit.visitor.platform, visit.visitor.workspace, limit=_LATEST
    )
    values = {
        "answers": [_answer(visit, each, known[each.knowledge_base]) for each in answers],
        "requests": await asyncio.gather(*(_request(visit, each) for each in requests)),
        "experts": await _experts(visit, list(known.values())),
    }
    return Shown(template="experts.html", values=values)


async def act(visit: Visit) -> Reply:
    found = await visit.parts.catalog.verified.find(visit.rest[0]) if visit.rest else None
    if found is None:
        raise NothingHere
    known = await known_base(visit, found.knowledge_base)
    check_changes(visit, known)
    application = visit.parts.application
    editor = VerifiedEditor(
        ingestion=application.library.ingestion,
        catalog=application.catalog,
        review_days=application.settings.chat.review_days,
    )
    match visit.form.get("act"):
        case "confirm":
            visit.audit("confirm verified answer", knowledge_base=known.base.id)
            await editor.confirm(found)
            return Moved(path="experts", said="confirmed")
        case "revoke":
            visit.audit("revoke verified answer", knowledge_base=known.base.id)
            await editor.revoke(found)
            return Moved(path="experts", said="revoked")
        case _:
            raise NothingHere


def _answer(visit: Visit, answer: VerifiedAnswer, known: KnownBase) -> dict[str, object]:
    return {
        "answer": answer,
        "known": known,
        "outdated": answer.is_outdated(time.time()),
        "changes": known.audience is not None or visit.reader.is_operator,
        "id": DocumentId(answer.id),
    }


async def _titles(
    visit: Visit, answer: VerifiedAnswer, readable: list[KnowledgeBaseId]
) -> list[tuple[str, bool]]:
    rows = await visit.parts.engine.fetch(
        "SELECT id FROM documents WHERE id IN (SELECT value FROM json_each(?)) "
        "AND knowledge_base IN (SELECT value FROM json_each(?))",
        (json.dumps([each.document for each in answer.sources]), json.dumps(readable)),
    )
    may = {identity for (identity,) in rows}
    return [
        (
            each.title if each.document in may or visit.reader.is_operator else "a document",
            each.title in answer.changed,
        )
        for each in answer.sources
    ]


async def _request(visit: Visit, request: ExpertRequest) -> dict[str, object]:
    private_of = request.person if request.private else ""
    verdict = await visit.reader.reads(request.place, private_of=private_of)
    hidden = "" if verdict == "readable" else UNCHECKED if verdict == "unknown" else HIDDEN
    asked = replace(request.place, channel=request.expert_channel, thread="")
    return {
        "request": request,
        "state": _STATES[request.state],
        "hidden": hidden,
        "said": request.said if request.state == "delivered" and not hidden else "",
        "channel": await _expert(visit, asked),
    }


async def _experts(visit: Visit, known: list[KnownBase]) -> list[tuple[KnownBase, list[str], int]]:
    named = await ExpertRequests(visit.parts.chat).named([each.base.id for each in known])
    found: list[tuple[KnownBase, list[str], int]] = []
    for each in known:
        places = named.get(each.base.id, [])
        names = [name for place in places if (name := await _expert(visit, place))]
        if places:
            found.append((each, names, len(places) - len(names)))
    return found


async def _expert(visit: Visit, place: Place) -> str:
    if place.channel.startswith("<"):
        return "a person" if place.channel.startswith("<@") and "&" not in place.channel else "a group"
    verdict = await visit.reader.reads(place)
    return await visit.reader.channel_name(place) if verdict == "readable" else ""
