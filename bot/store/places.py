from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from bot.port import Place
from rag_engine.storage.knowledge_base_names import folded
from rag_engine.types import KnowledgeBaseId, ToolPolicy

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from rag_engine.storage.sqlite.database import Database, Row

Mode: TypeAlias = Literal["mention", "thread", "auto"]
Policy: TypeAlias = Literal["strict", "blended"]
PlaceRoute: TypeAlias = Literal["auto", "chat"]
"""`chat`: nothing is searched."""

WebPolicy: TypeAlias = Literal["off", "ask", "auto"]
MessagePolicy: TypeAlias = Literal["off", "on"]

_SETTINGS = """
    SELECT mode, knowledge, language, persona, model, temperature, empty_answer, citations, route, filter, web,
        tools, messages
    FROM place_settings WHERE platform = ? AND workspace = ? AND channel = ?
"""
_CHANGE = """
    INSERT OR REPLACE INTO place_settings
        (platform, workspace, channel, mode, knowledge, language, persona, model, temperature, empty_answer, citations, route,
         filter, web, tools, messages)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_RESET = """
    DELETE FROM place_settings WHERE platform = ? AND workspace = ? AND channel = ?
"""
_ALL_SETTINGS = """
    SELECT platform, workspace, channel, mode, knowledge, language, persona, model, temperature, empty_answer, citations, route,
        filter, web, tools, messages
    FROM place_settings ORDER BY platform, workspace, channel
"""
_BINDINGS = """
    SELECT knowledge_base FROM bindings WHERE platform = ? AND workspace = ? AND channel = ? ORDER BY ordinal
"""
_BIND = """
    INSERT INTO bindings (platform, workspace, channel, knowledge_base) VALUES (?, ?, ?, ?)
    ON CONFLICT DO NOTHING RETURNING ordinal
"""
_UNBIND = """
    DELETE FROM bindings WHERE platform = ? AND workspace = ? AND channel = ? AND knowledge_base = ? RETURNING ordinal
"""
_AUDIENCE = """
    SELECT knowledge_base, platform, workspace, channel, thread, label FROM audiences WHERE knowledge_base = ?
"""
_AUDIENCES = """
    SELECT knowledge_base, platform, workspace, channel, thread, label FROM audiences
    WHERE knowledge_base IN (SELECT value FROM json_each(?))
"""
_AT = """
    SELECT knowledge_base, platform, workspace, channel, thread, label FROM audiences
    WHERE platform = ? AND workspace = ? AND channel = ? AND thread = ? AND folded = ?
"""
_OF_THREADS = """
    SELECT 1 FROM audiences
    WHERE platform = ? AND workspace = ? AND channel = ? AND thread <> '' LIMIT 1
"""
# They must match the table's indexes.
_LABELLED = """
    SELECT knowledge_base FROM audiences WHERE platform = ? AND workspace = ? AND folded = ? AND folded <> ''
"""
_OF_CHANNELS = """
    SELECT knowledge_base FROM audiences WHERE platform = ? AND workspace = ? AND thread = ''
"""
_OWN_OF_CHANNELS = """
    SELECT knowledge_base, platform, workspace, channel, thread, label FROM audiences
    WHERE platform = ? AND thread = '' AND (folded = '' OR channel = '')
"""
_ALL_BINDINGS = """
    SELECT workspace, channel, knowledge_base FROM bindings WHERE platform = ? ORDER BY ordinal
"""
_BOUND_TO = """
    SELECT platform, workspace, channel FROM bindings WHERE knowledge_base = ? ORDER BY ordinal
