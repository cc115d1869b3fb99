"""Many answers at once: no limit is broken, first texts and last words are in time, no character is lost. In virtual time."""

from __future__ import annotations

import asyncio
import itertools
import random
import statistics
from collections import Counter, deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.port import Page, PlatformLimits, Reply, Throttled, Unreachable
from bot.streaming.message_stream import WriteDeadlines
from bot.streaming.scheduler import Scheduler, relay
from rag_engine.types import Answer, AnswerEvent, Delta, Stage, TurnId
from tests.hypothesis_profiles import examples
from tests.unit.bot.streaming import virtual_time
from tests.unit.bot.streaming.platform import (
    SLACK,
    CheckedOutlet,
    Platform,
    budget,
    now,
    pages,
    routes_of,
    slack,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

STREAM, UPDATE = SLACK
TOKENS_PER_SECOND = 40


def test_no_two_renderings_follow_each_other_without_the_event_loop_having_its_turn() -> None:
    busy = False

    def rest() -> None:
        nonlocal busy
        busy = False

    def render(reply: Reply, limits: PlatformLimits, *, final: bool) -> list[Page]:
        nonlocal busy
        assert not busy, "twenty of these in a row would keep everything else waiting"
        busy = True
        asyncio.get_running_loop().call_soon(rest)
        return pages(reply, limits, final=final)

    async def main() -> None:
        scheduler = Scheduler(render=render)

        async def one() -> None:
            async with scheduler.open(CheckedOutlet()) as stream:
                for number in range(5):
                    stream.show(Reply(text="a" * (number + 1)))
                    await asyncio.sleep(2)
                await stream.finish(Reply(text="a"))

        async with asyncio.TaskGroup() as group:
            for _ in range(20):
                group.create_task(one())

    virtual_time.run(main())


@dataclass(slots=True, kw_only=True)
class Told:
    """One answer as streamed and shown: seconds."""

    outlet: CheckedOutlet
    text: str = ""
    asked: float = 0.0
    placeholder: float = 0.0
    first_token: float = 0.0
    first_text: float = 0.0
    last_token: float = 0.0
    final: float = 0.0


async def told(scheduler: Scheduler, platform: Platform, *, seconds: float, seed: int) -> Told:
    """One answer by the clock: half a second of search, then tokens."""
    chance = random.Random(seed)
    one = Told(outlet=slack(platform), asked=now())

    async def events() -> AsyncIterator[AnswerEvent]:
        yield Stage(name="retrieve", detail="Searching…")
        await asyncio.sleep(0.5)
        yield Stage(name="answer", detail="Writing…")
        await asyncio.sleep(chance.uniform(0.2, 1.0))
        one.first_token = now()
        pieces: list[str] = []
        while now() < one.first_token + seconds:
            pieces.append(f"{len(pieces)} ")
            yield Delta(text=pieces[-1])
            await asyncio.sleep(1 / TOKENS_PER_SECOND)
        one.text = "".join(pieces)
        one.last_token = now()
        yield Answer(turn=TurnId("t"), text=one.text, citations=(), grounded=False, timings={})

    async with scheduler.open(one.outlet) as stream:
        await relay(events(), stream)
    one.final = now()
    one.placeholder = one.outlet.messages[0].shown[0][0]
    one.first_text = one.outlet.first_text_at()
    return one


async def many(
    answers: int, *, seconds: float, apart: float = 0.0, platform: Platform, seed: int = 1
) -> list[Told]:
    scheduler = Scheduler(render=pages)
    async with asyncio.TaskGroup() as group:
        tasks: list[asyncio.Task[Told]] = []
        for number in range(answers):
            telling = told(scheduler, platform, seconds=seconds, seed=seed + number)
            tasks.append(group.create_task(telling))
            await asyncio.sleep(apart)
    return [task.result() for task in tasks]


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


@pytest.mark.slow
@pytest.mark.parametrize("apart", [0.0, 0.4, 3.0])
def test_twenty_answers_of_a_minute_in_one_workspace(apart: float) -> None:
    chance = random.Random(4)
    platform = Platform(latency=lambda: chance.uniform(0.01, 0.15))
    answers = virtual_time.run(many(20, seconds=60, apart=apart, platform=platform))
    assert platform.too_many == []
    for one in answers:
        assert one.outlet.text == one.text
        assert one.outlet.messages[-1].final
    assert p95([one.first_text - one.first_token for one in answers]) < 3
    assert p95([one.placeholder - one.asked for one in answers]) < 0.5
    # One call may be on its way when the last token comes, then the last word is: 0.3 s each here.
    assert max(one.final - one.last_token for one in answers) < 0.5 + 0.3
    used = Counter(routes_of(one.outlet)[0] for one in answers)
    assert min(used["stream"], used["update"]) >= 3, "both ways are used"
    for one in answers:
        shown = [at for at, page in one.outlet.messages[0].shown if page.text]
        waits = [later - earlier for earlier, later in itertools.pairwise(shown)]
        assert max(waits) < 25
        assert len(shown) >= 4


def test_a_few_answers_all_take_the_first_route() -> None:
    answers = virtual_time.run(many(3, seconds=10, platform=Platform()))
    assert {route for one in answers for route in routes_of(one.outlet)} == {"stream"}


@pytest.mark.slow
def test_finals_are_in_time_where_all_end_at_once() -> None:
    platform = Platform()
    answers = virtual_time.run(many(20, seconds=45, platform=platform))
    assert platform.too_many == []
    assert max(one.final - one.last_token for one in answers) < 0.5


@pytest.mark.slow
def test_answers_that_could_not_be_ended_in_time_do_not_begin_by_that_route() -> None:
    async def main() -> list[Told]:
        platform = Platform()
        scheduler = Scheduler(render=pages)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(told(scheduler, platform, seconds=50, seed=n)) for n in range(20)]
            await asyncio.sleep(62)  # starts are free again, stops are not
            tasks += [group.create_task(told(scheduler, platform, seconds=5, seed=n)) for n in range(18)]
        assert platform.too_many == []
        return [task.result() for task in tasks]

    answers = virtual_time.run(main())
    assert max(one.final - one.last_token for one in answers) < 0.5


