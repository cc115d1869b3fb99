"""When the digest is due, in any time zone and after any jump of the clock; and that a refusal of the platform loses none."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from bot.conversation.gaps.digest import WeeklyDigest
from bot.conversation.gaps.digest_days import next_monday, week_of
from bot.conversation.gaps.gap_intake import GapIntake
from bot.conversation.gaps.gap_list import GapList
from bot.port import Gone, Unreachable
from bot.store.gaps.digests import GapDigest, GapDigests
from tests.unit.bot.chatting import ADMIN, BEN, CHANNEL, Everybody, Here, World, world

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from bot.port import IncomingMessage, Room

KEY = "Where is the spare key of the archive?"
DAY = 86_400.0
FRIDAY = datetime(2026, 11, 27, 12, tzinfo=UTC).timestamp()
MONDAY = datetime(2026, 11, 30, 9, tzinfo=UTC).timestamp()


def at(*moment: int) -> float:
    return datetime(*moment, tzinfo=UTC).timestamp()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("after", "zone", "due"),
    [
        (FRIDAY, "", MONDAY),
        (FRIDAY, "No/Where", MONDAY),
        (FRIDAY, "Asia/Tokyo", at(2026, 11, 30, 0)),
        (FRIDAY, "America/New_York", at(2026, 11, 30, 14)),
        (at(2026, 11, 30, 8, 59), "UTC", MONDAY),
        (MONDAY, "UTC", at(2026, 12, 7, 9)),
        # Summer time ends on 25 October.
        (at(2026, 10, 20), "Europe/Berlin", at(2026, 10, 26, 8)),
        (at(2026, 10, 13), "Europe/Berlin", at(2026, 10, 19, 7)),
        # It is Monday already on one side of the date line.
        (at(2026, 11, 29, 20), "Pacific/Auckland", at(2026, 12, 6, 20)),
        (at(2026, 11, 30, 5), "Pacific/Honolulu", at(2026, 11, 30, 19)),
    ],
)
def test_the_next_monday_at_nine(after: float, zone: str, due: float) -> None:
    assert next_monday(after, zone) == due


def test_weeks_are_those_of_the_time_zone() -> None:
    sunday = at(2027, 1, 3, 23)
    assert (week_of(sunday, "UTC"), week_of(sunday, "Asia/Tokyo")) == ("2026-W53", "2027-W01")


@dataclass
class Desk:
    """A world with a digest that can be worked on at any time."""

    world: World
    now: float = FRIDAY
    refuses: Exception | None = None
    digest: WeeklyDigest = field(init=False)

    def __post_init__(self) -> None:
        database = self.world.stores.experts._database
        service = self.world.service
        intake = GapIntake.over(database, self.world.history, service.runner.answers.engine.embedder)
        service.outbound.recalls["test"] = self._recall
        self.digest = WeeklyDigest(
            digests=GapDigests(database),
            listed=GapList(gaps=intake.gaps, history=self.world.history),
            update=intake.update,
            outbound=service.outbound,
            scheduler=service.runner.scheduler,
            clock=lambda: self.now,
        )

    async def _recall(self, message: IncomingMessage) -> tuple[IncomingMessage, Room]:
        if self.refuses is not None:
            raise self.refuses
        return message, Here(self.world.chat, message.place, directory=Everybody())

    async def chosen(self) -> None:
        digest = GapDigest(
            place=CHANNEL, person=ADMIN.id, language="en", time_zone="", due_at=next_monday(self.now, "")
        )
        await self.digest.digests.put(digest)

    async def works(self, now: float) -> int:
        """How many digests there are afterwards."""
        self.now = now
        await self.digest.work()
        return len([post for post in self.world.chat.public if "Asked this week" in post.text])


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncGenerator[Desk]:
    async with world(tmp_path) as made:
        await made.file("leave.md", "# Leave\n\nThe leave is 28 days.")
        made.says("I do not know that.")
        await made.ask(KEY, person=BEN)
        desk = Desk(made)
        await desk.chosen()
        yield desk


async def test_once_each_monday(desk: Desk) -> None:
    assert await desk.works(FRIDAY) == 0
    assert await desk.works(MONDAY - 1) == 0
    for later in (0, 1, 3600, 3 * DAY, 6 * DAY):
        assert await desk.works(MONDAY + later) == 1
    assert KEY in desk.world.chat.public[-1].text
    assert "(1×; this week 1, last week 0)" in desk.world.chat.public[-1].text
    assert await desk.works(MONDAY + 7 * DAY) == 2


async def test_a_clock_that_jumps_forward_and_back(desk: Desk) -> None:
    assert await desk.works(MONDAY) == 1
    assert await desk.works(MONDAY + 400 * DAY) == 2
    for later in range(1, 7):
        assert await desk.works(MONDAY + later * DAY) == 2
    assert await desk.works(MONDAY + 7 * DAY) == 3, "not after four hundred days"
    assert await desk.works(MONDAY - 300 * DAY) == 3
    assert await desk.works(MONDAY + 8 * DAY) == 3, "this week's was written"


async def test_the_platform_refuses_for_a_while(desk: Desk) -> None:
    desk.refuses = Unreachable("down")
    assert await desk.works(MONDAY) == 0
    desk.refuses = None
    assert await desk.works(MONDAY + 2 * DAY) == 1


async def test_a_channel_that_is_gone_or_switched_off_gets_none(desk: Desk) -> None:
    desk.refuses = Gone("deleted")
    assert await desk.works(MONDAY) == 0
    desk.refuses = None
    assert await desk.works(MONDAY + 1) == 0
    await desk.digest.digests.remove(CHANNEL)
    assert await desk.works(MONDAY + 7 * DAY) == 0


async def test_nothing_to_tell_is_not_told(desk: Desk) -> None:
    (gap,) = await desk.world.service.interactions.answer_buttons.gaps.listed.gaps.all() or [""]
    assert gap == ""
    await desk.digest.update()
    (gap,) = await desk.digest.listed.gaps.all()
    await desk.digest.listed.gaps.close(gap, at=4e9)
    assert await desk.works(MONDAY) == 0
    assert await desk.digest.digests.unsent("test") == []
