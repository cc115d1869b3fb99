"""No budget is ever overdrawn, finals are held in reserve, and everybody else shares what is left. In virtual time."""

from __future__ import annotations

import asyncio
import itertools
import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.port import Throttled
from bot.streaming.rate_limiter import Needs, RateLimiter, Urgency, WriteRequest
from tests.hypothesis_profiles import examples
from tests.unit.bot.streaming import virtual_time
from tests.unit.bot.streaming.platform import Platform, budget, now

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.port import Budget

EDITS = budget("edits", 10, 60)
OTHERS = budget("others", 10, 60)
LONG_AGO = -1e6


def needs(grows: Budget, *finals: Budget) -> Needs:
    return Needs(grows=grows, finals=finals or (grows,))


async def settled() -> None:
    """Let everything happen that happens at this moment."""
    for _ in range(10):
        await asyncio.sleep(0)


async def used_up(limiter: RateLimiter, one: Budget, urgency: Urgency = Urgency.FINAL) -> int:
    """How many calls could be made at this moment; they are made."""
    asks = [limiter.request((one,), urgency=urgency, since=LONG_AGO) for _ in range(one.calls + 5)]
    await settled()
    granted = [ask for ask in asks if not ask.waits]
    for ask in asks:
        ask.withdraw()
    for ask in granted:
        ask.ended()
    return len(granted)


@examples(60)
@given(
    seed=st.integers(0, 2**32),
    calls=st.integers(1, 12),
    seconds=st.sampled_from([1.0, 5.0, 60.0]),
    writers=st.integers(1, 12),
    slowest=st.sampled_from([0.0, 0.05, 2.0]),
)
def test_no_window_is_ever_exceeded(
    seed: int, calls: int, seconds: float, writers: int, slowest: float
) -> None:
    chance = random.Random(seed)
    platform = Platform(latency=lambda: chance.uniform(0, slowest))
    budgets = [budget("one", calls, seconds), budget("two", calls + 1, seconds)]

    async def writer(limiter: RateLimiter, me: int) -> None:
        mine = chance.sample(budgets, chance.randint(1, 2))
        limiter.join(me, needs(mine[0], mine[-1]))
        wrote = 0.0
        for _ in range(12):
            await asyncio.sleep(chance.choice([0.0, 0.01, chance.uniform(0, seconds)]))
            urgency = chance.choice(list(Urgency))
            ask = limiter.request(mine, urgency=urgency, since=wrote, rest=chance.choice([0.0, 1.0]))
            if chance.random() < 0.1:
                ask.withdraw()
            if await ask.granted():
                wrote = now()
                if chance.random() < 0.1:
                    ask.unused()
                    continue
                await platform.call(*mine)
                ask.ended()
        limiter.leave(me)

    async def main() -> None:
        limiter = RateLimiter()
        async with asyncio.TaskGroup() as group:
            for me in range(writers):
                group.create_task(writer(limiter, me))
        # A caller that gave up, or did not use its slot, costs nothing.
        await asyncio.sleep(seconds * 2)
        assert await used_up(limiter, budgets[0]) == calls

    virtual_time.run(main())
    assert platform.too_many == []


def test_a_call_counts_from_when_it_is_sent_until_a_whole_window_after_its_end() -> None:
    async def main() -> None:
        limiter, one = RateLimiter(), budget("one", 1, 10)
        first = limiter.request((one,), urgency=Urgency.FINAL)
        second = limiter.request((one,), urgency=Urgency.FINAL)
        assert await first.granted()
        await asyncio.sleep(30)
        assert second.waits, "the first is still on its way: it may be counted at any moment"
        first.ended()
        assert await second.granted()
        assert now() == pytest.approx(40, abs=0.1)

    virtual_time.run(main())


def test_growing_texts_never_use_up_what_the_finals_will_need() -> None:
    async def main() -> None:
        limiter = RateLimiter()
        for member in range(4):
            limiter.join(member, needs(EDITS))
        assert await used_up(limiter, EDITS, Urgency.GROW) == 10 - 4 - 1, (
            "finals, and headroom for first texts"
        )
        assert await used_up(limiter, EDITS, Urgency.FIRST) == 1
        assert await used_up(limiter, EDITS, Urgency.CREATE) == 0
        finals = [limiter.request((EDITS,), urgency=Urgency.FINAL) for _ in range(4)]
        await settled()
        assert not any(ask.waits for ask in finals)
        assert now() == 0

    virtual_time.run(main())


def test_what_left_is_not_reserved_for() -> None:
    async def main() -> None:
        limiter = RateLimiter()
        for member in range(4):
            limiter.join(member, needs(EDITS))
        for member in range(4):
            limiter.leave(member)
            limiter.leave(member)
        assert await used_up(limiter, EDITS, Urgency.FIRST) == 10

    virtual_time.run(main())


def test_with_more_messages_than_calls_they_still_grow() -> None:
    async def main() -> None:
        limiter = RateLimiter()
        for member in range(50):
            limiter.join(member, needs(EDITS))
        assert await used_up(limiter, EDITS, Urgency.GROW) == 4

    virtual_time.run(main())


