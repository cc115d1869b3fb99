from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from bot.cli._shared import terminal
from bot.maintenance import data_files
from bot.store.channel_sources import UNREADABLE, ChannelSources
from rag_engine.storage.sqlite.database import connect

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.settings import Settings
    from bot.store.channel_sources import ChannelSource, Progress
    from rag_engine.types import KnowledgeBaseId


async def read(
    settings: Settings, knowledge_base: KnowledgeBaseId | None
) -> list[tuple[ChannelSource, Progress]]:
    path = settings.data_dir / data_files.CHAT
    if not await asyncio.to_thread(path.exists):
        return []
    async with connect(path, scripts=data_files.migrations()[data_files.CHAT]) as database:
        channels = ChannelSources(database)
        return [(each, await channels.progress(each)) for each in await channels.all(knowledge_base)]


def row(source: ChannelSource, progress: Progress, names: Mapping[KnowledgeBaseId, str]) -> dict[str, object]:
    """As of other sources; `entries` are messages."""
    return {
        "id": f"c{source.id}",
        "knowledge_base": names.get(source.knowledge_base, ""),
        "kind": "channel",
        "address": source.name,
        "options": {"platform": source.place.platform, "workspace": source.place.workspace},
        "every": "",
        "state": "failed" if source.error else "running" if progress.is_reading else "ready",
        "error": _error(source),
        "ran": None,
        "entries": progress.messages,
        "new": 0,
        "changed": 0,
        "gone": 0,
        "failed": progress.unreadable_files,
    }


def line(source: ChannelSource, progress: Progress, names: Mapping[KnowledgeBaseId, str]) -> str:
    base = names.get(source.knowledge_base, "")
    head = f"{f'c{source.id}':>3}  {base} ← {source.place.platform} channel {source.name}"
    if source.error:
        return f"{head}: failed: {_error(source)}"
    if progress.oldest is None:
        return f"{head}: {'not read yet' if progress.is_reading else 'no messages'}"
    day = datetime.fromtimestamp(progress.oldest, UTC).date().isoformat()
    reading = ", still reading" if progress.is_reading else ""
    files = progress.unreadable_files
    unread = f", {terminal.counted(files, 'file', 'files')} not readable" if files else ""
    return f"{head}: {progress.messages:,} messages since {day}{unread}{reading}"


def _error(source: ChannelSource) -> str:
    if source.error == UNREADABLE:
        return "The platform does not show this channel to the bot; invite it there."
    return source.error
