"""Messages of ours that are taken away again: in order, within the platform's budgets, and each by itself. In virtual time."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

import pytest

from bot.port import Gone, Page, Throttled, Unreachable, Write, WriteRefused
from bot.streaming.message_stream import WriteDeadlines
from bot.streaming.scheduler import Scheduler
from tests.unit.bot.streaming import virtual_time
from tests.unit.bot.streaming.platform import CheckedOutlet, Platform, now, pages

if TYPE_CHECKING:
    from collections.abc import Sequence


async def standing(messages: int, platform: Platform | None = None) -> CheckedOutlet:
    """An outlet with so many messages that were written before."""
    outlet = CheckedOutlet(platform=platform or Platform())
    for part in range(messages):
        await outlet.write(Write(part=part, page=Page(text=f"part {part}"), route="plain", final=True))
        await asyncio.sleep(10)
    return outlet


async def withdrawn(outlet: CheckedOutlet, *faults: Exception | None, final: float = 300.0) -> float:
    """Take all away while these faults come; the seconds it took."""
    outlet.faults = deque(faults)
    began = now()
    scheduler = Scheduler(render=pages, deadlines=WriteDeadlines(final=final))
    await scheduler.withdraw(outlet, [message.id for message in outlet.messages])
    return now() - began


def left(outlet: CheckedOutlet) -> Sequence[str]:
    return [message.page.text for message in outlet.messages]


def test_all_messages_go_the_last_one_first() -> None:
    async def main() -> CheckedOutlet:
        outlet = await standing(3)
        await withdrawn(outlet)
        return outlet

    outlet = virtual_time.run(main())
    assert left(outlet) == []
    assert [message.page.text for message in outlet.deleted] == ["part 2", "part 1", "part 0"]


@pytest.mark.parametrize(
    ("fault", "seconds"),
    [(Throttled(seconds=7), 21.0), (Unreachable("502"), 0.5 + 1 + 2), (TimeoutError(), 0.5 + 1 + 2)],
    ids=["429", "502", "silent"],
)
def test_it_is_tried_however_often_it_takes(fault: Exception, seconds: float) -> None:
    async def main() -> tuple[CheckedOutlet, float]:
        outlet = await standing(2)
        return outlet, await withdrawn(outlet, fault, fault, fault)

    outlet, took = virtual_time.run(main())
    assert left(outlet) == []
    assert took == pytest.approx(seconds, abs=0.5)


class Stubborn(CheckedOutlet):
    """A platform that never takes one message away."""

    def __init__(self, of: CheckedOutlet, part: int, error: Exception) -> None:
        super().__init__(platform=of.platform, messages=of.messages)
        self._part = part
        self._error = error
        self.asked: list[int] = []

    async def write(self, write: Write) -> str:
        self.asked.append(write.part)
        if write.part == self._part:
            raise self._error
        return str(write.part)


@pytest.mark.parametrize(
    ("error", "logged"),
    [
        (WriteRefused("It is too old."), ["a message could not be deleted: It is too old."]),
        (
            Unreachable("It is away."),
            ["a message is written again: It is away.", "a message could not be deleted: It is away."],
        ),
        (Gone("Somebody else has deleted it."), []),
    ],
    ids=["refused", "away", "gone"],
)
def test_one_that_does_not_go_keeps_no_other_and_the_log_says_so(
    error: Exception, logged: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> tuple[Stubborn, float]:
        outlet = Stubborn(await standing(3), 1, error)
        return outlet, await withdrawn(outlet, final=20.0)

    outlet, took = virtual_time.run(main())
    assert list(dict.fromkeys(outlet.asked)) == [2, 1, 0]
    assert took < 60
    assert [record.getMessage() for record in caplog.records] == logged


def test_taking_away_keeps_to_the_budgets_of_the_platform() -> None:
    async def main() -> Platform:
        platform = Platform()
        scheduler = Scheduler(render=pages)
        outlets = [await standing(4, platform) for _ in range(5)]
        async with asyncio.TaskGroup() as group:
            for outlet in outlets:
                group.create_task(scheduler.withdraw(outlet, [message.id for message in outlet.messages]))
        assert not any(outlet.messages for outlet in outlets)
        return platform

    assert virtual_time.run(main()).too_many == []
