from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bot.files.uploads import uris
from bot.port import ChatError, Person
from bot.store.message_files import MessageFile, attachment_key
from rag_engine.errors import NotAllowed
from rag_engine.parsing.media_types import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.conversation.dependencies import AudienceLookup, ForgetSource, PermissionChecks
    from bot.files.uploads import UploadResult, Uploads
    from bot.port import Attachment, Room
    from bot.store.expert_requests import ExpertRequest
    from bot.store.message_files import MessageFiles
    from rag_engine.types import KnowledgeBase

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFiles:
    """Files of an expert's answer become documents of the place of the question, where their author may add some."""

    permissions: PermissionChecks
    audiences: AudienceLookup
    uploads: Uploads
    files: MessageFiles
    forget_source: ForgetSource

    async def carry(self, request: ExpertRequest, room: Room, experts: Room) -> tuple[tuple[str, str], ...]:
        """`room` is the asker's. Raises `ChatError` if the message cannot be read now."""
        message = await experts.fetch(request.said_uri) if request.said_uri else None
        if message is None or request.private or not await self._permitted(request, room):
            return request.files
        base = await self.audiences.own(request.place)
        pairs = list(zip(message.attachments, uris(message.attachments), strict=True))
        await self.files.keep([_row(request, each, uri, base) for each, uri in pairs])
        results = await self.uploads.add(
            [replace(each, uri=uri) for each, uri in pairs],
            knowledge_base=base.id,
            show=lambda _: None,
            person=request.expert,
            language=request.language or "en",
        )
        triples = list(zip(pairs, results, strict=True))
        await self.files.keep([_row(request, each, uri, base, result) for (each, uri), result in triples])
        return tuple((shown(each.name), uri if done.searchable else "") for (each, uri), done in triples)

    async def remove(self, request: ExpertRequest) -> None:
        for file in await self.files.brought_by(request.place, _message(request)):
            await self.forget_source(file.knowledge_base, file.source)
            await self.files.drop(file)

    async def _permitted(self, request: ExpertRequest, room: Room) -> bool:
        person = Person(id=request.expert, name=request.expert_name)
        try:
            await self.permissions.check(person, request.place, room.directory, act="add")
        except NotAllowed:
            return False
        except ChatError as error:
            _log.warning("files of an expert are not added: %s", type(error).__name__)
            return False
        return True


def names(attachments: Sequence[Attachment]) -> tuple[tuple[str, str], ...]:
    return tuple((shown(each.name), "") for each in attachments)


def _message(request: ExpertRequest) -> str:
    """Ids of messages are unique in their channel alone."""
    return f"{request.id}:{request.said_in}"


def _row(
    request: ExpertRequest,
    attachment: Attachment,
    uri: str,
    base: KnowledgeBase,
    result: UploadResult | None = None,
) -> MessageFile:
    record = result.record if result is not None and result.searchable else None
    return MessageFile(
        place=request.place,
        attachment=attachment_key(attachment),
        message=_message(request),
        answer=request.id,
        name=attachment.name,
        uri=attachment.uri,
        source=uri,
        knowledge_base=base.id,
        document=record.document.id if record else None,
        settled=result is not None and not result.later,
    )