def test_the_most_urgent_goes_first_and_then_who_has_waited_longest() -> None:
    async def main() -> list[str]:
        limiter, one = RateLimiter(), budget("one", 1, 10)
        holder = limiter.request((one,), urgency=Urgency.FINAL)
        assert await holder.granted()
        order: list[str] = []

        async def wait(name: str, urgency: Urgency, since: float) -> None:
            ask = limiter.request((one,), urgency=urgency, since=since)
            assert await ask.granted()
            order.append(name)
            ask.ended()

        async with asyncio.TaskGroup() as group:
            group.create_task(wait("grows, newer", Urgency.GROW, 5))
            group.create_task(wait("grows, older", Urgency.GROW, 1))
            group.create_task(wait("first", Urgency.FIRST, 9))
            group.create_task(wait("create", Urgency.CREATE, 9))
            group.create_task(wait("final, newer", Urgency.FINAL, 9))
            group.create_task(wait("final, older", Urgency.FINAL, 8))
            await settled()
            holder.ended()
        return order

    assert virtual_time.run(main()) == [
        "final, older",
        "final, newer",
        "create",
        "first",
        "grows, older",
        "grows, newer",
    ]


async def grown(limiter: RateLimiter, one: Budget, *, seconds: float, rest: float = 0.0) -> list[float]:
    """When one message that always has more to show was edited."""
    member, times = object(), list[float]()
    limiter.join(member, needs(one))
    while now() < seconds:
        ask = limiter.request((one,), urgency=Urgency.GROW, since=times[-1] if times else LONG_AGO, rest=rest)
        assert await ask.granted()
        times.append(now())
        ask.ended()
    limiter.leave(member)
    return times


@pytest.mark.parametrize("messages", [1, 2, 7])
def test_messages_grow_in_turn_at_an_even_pace(messages: int) -> None:
    async def main() -> Sequence[list[float]]:
        limiter, one = RateLimiter(), budget("one", 50, 60)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(grown(limiter, one, seconds=600)) for _ in range(messages)]
        return [task.result() for task in tasks]

    writes = virtual_time.run(main())
    interval = messages * 60 / (50 - messages - 5)
    for times in writes:
        gaps = [later - earlier for earlier, later in itertools.pairwise(times) if later < 600]
        assert min(gaps) >= interval - 0.01
        assert max(gaps) <= interval * 1.6
    counts = [len(times) for times in writes]
    assert max(counts) - min(counts) <= 1


def test_a_message_grows_no_oftener_than_the_platform_likes() -> None:
    async def main() -> list[float]:
        return await grown(RateLimiter(), budget("one", 100, 1), seconds=30, rest=3.0)

    times = virtual_time.run(main())
    assert len(times) == 11


def test_a_closed_budget_pauses_for_the_stated_time_and_others_continue() -> None:
    async def main() -> None:
        limiter = RateLimiter()
        ask = limiter.request((EDITS,), urgency=Urgency.FINAL)
        assert await ask.granted()
        ask.throttled(30)
        ask.ended()
        waiting = limiter.request((EDITS,), urgency=Urgency.FINAL)
        other = limiter.request((OTHERS,), urgency=Urgency.GROW, since=LONG_AGO)
        assert await other.granted()
        assert now() < 1
        assert await waiting.granted()
        assert now() == pytest.approx(30)
        assert await used_up(limiter, EDITS) == 10 - 2, "the call that was refused is counted all the same"

    virtual_time.run(main())


def test_a_wish_that_is_cancelled_leaves_nothing_behind() -> None:
    async def main() -> None:
        limiter, one = RateLimiter(), budget("one", 1, 10)
        holder = limiter.request((one,), urgency=Urgency.FINAL)
        assert await holder.granted()
        ask = limiter.request((one,), urgency=Urgency.FINAL)
        waiting = asyncio.create_task(ask.granted())
        await settled()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        holder.unused()
        assert await limiter.request((one,), urgency=Urgency.GROW).granted()

    virtual_time.run(main())


def test_routes_that_name_the_same_budget_share_it() -> None:
    async def main() -> None:
        limiter = RateLimiter()
        assert await used_up(limiter, EDITS) == 10
        again = limiter.request((budget("edits", 10, 60),), urgency=Urgency.FINAL)
        await settled()
        assert again.waits

    virtual_time.run(main())


def test_budgets_nobody_uses_are_forgotten() -> None:
    async def main() -> int:
        limiter = RateLimiter()
        for channel in range(100):
            one = budget(f"channel {channel}", 5, 5)
            limiter.join(channel, needs(one))
            assert await used_up(limiter, one) == 5
            limiter.leave(channel)
        await asyncio.sleep(60)
        limiter.join("last", needs(EDITS))
        limiter.leave("last")
        return limiter.known

    assert virtual_time.run(main()) <= 1


def test_the_platform_that_counts_otherwise_is_believed() -> None:
    """A budget smaller than documented: every refused call is repeated at the stated time, and none is lost."""
    real = budget("one", 3, 10)
    platform = Platform()

    async def call(limiter: RateLimiter, done: list[WriteRequest]) -> None:
        while True:
            ask = limiter.request((budget("one", 10, 10),), urgency=Urgency.FINAL)
            assert await ask.granted()
            try:
                await platform.call(real)
            except Throttled as error:
                ask.throttled(error.seconds)
                continue
            ask.ended()
            done.append(ask)
            return

    async def main() -> int:
        limiter, done = RateLimiter(), list[WriteRequest]()
        async with asyncio.timeout(300), asyncio.TaskGroup() as group:
            for _ in range(12):
                group.create_task(call(limiter, done))
        return len(done)

    assert virtual_time.run(main()) == 12