@pytest.mark.slow
def test_more_answers_than_anything_was_made_for_are_all_whole() -> None:
    chance = random.Random(5)
    platform = Platform(latency=lambda: chance.uniform(0, 0.1))
    answers = virtual_time.run(many(120, seconds=20, apart=0.1, platform=platform))
    assert platform.too_many == []
    assert all(one.outlet.text == one.text for one in answers)


@examples(30)
@given(seed=st.integers(0, 2**32))
def test_no_character_is_lost_or_doubled_on_any_way(seed: int) -> None:
    chance = random.Random(seed)
    stream = replace(
        STREAM,
        lifetime=chance.choice([3.0, 20.0, 240.0]),
        characters=chance.choice([100, 1000]),
        finish=budget("stop", chance.choice([1, 20]), 60),
    )
    outlets: list[CheckedOutlet] = []

    async def one(scheduler: Scheduler, platform: Platform) -> None:
        outlet = CheckedOutlet(
            platform=platform,
            limits=PlatformLimits(characters=chance.choice([200, 1000]), edit_seconds=1.0),
            routes=(stream, UPDATE),
            faults=deque(
                chance.choice([None, None, None, Throttled(seconds=2), Unreachable("502")]) for _ in range(20)
            ),
        )
        outlets.append(outlet)
        text = ""
        async with scheduler.open(outlet) as writing:
            writing.show(Reply(status="Searching…"))
            await asyncio.sleep(chance.uniform(0, 2))
            for _ in range(chance.randint(0, 60)):
                text += "".join(chance.choices("abc d\n", k=chance.randint(1, 40)))
                writing.show(Reply(text=text))
                await asyncio.sleep(chance.uniform(0, 1))
            await writing.finish(Reply(text=text))
        assert outlet.text == text
        assert outlet.most_text <= outlet.limits.characters

    async def main() -> None:
        platform = Platform(latency=lambda: chance.choice([0.0, chance.uniform(0, 2)]))
        scheduler = Scheduler(render=pages, deadlines=WriteDeadlines(final=3600))
        async with asyncio.TaskGroup() as group:
            for _ in range(chance.randint(1, 8)):
                group.create_task(one(scheduler, platform))
                await asyncio.sleep(chance.uniform(0, 1))
        assert platform.too_many == []

    virtual_time.run(main())
