from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from bot.messages import language_of, say
from bot.port import ChatError, Overview, Reply
from rag_engine.errors import RagError
from rag_engine.parsing.media_types import shown

if TYPE_CHECKING:
    from bot.access.permissions import Scope
    from bot.conversation.dependencies import AudienceLookup, ListDocuments, PermissionChecks
    from bot.port import Arrival, Person, Place, Room
    from bot.store.processed_interactions import ProcessedInteractions
    from bot.streaming.scheduler import Scheduler

_MOST_BASES: Final = 20
_MOST_PROMPTS: Final = 3

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstSteps:
    processed: ProcessedInteractions
    permissions: PermissionChecks
    audiences: AudienceLookup
    scheduler: Scheduler
    records: ListDocuments
    _running: set[tuple[Place, str]] = field(default_factory=set["tuple[Place, str]"], init=False)

    async def greet(self, arrival: Arrival, room: Room) -> None:
        event = f"{arrival.kind}:{arrival.id}"
        key = arrival.place, event
        if key in self._running:
            return
        self._running.add(key)
        try:
            self.permissions.admit(arrival.place)
            if await self.processed.begin(arrival.place, event) == "finished":
                return
            text = say("joined" if arrival.kind == "joined" else "greeting", language_of("", arrival.person))
            async with self.scheduler.open(room.outlet()) as stream:
                await stream.finish(Reply(text=text))
            await self.processed.finish(arrival.place, event)
        except (ChatError, RagError) as error:
            _log.warning("nobody was greeted: %s", error)
        finally:
            self._running.discard(key)

    async def overview(self, person: Person, place: Place, room: Room) -> Overview:
        """What cannot be looked up is left out."""
        language = language_of("", person)
        overview = Overview(
            greeting=say("greeting", language),
            heading=say("home_heading", language),
            how_to_add=say("home_add", language),
            prompts_heading=say("prompts_heading", language),
            prompts=(say("prompt_help", language),),
        )
        try:
            self.permissions.admit(place)
            scope = await self.audiences.scope(place, room.directory, person=person)
            return await self._with_documents(overview, scope, language)
        except (ChatError, RagError) as error:
            _log.warning("an overview is incomplete: %s", error)
            return overview

    async def _with_documents(self, overview: Overview, scope: Scope, language: str) -> Overview:
        names, lines, titles = scope.names_in(language), list[str](), list[str]()
        for identity in sorted(scope.knowledge_bases, key=lambda each: names.get(each, str(each)))[
            :_MOST_BASES
        ]:
            ready = [each for each in await self.records(identity) if each.state == "ready"]
            if ready:
                count = say("documents", language, count=len(ready))
                lines.append(say("fact", language, fact=names.get(identity, str(identity)), value=count))
                titles += [shown(each.document.title) for each in ready]
        prompts = [say("prompt_summary", language, title=title) for title in titles[:_MOST_PROMPTS]]
        return Overview(
            greeting=overview.greeting,
            heading=overview.heading,
            knowledge_bases=tuple(lines or [say("home_none", language)]),
            how_to_add=overview.how_to_add,
            prompts_heading=overview.prompts_heading,
            prompts=(*prompts, *overview.prompts),
        )
