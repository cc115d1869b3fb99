"""What everyone in a channel may read; stored before it is written, so that a killed process writes it once."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.conversation.gaps.digest_days import next_monday, week_of
from bot.conversation.gaps.gap_list import WEEK
from bot.conversation.gaps.gap_readers import everyone_in
from bot.messages import say
from bot.port import ChatError, Gone, Person, Reply
from bot.rendering.literal import literal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bot.conversation.gaps.gap_list import GapList, ShownGap
    from bot.conversation.outbound import OutboundRooms
    from bot.port import Directory, Place
    from bot.store.gaps.digests import GapDigest, GapDigests
    from bot.streaming.scheduler import Scheduler

_MOST_GAPS: Final = 10
_LONGEST_WAIT: Final = 8 * 86_400.0
_NOBODY: Final = Person(id="0")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class WeeklyDigest:
    """By the clock of retention, no jump brings one forward."""

    digests: GapDigests
    listed: GapList
    update: Callable[[], Awaitable[None]]
    outbound: OutboundRooms
    scheduler: Scheduler
    clock: Callable[[], float] = time.time

    async def work(self) -> None:
        for platform in tuple(self.outbound.recalls):
            for digest in await self.digests.all(platform):
                await self._begin(digest)
            for place, week in await self.digests.unsent(platform):
                await self._guarded(place, week)

    async def _begin(self, digest: GapDigest) -> None:
        now = self.clock()
        if now < digest.due_at <= now + _LONGEST_WAIT:
            return
        week = week_of(now, digest.time_zone) if digest.due_at <= now else ""
        await self.digests.begin(digest, week, next_at=next_monday(now, digest.time_zone))

    async def _guarded(self, place: Place, week: str) -> None:
        digest = await self.digests.of(place)
        if digest is None or digest.place != place:
            await self.digests.finish(place, week)
            return
        try:
            await self._write(digest, week)
        except Gone:
            _log.warning("the channel of a digest is gone")
            await self.digests.finish(place, week)
        except (ChatError, TimeoutError) as error:
            _log.warning("a digest waits: %s", type(error).__name__)

    async def _write(self, digest: GapDigest, week: str) -> None:
        await self.update()
        place = digest.place
        person = Person(id=digest.person) if digest.person else _NOBODY
        room = await self.outbound.room(place, person, key=f"gap-digest:{week}")
        reply = await self.reply(digest, room.directory)
        if reply is None:
            await self.digests.finish(place, week)
            return
        async with self.scheduler.open(room.outlet()) as stream:
            messages = await stream.finish(reply)
        await self.digests.finish(place, week, next(iter(messages), ""))

    async def reply(self, digest: GapDigest, directory: Directory) -> Reply | None:
        reader = everyone_in(digest.place, directory)
        found = await self.listed.read(reader, since=self.listed.clock() - 2 * WEEK)
        shown = [each for each in found if each.title and each.this_week][:_MOST_GAPS]
        if not shown:
            return None
        lines = [f"{number}. {line(each, digest.language)}" for number, each in enumerate(shown, 1)]
        heading = say("digest_heading", digest.language)
        closing = say("digest_closing", digest.language)
        return Reply(
            text="\n".join((f"**{heading}**", "", *lines, "", closing)),
            language=digest.language,
            links=frozenset(),
        )


def line(shown: ShownGap, language: str) -> str:
    return say(
        "gap_line",
        language,
        title=literal(shown.title) if shown.title else "…",
        count=shown.count,
        this_week=shown.this_week,
        last_week=shown.last_week,
    )
