from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bot.store.channel_sources import UNREADABLE, ChannelSources
from bot.web.known_bases import check_changes, known_base, readable_ids
from bot.web.visit import Moved, NothingHere, Shown
from rag_engine.sync import interval
from rag_engine.types import KnowledgeBaseId

if TYPE_CHECKING:
    from bot.store.channel_sources import ChannelSource, Progress
    from bot.web.known_bases import KnownBase
    from bot.web.visit import Reply, Visit
    from rag_engine.sync.types import SyncedSource

TITLE: Final = "Sources"
PATH: Final = "sources"
POSITION: Final = 50
SAID: Final = {
    "soon": "The source is read in a moment.",
    "removed": "The source is being removed, with the documents that came from it.",
}
_MOST_REASONS: Final = 20


async def show(visit: Visit) -> Reply:
    if visit.rest and visit.rest[0]:
        source, known = await _source(visit, visit.rest[0])
        values = {
            **_row(visit, source, known),
            "unread": await visit.parts.sources.unread(source.id, limit=_MOST_REASONS),
            "asks": visit.query.get("remove") == "ask",
        }
        return Shown(template="source.html", values=values, title="A source")
    listed, store = await visit.parts.sources.all(), ChannelSources(visit.parts.chat)
    channels = await store.all()
    known = await readable_ids(visit, sorted({each.knowledge_base for each in (*listed, *channels)}))
    rows = [_row(visit, each, known[each.knowledge_base]) for each in listed if each.knowledge_base in known]
    of_known = [each for each in channels if each.knowledge_base in known]
    followed = [
        await _channel(visit, each, known[each.knowledge_base], await store.progress(each))
        for each in of_known
        if await visit.reader.reads(each.place) == "readable"
    ]
    return Shown(template="sources.html", values={"rows": rows, "channels": followed})


async def act(visit: Visit) -> Reply:
    if not visit.rest:
        raise NothingHere
    source, known = await _source(visit, visit.rest[0])
    check_changes(visit, known)
    sources = visit.parts.application.sources
    match visit.form.get("act"):
        case "run":
            visit.audit("run source", knowledge_base=known.base.id)
            await sources.run_now(source)
            return Moved(path=f"sources/{source.id}", said="soon")
        case "remove":
            visit.audit("remove source", knowledge_base=known.base.id)
            await visit.parts.sources.withdraw(source.id)
            visit.background.start(f"remove source {source.id}", sources.remove(source))
            return Moved(path="sources", said="removed")
        case _:
            raise NothingHere


async def _source(visit: Visit, number: str) -> tuple[SyncedSource, KnownBase]:
    for each in await visit.parts.sources.all():
        if str(each.id) == number:
            return each, await known_base(visit, KnowledgeBaseId(each.knowledge_base))
    raise NothingHere


async def _channel(
    visit: Visit, source: ChannelSource, known: KnownBase, progress: Progress
) -> dict[str, object]:
    error = "The platform does not show it to the bot." if source.error == UNREADABLE else source.error
    return {
        "name": await visit.reader.channel_name(source.place),
        "known": known,
        "state": "failed" if error else "running" if progress.is_reading else "ready",
        "error": error,
        "progress": progress,
    }


def _row(visit: Visit, source: SyncedSource, known: KnownBase) -> dict[str, object]:
    return {
        "source": source,
        "known": known,
        "address": visit.origin(source.address) or f"a {source.kind} of the operator",
        "every": interval.shown(source.every_seconds),
        "changes": known.audience is not None or visit.reader.is_operator,
    }
