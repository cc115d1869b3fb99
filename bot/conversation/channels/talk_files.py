from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from bot.observability import log
from bot.port import ChatError, Throttled
from bot.store.message_files import attachment_key
from rag_engine.errors import FileTooLarge, UnsupportedFile

if TYPE_CHECKING:
    from bot.conversation.dependencies import ForgetSource
    from bot.files.uploads import FileIngestion, Uploads
    from bot.port import Attachment, Room
    from bot.store.channel_files import ChannelFile, ChannelFiles
    from bot.store.channel_sources import ChannelSource

_RETRY_SECONDS: Final = 900.0
_MOST_TRIES: Final = 5

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class TalkFiles:
    """Files of messages become documents of their channel, one at a time, and go with their message."""

    files: ChannelFiles
    uploads: Uploads
    intake: FileIngestion
    forget_source: ForgetSource
    _reading: set[str] = field(default_factory=set[str], init=False)

    async def tidy(self) -> None:
        for knowledge_base, file in await self.files.leaving():
            await self.forget_source(knowledge_base, file.uri)
            if file.uri not in self._reading:
                await self.files.drop(file)

    async def read_next(self, source: ChannelSource, room: Room) -> bool:
        """False if none is due. Raises `ChatError`."""
        file = await self.files.next_of(source)
        if file is None:
            return False
        try:
            message = await room.fetch(file.link)
        except Throttled:
            raise
        except ChatError as error:
            _log.warning("a file of a channel waits: %s", type(error).__name__)
            await self._later(file)
            return True
        found = [each for each in message.files if attachment_key(each) == file.attachment] if message else []
        if message is not None and not found:
            await self.files.leave(file)
        elif found:
            self._reading.add(file.uri)
            try:
                await self._read(source, file, found[0])
            finally:
                self._reading.discard(file.uri)
            if not await self.files.has(file):
                await self.forget_source(source.knowledge_base, file.uri)
        else:
            await self._later(file)
        await self.tidy()
        return True

    async def _read(self, source: ChannelSource, file: ChannelFile, attachment: Attachment) -> None:
        try:
            self.uploads.downloads.refuse(attachment)
        except FileTooLarge as error:
            await self._name(source, file, attachment, reason=str(error))
            return
        except UnsupportedFile:
            await self.files.settle(file, readable=False)
            return
        (result,) = await self.uploads.add(
            [replace(attachment, uri=file.uri)],
            knowledge_base=source.knowledge_base,
            show=lambda _: None,
            person=file.person,
        )
        log.event("channel_file_read", platform=source.place.platform, searchable=result.searchable)
        if result.later:
            await self._later(file)
        else:
            await self.files.settle(file, readable=result.searchable)

    async def _name(
        self, source: ChannelSource, file: ChannelFile, attachment: Attachment, *, reason: str
    ) -> None:
        """Among the documents that could not be read."""
        base, uri = source.knowledge_base, file.uri
        await self.intake.expect(
            attachment.name, uri=uri, media_type=attachment.media_type, knowledge_base=base
        )
        await self.intake.give_up(base, uri, reason=reason)
        await self.files.settle(file, readable=False)

    async def _later(self, file: ChannelFile) -> None:
        if file.tries + 1 >= _MOST_TRIES:
            await self.files.settle(file, readable=False)
        else:
            await self.files.postpone(file, seconds=_RETRY_SECONDS)
