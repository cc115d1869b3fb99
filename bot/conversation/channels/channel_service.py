from __future__ import annotations

import asyncio
import logging
import time
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from bot.conversation.channels.history_reader import is_talk
from bot.messages import say
from bot.observability import log
from bot.port import ChatError, Gone, MessageDeleted, Person, Reply, Throttled, WriteRefused
from bot.store.channel_sources import UNREADABLE
from rag_engine.errors import RagError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Generator

    from bot.conversation.channels.history_reader import HistoryReader
    from bot.conversation.channels.talk_files import TalkFiles
    from bot.conversation.channels.talk_writer import TalkWriter
    from bot.conversation.dependencies import PlaceLookup
    from bot.conversation.outbound import OutboundRooms
    from bot.port import IncomingMessage, Recall, Room
    from bot.store.channel_sources import ChannelSource, ChannelSources
    from bot.streaming.scheduler import Scheduler

_TICK_SECONDS: Final = 30.0
_GONE_SECONDS: Final = 900.0
_RETRY_SECONDS: Final = 30.0
_GIVES_WAY_SECONDS: Final = 1.0
_POLL_SECONDS: Final = 0.05
_SETTLING_SECONDS: Final = 5.0
_REMOVING_SECONDS: Final = 20.0
_NOBODY: Final = Person(id="0")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelService:
    """Hears channels that are sources, and reads their history while nobody waits for an answer."""

    sources: ChannelSources
    reader: HistoryReader
    writer: TalkWriter
    files: TalkFiles
    outbound: OutboundRooms
    scheduler: Callable[[], Scheduler]
    places: PlaceLookup
    _news: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _live: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _files: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _hearings: set[asyncio.Event] = field(default_factory=set["asyncio.Event"], init=False)
    _read_from: set[int] = field(default_factory=set[int], init=False)
    _waits: dict[int, float] = field(default_factory=dict[int, float], init=False)

    @asynccontextmanager
    async def running(self, is_busy: Callable[[], bool]) -> AsyncGenerator[None]:
        tasks = [
            asyncio.create_task(self._repeat(lambda: self._read(is_busy), self._news), name="channels"),
            asyncio.create_task(
                self._repeat(self.writer.write_live, self._live), name="messages of channels"
            ),
            asyncio.create_task(
                self._repeat(lambda: self._read_files(is_busy), self._files), name="files of channels"
            ),
        ]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    def hurry(self) -> None:
        self._waits.clear()
        self._news.set()
        self._files.set()

    async def resume(self, platform: str, recall: Recall) -> None:
        await self.sources.read_news(platform)
        self.outbound.recalls[platform] = recall
        self.hurry()

    async def hears(self, message: IncomingMessage) -> None:
        """`take_back` if it is a question to us."""
        with self._hearing():
            source = await self.sources.at(message.place.parent) if is_talk(message) else None
            if source is not None and not await self._is_question(message):
                await self.reader.messages.put(source, message, edited=False)
                self._live.set()
                if message.files:
                    self._files.set()

    async def take_back(self, message: IncomingMessage) -> None:
        source = await self.sources.at(message.place.parent) if is_talk(message) else None
        if source is not None:
            await self.reader.messages.take_back(source, message.id)

    async def hears_again(self, event: IncomingMessage | MessageDeleted) -> None:
        """Returns when the next question sees it."""
        with self._hearing():
            source = await self.sources.at(event.place.parent)
            if source is None:
                return
            if isinstance(event, MessageDeleted) or not is_talk(event) or await self._is_question(event):
                await self.reader.messages.delete(source, event.id)
            else:
                await self.reader.messages.put(source, event, edited=True)
            await self.writer.write_live()
            await self.files.tidy()

    async def settle(self) -> None:
        """What was heard before a question is searched by it."""
        try:
            async with asyncio.timeout(_SETTLING_SECONDS):
                for hearing in tuple(self._hearings):
                    await hearing.wait()
                if await self.sources.has_live():
                    await self.writer.write_live()
        except (RagError, TimeoutError) as error:
            _log.warning("messages of a channel are not searchable yet: %s", type(error).__name__)

    async def opt_out(self, platform: str, person: str) -> None:
        await self.sources.opt_out(platform, person)
        await self.writer.write_live()
        await self.files.tidy()

    async def remove(self, source: ChannelSource) -> None:
        await self.sources.withdraw(source)
        with suppress(TimeoutError):
            async with asyncio.timeout(_REMOVING_SECONDS):
                await self.writer.remove(source)
        self.hurry()

    @contextmanager
    def _hearing(self) -> Generator[None]:
        ended = asyncio.Event()
        self._hearings.add(ended)
        try:
            yield
        finally:
            self._hearings.discard(ended)
            ended.set()

    async def _is_question(self, message: IncomingMessage) -> bool:
        turn = await self.reader.turns.of_message(message.place, message.id)
        return turn is not None and not turn.unprompted

    async def _repeat(self, work: Callable[[], Awaitable[None]], wake: asyncio.Event) -> None:
        while True:
            wake.clear()
            try:
                await work()
            except RagError as error:
                _log.warning("messages of channels wait: %s", error)
            except Exception as error:  # noqa: BLE001 - a bug must not end it
                log.record(error)
            try:
                async with asyncio.timeout(_TICK_SECONDS):
                    await wake.wait()
            except TimeoutError:
                continue

    async def _read(self, is_busy: Callable[[], bool]) -> None:
        is_done = False
        while not is_done:
            for source in await self.sources.leaving():
                await self.writer.remove(source)
            is_done = True
            for platform in tuple(self.outbound.recalls):
                if sources := await self.sources.all(platform=platform):
                    await self.sources.see(platform)
                for source in sources:
                    if self._waits.get(source.id, 0.0) <= time.monotonic():
                        is_done = not await self._advance(source, is_busy) and is_done

    async def _read_files(self, is_busy: Callable[[], bool]) -> None:
        await self.files.tidy()
        for platform in tuple(self.outbound.recalls):
            for source in await self.sources.all(platform=platform):
                await self._read_files_of(source, is_busy)

    async def _read_files_of(self, source: ChannelSource, is_busy: Callable[[], bool]) -> None:
        try:
            room, is_left = await self._room(source), True
            while is_left:
                await _give_way(is_busy)
                is_left = await self.files.read_next(source, room)
        except (ChatError, TimeoutError) as error:
            _log.warning("files of a channel wait: %s", type(error).__name__)

    async def _advance(self, source: ChannelSource, is_busy: Callable[[], bool]) -> bool:
        await _give_way(is_busy)
        try:
            room = await self._room(source)
            if not source.post:
                await self._announce(source, room)
            is_read = await self.reader.read_page(source, room)
        except (ChatError, TimeoutError) as error:
            await self._wait(source, error)
            return False
        if source.error:
            await self.sources.note(source, error="")
        await self._write(source, unfinished=await self.sources.unfinished_day(source))
        if is_read:
            self._read_from.add(source.id)
        elif source.id in self._read_from:
            self._read_from.discard(source.id)
            self._files.set()
            log.event("channel_read", platform=source.place.platform)
        return is_read

    async def _write(self, source: ChannelSource, *, unfinished: str) -> None:
        for due in await self.sources.due(source, live=False):
            if due.document != unfinished:
                await self.writer.write_one(source, due)

    async def _room(self, source: ChannelSource) -> Room:
        key = f"channel-source:{source.id}"
        return await self.outbound.room(source.place, _NOBODY, key=key, after=source.asked)

    async def _announce(self, source: ChannelSource, room: Room) -> None:
        settings = await self.places.settings(source.place)
        text = say("channel_announced", settings.language or "en")
        async with self.scheduler().open(room.outlet(), posted=()) as stream:
            posted = await stream.finish(Reply(text=text, links=frozenset()))
        await self.sources.note(source, post=posted[0])

    async def _wait(self, source: ChannelSource, error: BaseException) -> None:
        refused = isinstance(error, Gone | WriteRefused)
        seconds = (
            error.seconds if isinstance(error, Throttled) else _GONE_SECONDS if refused else _RETRY_SECONDS
        )
        self._waits[source.id] = time.monotonic() + seconds
        if refused:
            reason = str(error) if isinstance(error, WriteRefused) else UNREADABLE
            await self.sources.note(source, error=reason)
        _log.warning("a channel cannot be read now: %s", error or type(error).__name__)


async def _give_way(is_busy: Callable[[], bool]) -> None:
    end = time.monotonic() + _GIVES_WAY_SECONDS
    while is_busy() and time.monotonic() < end:  # noqa: ASYNC110
        await asyncio.sleep(_POLL_SECONDS)
