from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bot.port import Place
from rag_engine.types import DocumentId, KnowledgeBaseId

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bot.port import Attachment
    from bot.store.turns import ChatTurn
    from rag_engine.storage.sqlite.database import Database, Row

_KNOWN = """
    SELECT * FROM taken_files WHERE platform = ? AND workspace = ? AND channel = ? AND thread = ?
        AND settled = 1 AND attachment IN (SELECT value FROM json_each(?))
"""
_BROUGHT_BY = """
    SELECT * FROM taken_files WHERE platform = ? AND workspace = ? AND channel = ? AND message = ? ORDER BY rowid
"""
_LATEST = """
    SELECT taken_files.* FROM taken_files LEFT JOIN answers ON answers.id = taken_files.answer
    WHERE taken_files.platform = ? AND taken_files.workspace = ? AND taken_files.channel = ? AND taken_files.answer <> ''
        AND (taken_files.thread = ? OR answers.thread = ?)
    ORDER BY taken_files.at DESC, taken_files.rowid DESC LIMIT ?
"""
_LATEST_LIMIT = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageFile:
    """`document` is None if the file is unreadable."""

    place: Place
    attachment: str
    answer: str
    name: str
    uri: str
    knowledge_base: KnowledgeBaseId
    document: DocumentId | None
    message: str = ""
    """Empty after promotion: the file outlives the message."""
    source: str = ""
    settled: bool = True
    """False while a retry may succeed."""

    @property
    def mark(self) -> str:
        return hashlib.sha256(self.attachment.encode()).hexdigest()[:12]


class MessageFiles:
    def __init__(self, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    async def keep(self, files: Sequence[MessageFile]) -> None:
        rows = [
            (
                *_channel(file.place),
                file.place.thread,
                file.attachment,
                file.message,
                file.answer,
                file.name,
                file.uri,
                file.source,
                file.knowledge_base,
                file.document or "",
                int(file.settled),
                self._clock(),
            )
            for file in files
        ]
        async with self._database.transaction() as transaction:
            await transaction.execute_many(
                "INSERT OR REPLACE INTO taken_files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows
            )

    async def move(self, file: MessageFile, moved: MessageFile) -> None:
        """It outlives its message."""
        await self.keep([replace(file, answer="", document=None), replace(moved, message="")])

    async def known(self, place: Place, attachments: Sequence[str]) -> dict[str, MessageFile]:
        parameters = (*_channel(place), place.thread, json.dumps(list(attachments)))
        rows = await self._database.fetch(_KNOWN, parameters)
        return {file.attachment: file for file in map(_file, rows)}

    async def brought_by(self, place: Place, message: str) -> list[MessageFile]:
        return [_file(row) for row in await self._database.fetch(_BROUGHT_BY, (*_channel(place), message))]

    async def latest(self, place: Place) -> list[MessageFile]:
        for thread in dict.fromkeys((place.thread, "")):
            parameters = (*_channel(place), thread, thread, _LATEST_LIMIT)
            files = [_file(row) for row in await self._database.fetch(_LATEST, parameters)]
            if files:
                together = [file for file in files if file.message and file.message == files[0].message]
                return together[::-1] or files[:1]
        return []

    async def drop(self, file: MessageFile) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "DELETE FROM taken_files WHERE platform = ? AND workspace = ? AND channel = ? AND thread = ? "
                "AND attachment = ? AND message = ?",
                (*_channel(file.place), file.place.thread, file.attachment, file.message),
            )

    async def of_turn(self, turn: ChatTurn) -> list[MessageFile]:
        rows = await self._database.fetch(
            "SELECT * FROM taken_files WHERE answer = ? ORDER BY rowid", (turn.id,)
        )
        return [_file(row) for row in rows]


def attachment_key(attachment: Attachment) -> str:
    """Identifies a file within its place."""
    return attachment.id or hashlib.sha256(f"{attachment.uri} {attachment.name}".encode()).hexdigest()


def _channel(place: Place) -> tuple[str, str, str]:
    return place.platform, place.workspace, place.channel


def _file(row: Row) -> MessageFile:
    platform, workspace, channel, thread, attachment, message, answer, name, uri, source, *rest = row
    knowledge_base, document, settled, *_ = rest
    return MessageFile(
        place=Place(platform=platform, workspace=workspace, channel=channel, thread=thread),
        attachment=attachment,
        message=message,
        answer=answer,
        name=name,
        uri=uri,
        source=source,
        settled=bool(settled),
        knowledge_base=KnowledgeBaseId(knowledge_base),
        document=DocumentId(document) if document else None,
    )