"""
_ADMIT = """
    INSERT OR REPLACE INTO audiences (knowledge_base, platform, workspace, channel, thread, label, folded)
    VALUES (?, ?, ?, ?, ?, ?, ?)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceSettings:
    mode: Mode = "thread"
    knowledge: Policy = "strict"
    language: str = ""
    """ISO 639-1; empty for the question's language."""
    persona: str = ""
    model: str = ""
    """In `FOOTNOTE_MODEL__CHOICES`; empty: the first."""
    temperature: float | None = None
    empty_answer: str = ""
    citations: bool = True
    route: PlaceRoute = "auto"
    filter: str = ""
    """One a line; all hold."""
    web: WebPolicy = "off"
    tools: ToolPolicy = "off"
    messages: MessagePolicy = "off"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAudience:
    knowledge_base: KnowledgeBaseId
    platform: str
    workspace: str
    channel: str = ""
    thread: str = ""
    label: str = ""

    @property
    def place(self) -> Place:
        """Without a channel the whole workspace."""
        return Place(
            platform=self.platform, workspace=self.workspace, channel=self.channel, thread=self.thread
        )

    @property
    def everyone(self) -> bool:
        return not self.channel


class Places:
    def __init__(self, database: Database, *, defaults: PlaceSettings | None = None) -> None:
        self._database = database
        self._defaults = defaults or PlaceSettings()

    @property
    def defaults(self) -> PlaceSettings:
        return self._defaults

    async def settings(self, place: Place) -> PlaceSettings:
        rows = await self._database.fetch(_SETTINGS, _channel(place))
        if not rows:
            return self._defaults
        return _place_settings(rows[0])

    async def change(self, place: Place, edit: Callable[[PlaceSettings], PlaceSettings]) -> PlaceSettings:
        """In one transaction; returns the new ones."""
        async with self._database.transaction() as transaction:
            rows = await transaction.execute(_SETTINGS, _channel(place))
            settings = edit(_place_settings(rows[0]) if rows else self._defaults)
            await transaction.execute(
                _CHANGE,
                (
                    *_channel(place),
                    settings.mode,
                    settings.knowledge,
                    settings.language,
                    settings.persona,
                    settings.model,
                    settings.temperature,
                    settings.empty_answer,
                    settings.citations,
                    settings.route,
                    settings.filter,
                    settings.web,
                    settings.tools,
                    settings.messages,
                ),
            )
        return settings

    async def reset(self, place: Place) -> PlaceSettings:
        """Back to the defaults, which it returns."""
        async with self._database.transaction() as transaction:
            await transaction.execute(_RESET, _channel(place))
        return self._defaults

    async def with_settings(self) -> list[tuple[Place, PlaceSettings]]:
        rows = await self._database.fetch(_ALL_SETTINGS)
        return [
            (Place(platform=platform, workspace=workspace, channel=channel), _place_settings(row))
            for platform, workspace, channel, *row in rows
        ]

    async def bindings(self, place: Place) -> list[KnowledgeBaseId]:
        rows = await self._database.fetch(_BINDINGS, _channel(place))
        return [KnowledgeBaseId(knowledge_base) for (knowledge_base,) in rows]

    async def bind(self, place: Place, knowledge_base: KnowledgeBaseId) -> bool:
        async with self._database.transaction() as transaction:
            rows = await transaction.execute(
                _BIND,
                (*_channel(place), knowledge_base),
            )
        return bool(rows)

    async def unbind(self, place: Place, knowledge_base: KnowledgeBaseId) -> bool:
        async with self._database.transaction() as transaction:
            rows = await transaction.execute(
                _UNBIND,
                (*_channel(place), knowledge_base),
            )
        return bool(rows)

    async def audience(self, knowledge_base: KnowledgeBaseId) -> StoredAudience | None:
        """None if it was not made in chat."""
        rows = await self._database.fetch(_AUDIENCE, (knowledge_base,))
        return _audience(rows[0]) if rows else None

    async def audiences(
        self, knowledge_bases: Collection[KnowledgeBaseId]
    ) -> dict[KnowledgeBaseId, StoredAudience]:
        """Only of those made in chat."""
        rows = await self._database.fetch(_AUDIENCES, (json.dumps(list(knowledge_bases)),))
        return {audience.knowledge_base: audience for audience in map(_audience, rows)}

    async def at(self, place: Place, *, label: str = "") -> StoredAudience | None:
        """In exactly this place; without a label, its own."""
        rows = await self._database.fetch(_AT, (*_channel(place), place.thread, folded(label)))
        # Invalid text in ids is stored changed.
        return next((found for found in map(_audience, rows) if found.place == place), None)

    async def have_threads(self, place: Place) -> bool:
        return bool(await self._database.fetch(_OF_THREADS, _channel(place)))

    async def labelled(self, place: Place, label: str) -> list[KnowledgeBaseId]:
        rows = await self._database.fetch(_LABELLED, (place.platform, place.workspace, folded(label)))
        return [KnowledgeBaseId(knowledge_base) for (knowledge_base,) in rows]

    async def of_channels(self, place: Place) -> list[KnowledgeBaseId]:
        rows = await self._database.fetch(_OF_CHANNELS, (place.platform, place.workspace))
        return [KnowledgeBaseId(knowledge_base) for (knowledge_base,) in rows]

    async def in_channels(
        self, platform: str
    ) -> tuple[list[StoredAudience], list[tuple[Place, KnowledgeBaseId]]]:
        """Also of whole workspaces, without labelled ones; and all bindings."""
        own = [_audience(row) for row in await self._database.fetch(_OWN_OF_CHANNELS, (platform,))]
        bound = [
            (
                Place(platform=platform, workspace=workspace, channel=channel),
                KnowledgeBaseId(knowledge_base),
            )
            for workspace, channel, knowledge_base in await self._database.fetch(_ALL_BINDINGS, (platform,))
        ]
        return own, bound

    async def bound_to(self, knowledge_base: KnowledgeBaseId) -> list[Place]:
        """The channels that search it beside their own."""
        rows = await self._database.fetch(_BOUND_TO, (knowledge_base,))
        return [
            Place(platform=platform, workspace=workspace, channel=channel)
            for platform, workspace, channel in rows
        ]

    async def admit(self, audience: StoredAudience) -> StoredAudience:
        """Returns the one already stored, if any."""
        knowledge_base = audience.knowledge_base
        async with self._database.transaction() as transaction:
            if rows := await transaction.execute(_AUDIENCE, (knowledge_base,)):
                return _audience(rows[0])
            # Names are unique in the catalog.
            await transaction.execute(
                _ADMIT,
                (
                    knowledge_base,
                    audience.platform,
                    audience.workspace,
                    audience.channel,
                    audience.thread,
                    audience.label,
                    folded(audience.label),
                ),
            )
        return audience

    async def forget(self, knowledge_base: KnowledgeBaseId) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute("DELETE FROM bindings WHERE knowledge_base = ?", (knowledge_base,))
            await transaction.execute("DELETE FROM audiences WHERE knowledge_base = ?", (knowledge_base,))

    async def forget_others(self, existing: Collection[KnowledgeBaseId]) -> None:
        """At the start, before any is made."""
        rows = await self._database.fetch(
            "SELECT knowledge_base FROM bindings UNION SELECT knowledge_base FROM audiences"
        )
        for (knowledge_base,) in rows:
            if knowledge_base not in existing:
                await self.forget(KnowledgeBaseId(knowledge_base))


def _channel(place: Place) -> tuple[str, str, str]:
    return place.platform, place.workspace, place.channel


def _place_settings(row: Sequence[Any]) -> PlaceSettings:
    mode, knowledge, language, persona, model, temperature, empty_answer, citations, route, *others = row
    filter_, web, tools, messages = others
    return PlaceSettings(
        mode=mode,
        knowledge=knowledge,
        language=language,
        persona=persona,
        model=model,
        temperature=temperature,
        empty_answer=empty_answer,
        citations=bool(citations),
        route=route,
        filter=filter_,
        web=web,
        tools=tools,
        messages=messages,
    )


def _audience(row: Row) -> StoredAudience:
    knowledge_base, platform, workspace, channel, thread, label = row
    return StoredAudience(
        knowledge_base=KnowledgeBaseId(knowledge_base),
        platform=platform,
        workspace=workspace,
        channel=channel,
        thread=thread,
        label=label,
    )
