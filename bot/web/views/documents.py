from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bot.store.feedback import misleading
from bot.store.turn_figures import TurnFigures
from bot.web.document_list import STATES, documents
from bot.web.known_bases import check_changes, counts, known_base, known_bases, who_reads
from bot.web.visit import Moved, NothingHere, Shown
from rag_engine.parsing.media_types import shown
from rag_engine.types import DocumentId

if TYPE_CHECKING:
    from bot.web.known_bases import KnownBase
    from bot.web.visit import Reply, Visit
    from rag_engine.types import DocumentRecord, Section

TITLE: Final = "Documents"
PATH: Final = "documents"
POSITION: Final = 30
SAID: Final = {
    "removed": "The document was removed.",
    "leaving": "The document is hidden; it leaves the index as soon as that answers.",
    "again": "The document is being indexed again.",
}
_AT_ONCE: Final = 50
_LONGEST: Final = 200
_CHARACTERS: Final = 20_000


async def show(visit: Visit) -> Reply:
    match visit.rest:
        case (base, document, *_) if document:
            return await _document(visit, base, document)
        case (base, *_) if base:
            return await _listed(visit, await known_base(visit, base))
        case _:
            pass
    known = [each for each in await known_bases(visit) if each.is_readable]
    values = {"bases": known, "counts": await counts(visit, known)}
    return Shown(template="documents_of_bases.html", values=values)


async def _listed(visit: Visit, known: KnownBase) -> Shown:
    state, text = visit.choice("state", *STATES), visit.query.get("text", "")[:_LONGEST].strip()
    after = (visit.query.get("after", ""), visit.query.get("id", ""))
    found, following = await documents(
        visit.parts.engine, known.base.id, state=state, text=text, after=after, limit=_AT_ONCE
    )
    cited = await TurnFigures(visit.parts.chat).citations([each.id for each in found])
    values = {
        "known": known,
        "misleading": await misleading(visit.parts.chat, [each.id for each in found]),
        "documents": found,
        "cited": cited,
        "shown": shown,
        "origin": visit.origin,
        "state": state,
        "states": list(STATES),
        "text": text,
        "next": following,
        "first": not any(after),
    }
    return Shown(template="documents.html", values=values, title=f"Documents of {known.name}")


async def _document(visit: Visit, base: str, identity: str) -> Shown:
    known = await known_base(visit, base)
    record = await _record(visit, known, identity)
    sections = await visit.parts.catalog.sections(record.document.id)
    start = visit.number("start", most=max(len(sections) - 1, 0))
    part = _part(sections[start:])
    end = start + len(part)
    cited = await TurnFigures(visit.parts.chat).citations([record.document.id])
    values = {
        "known": known,
        "record": record,
        "name": shown(record.document.title),
        "sections": part,
        "start": start,
        "next": end if end < len(sections) else None,
        "total": len(sections),
        "cited": cited.get(record.document.id, 0),
        "misleads": bool(await misleading(visit.parts.chat, [record.document.id])),
        "sources": [
            link
            for each in await visit.parts.catalog.sources(record.document.id)
            if (link := visit.origin(each))
        ],
        "who": await who_reads(visit, known),
        "changes": known.audience is not None or visit.reader.is_operator,
        "asks": visit.query.get("remove") == "ask",
        "runs": visit.background.runs(_work(record)),
    }
    return Shown(template="document.html", values=values, title=shown(record.document.title))


async def act(visit: Visit) -> Reply:
    if len(visit.rest) != 2:
        raise NothingHere
    known = await known_base(visit, visit.rest[0])
    check_changes(visit, known)
    record = await _record(visit, known, visit.rest[1])
    identity = record.document.id
    match visit.form.get("act"):
        case "remove":
            visit.audit("remove document", knowledge_base=known.base.id)
            done = await visit.parts.forget(known.base.id, identity)
            return Moved(path=f"documents/{known.base.id}", said="removed" if done else "leaving")
        case "again":
            visit.audit("reindex document", knowledge_base=known.base.id)
            work = visit.parts.application.library.ingestion.reindex(record)
            visit.background.start(_work(record), work)
            return Moved(path=f"documents/{known.base.id}/{identity}", said="again")
        case _:
            raise NothingHere


async def _record(visit: Visit, known: KnownBase, identity: str) -> DocumentRecord:
    found = await visit.parts.catalog.find_by_id(DocumentId(identity))
    leaving = await visit.parts.catalog.unfinished.leaving()
    if found is None or found.document.knowledge_base != known.base.id or identity in leaving:
        raise NothingHere
    return found


def _part(sections: list[Section]) -> list[Section]:
    taken: list[Section] = []
    room = _CHARACTERS
    for section in sections:
        if taken and len(section.text) > room:
            break
        taken.append(section)
        room -= len(section.text)
    return taken


def _work(record: DocumentRecord) -> str:
    return f"reindex {record.document.id}"
