"""What is kept of places: how the bot behaves there, which knowledge bases are used, and who may read those made in chat."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from bot.port import Place
from rag_engine.storage.names import folded
from rag_engine.types import KnowledgeBaseId

if TYPE_CHECKING:
    from collections.abc import Collection

    from rag_engine.storage.sqlite import Database, Row

Mode: TypeAlias = Literal["mention", "thread", "auto"]
Policy: TypeAlias = Literal["strict", "blended"]

_SETTINGS = """
    SELECT mode, knowledge, language FROM place_settings WHERE platform = ? AND workspace = ? AND channel = ?
"""
_CHANGE = """
    INSERT OR REPLACE INTO place_settings (platform, workspace, channel, mode, knowledge, language)
    VALUES (?, ?, ?, ?, ?, ?)
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
# These two are written as the indexes of audiences are, or SQLite reads every row.
_LABELLED = """
    SELECT knowledge_base FROM audiences WHERE platform = ? AND workspace = ? AND folded = ? AND folded <> ''
"""
_OF_CHANNELS = """
    SELECT knowledge_base FROM audiences WHERE platform = ? AND workspace = ? AND thread = ''
"""
_ADMIT = """
    INSERT OR REPLACE INTO audiences (knowledge_base, platform, workspace, channel, thread, label, folded)
    VALUES (?, ?, ?, ?, ?, ?, ?)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceSettings:
    """How the bot behaves in a channel and its threads."""

    mode: Mode = "thread"
    """When it speaks: only when mentioned; also, unasked, in threads it is in; or on every question in the channel."""
    knowledge: Policy = "strict"
    """Whether an answer rests on the files alone, or may add, marked as such, what the model knows."""
    language: str = ""
    """The language of answers (ISO 639-1); empty: that of the question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """Who may read a knowledge base that was made in chat: everyone who can read its place, or the whole workspace."""

    knowledge_base: KnowledgeBaseId
    platform: str
    workspace: str
    channel: str = ""
    """Empty: everyone of the workspace may read it."""
    thread: str = ""
    label: str = ""
    """What people call it; a place's own has none."""

    @property
    def place(self) -> Place:
        """The place whose readers may read it; its channel is empty for the whole workspace."""
        return Place(
            platform=self.platform, workspace=self.workspace, channel=self.channel, thread=self.thread
        )

    @property
    def everyone(self) -> bool:
        """Whether the whole workspace may read it."""
        return not self.channel


class Places:
    """Settings, bindings and audiences, in the database `chat.sqlite`."""

    def __init__(self, database: Database, *, defaults: PlaceSettings | None = None) -> None:
        self._database = database
        self._defaults = defaults or PlaceSettings()

    async def settings(self, place: Place) -> PlaceSettings:
        """Those of the place's channel, or the defaults."""
        rows = await self._database.fetch(_SETTINGS, _channel(place))
        if not rows:
            return self._defaults
        mode, knowledge, language = rows[0]
        return PlaceSettings(mode=mode, knowledge=knowledge, language=language)

    async def change(self, place: Place, settings: PlaceSettings) -> None:
        """Set those of the place's channel."""
        async with self._database.transaction() as transaction:
            await transaction.execute(
                _CHANGE,
                (*_channel(place), settings.mode, settings.knowledge, settings.language),
            )

    async def bindings(self, place: Place) -> list[KnowledgeBaseId]:
        """What the place's channel uses beside its own, in the order of binding."""
        rows = await self._database.fetch(_BINDINGS, _channel(place))
        return [KnowledgeBaseId(knowledge_base) for (knowledge_base,) in rows]

    async def bind(self, place: Place, knowledge_base: KnowledgeBaseId) -> bool:
        """Let the place's channel use it; whether that is new."""
        async with self._database.transaction() as transaction:
            rows = await transaction.execute(
                _BIND,
                (*_channel(place), knowledge_base),
            )
        return bool(rows)

    async def unbind(self, place: Place, knowledge_base: KnowledgeBaseId) -> bool:
        """Let the place's channel use it no longer; whether it did."""
        async with self._database.transaction() as transaction:
            rows = await transaction.execute(
                _UNBIND,
                (*_channel(place), knowledge_base),
            )
        return bool(rows)

    async def audience(self, knowledge_base: KnowledgeBaseId) -> Audience | None:
        """Who may read it; None when it was not made in chat."""
        rows = await self._database.fetch(_AUDIENCE, (knowledge_base,))
        return _audience(rows[0]) if rows else None

    async def audiences(
        self, knowledge_bases: Collection[KnowledgeBaseId]
    ) -> dict[KnowledgeBaseId, Audience]:
        """Of those of these that were made in chat, on any platform."""
        rows = await self._database.fetch(_AUDIENCES, (json.dumps(list(knowledge_bases)),))
        return {audience.knowledge_base: audience for audience in map(_audience, rows)}

    async def at(self, place: Place, *, label: str = "") -> Audience | None:
        """Of what has that label, letter case aside, in exactly this place; without a label, of the place's own."""
        rows = await self._database.fetch(_AT, (*_channel(place), place.thread, folded(label)))
        # Ids that are no text are kept changed: what is found must be of this place and no other.
        return next((found for found in map(_audience, rows) if found.place == place), None)

    async def labelled(self, place: Place, label: str) -> list[KnowledgeBaseId]:
        """What has that label, letter case aside, anywhere in the place's workspace."""
        rows = await self._database.fetch(_LABELLED, (place.platform, place.workspace, folded(label)))
        return [KnowledgeBaseId(knowledge_base) for (knowledge_base,) in rows]

    async def of_channels(self, place: Place) -> list[KnowledgeBaseId]:
        """What was made in the place's workspace, for it or for one of its channels, and for no thread."""
        rows = await self._database.fetch(_OF_CHANNELS, (place.platform, place.workspace))
        return [KnowledgeBaseId(knowledge_base) for (knowledge_base,) in rows]

    async def admit(self, audience: Audience) -> Audience:
        """Record who may read a knowledge base, unless that is known; returns what stands there now."""
        knowledge_base = audience.knowledge_base
        async with self._database.transaction() as transaction:
            if rows := await transaction.execute(_AUDIENCE, (knowledge_base,)):
                return _audience(rows[0])
            # What had this place and label before is gone: the catalog has one knowledge base of a name.
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
        """Remove all that is kept of a knowledge base. Forgetting what is not known is no error."""
        async with self._database.transaction() as transaction:
            await transaction.execute("DELETE FROM bindings WHERE knowledge_base = ?", (knowledge_base,))
            await transaction.execute("DELETE FROM audiences WHERE knowledge_base = ?", (knowledge_base,))

    async def forget_others(self, there: Collection[KnowledgeBaseId]) -> None:
        """Remove all that is kept of knowledge bases that are not `there` any more: for the start, before anybody makes one."""
        rows = await self._database.fetch(
            "SELECT knowledge_base FROM bindings UNION SELECT knowledge_base FROM audiences"
        )
        for (knowledge_base,) in rows:
            if knowledge_base not in there:
                await self.forget(KnowledgeBaseId(knowledge_base))


def _channel(place: Place) -> tuple[str, str, str]:
    return place.platform, place.workspace, place.channel


def _audience(row: Row) -> Audience:
    knowledge_base, platform, workspace, channel, thread, label = row
    return Audience(
        knowledge_base=KnowledgeBaseId(knowledge_base),
        platform=platform,
        workspace=workspace,
        channel=channel,
        thread=thread,
        label=label,
    )
