from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bot.access.expert_names import MOST_PEOPLE, channel_of
from bot.conversation.sources.readable_records import readable_record
from bot.port import Gone, People, Person
from bot.store.expert_requests import ExpertPost
from rag_engine.types import DocumentId, KnowledgeBaseId

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.conversation.dependencies import AudienceLookup
    from bot.port import Directory, Place
    from bot.store.expert_requests import ExpertRequest
    from rag_engine.ingestion.ingestion import DocumentCatalog


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertReaders:
    audiences: AudienceLookup
    catalog: DocumentCatalog

    async def readers(self, experts: str, directory: Directory, *, without: str) -> list[str]:
        """The people of a person or group; one empty name for a channel. Raises `ChatError`."""
        if channel_of(experts):
            return [""]
        try:
            people: People = await directory.people(experts)
        except Gone:
            return []
        return [each for each in people.members if each != without][:MOST_PEOPLE]

    async def may_read(
        self, knowledge_base: KnowledgeBaseId, post: ExpertPost, directory: Directory, place: Place
    ) -> bool:
        """`place` is of the workspace."""
        if post.person:
            reader = Person(id=post.person)
            verdict = await self.audiences.person_may_read(knowledge_base, place, directory, reader)
        else:
            where = replace(place.parent, channel=post.channel)
            verdict = await self.audiences.everyone_may_read(knowledge_base, where, directory, Person(id=""))
        return verdict == "readable"

    async def quotes(
        self, request: ExpertRequest, posts: Iterable[ExpertPost], directory: Directory
    ) -> tuple[tuple[str, str, str], ...]:
        """Those that all readers of the posts may read now."""
        listed = list(posts)
        found: list[tuple[str, str, str]] = []
        for base, document, text in request.quotes:
            knowledge_base = KnowledgeBaseId(base)
            record = await readable_record(self.catalog, DocumentId(document), (knowledge_base,))
            checks = [await self.may_read(knowledge_base, post, directory, request.place) for post in listed]
            if record is not None and listed and all(checks):
                found.append((base, document, text))
        return tuple(found)


def draft_posts(request: ExpertRequest, people: Iterable[str]) -> list[ExpertPost]:
    """Of the current experts, before the places of people are known."""
    return [
        ExpertPost(
            request=request.id,
            hop=request.hop,
            person=person,
            platform=request.platform,
            workspace=request.workspace,
            channel="" if person else channel_of(request.expert_channel),
        )
        for person in people
    ]
