"""A limit that is fair between groups, in any order of coming and going."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from bot.resilience.fair_semaphore import FairSemaphore

GROUPS = ("great", "small", "third")
COMES, ENDS, LEAVES, ENDS_AND_LEAVES = "comes", "ends", "leaves", "ends and leaves"


@dataclass(eq=False)
class Asker:
    """One that waits, goes on, ends or leaves."""

    group: str
    numbers: list[int] = field(default_factory=list)
    waits: bool = True
    goes_on: bool = False
    ends: asyncio.Event = field(default_factory=asyncio.Event)
    others_since: dict[str, int] = field(default_factory=dict)
    """How often each other group was let in while this one waited as the first of its own."""

    async def run(self, semaphore: FairSemaphore, let_in: list[Asker]) -> None:
        try:
            async with semaphore.turn(self.group, on_wait=self.numbers.append):
                self.waits, self.goes_on = False, True
                let_in.append(self)
                await self.ends.wait()
        finally:
            self.waits = self.goes_on = False


async def settled() -> None:
    """Until nobody has anything left to do."""
    for _ in range(5):
        await asyncio.sleep(0)


STEPS = st.lists(
    st.tuples(
        st.sampled_from([COMES, COMES, ENDS, LEAVES, ENDS_AND_LEAVES]),
        st.sampled_from(GROUPS),
        st.integers(0),
    ),
    max_size=60,
)


@given(at_once=st.integers(1, 3), steps=STEPS)
def test_the_limit_holds_no_slot_is_wasted_and_groups_take_turns(
    at_once: int, steps: list[tuple[str, str, int]]
) -> None:
    async def play() -> None:
        semaphore = FairSemaphore(at_once)
        askers: list[Asker] = []
        tasks: dict[Asker, asyncio.Task[None]] = {}
        let_in: list[Asker] = []
        async with asyncio.timeout(5):
            for step, group, pick in steps:
                running = [asker for asker in askers if asker.goes_on]
                waiting = [asker for asker in askers if asker.waits]
                before, let_in[:] = waiting, []
                if step == COMES:
                    asker = Asker(group=group)
                    askers.append(asker)
                    tasks[asker] = asyncio.create_task(asker.run(semaphore, let_in))
                if step in {ENDS, ENDS_AND_LEAVES} and running:
                    running[pick % len(running)].ends.set()
                if step in {LEAVES, ENDS_AND_LEAVES} and waiting:
                    tasks[waiting[pick % len(waiting)]].cancel()
                await settled()
                check(semaphore, askers, let_in, before, at_once)
            for task in tasks.values():
                task.cancel()
            await asyncio.gather(*tasks.values(), return_exceptions=True)
            assert not semaphore.waiting
            for _ in range(at_once):
                assert not semaphore.is_full
                await semaphore.turn("last", on_wait=[].append).__aenter__()
            assert semaphore.is_full

    asyncio.run(play())


def check(
    semaphore: FairSemaphore, askers: list[Asker], let_in: list[Asker], before: list[Asker], at_once: int
) -> None:
    running = sum(asker.goes_on for asker in askers)
    waiting = [asker for asker in askers if asker.waits]
    assert running <= at_once
    assert running == at_once or not waiting, "room is wasted while somebody waits"
    assert semaphore.waiting == len(waiting)
    assert sorted(asker.numbers[-1] for asker in waiting) == list(range(1, len(waiting) + 1))
    for asker in let_in:
        own = [each for each in before if each.group == asker.group and each.waits]
        assert all(askers.index(each) > askers.index(asker) for each in own), (
            "inside a group the first is first"
        )
        for first in {each.group: each for each in reversed(waiting) if each in before}.values():
            if first.group != asker.group:
                first.others_since[asker.group] = first.others_since.get(asker.group, 0) + 1
                assert first.others_since[asker.group] <= 1, "a group had two turns while another waited"
    for asker in let_in:  # who is first now was behind the last one let in
        for each in waiting:
            if each.group == asker.group:
                each.others_since.clear()


async def test_one_question_is_not_behind_the_hundred_of_another_place() -> None:
    semaphore = FairSemaphore(1)
    let_in: list[Asker] = []
    async with asyncio.timeout(5):
        crowd = [Asker(group="great") for _ in range(101)]
        one = Asker(group="small")
        tasks = [asyncio.create_task(asker.run(semaphore, let_in)) for asker in [*crowd, one]]
        await settled()
        assert one.numbers == [2], "the head of the crowd is first, then the other place"
        crowd[0].ends.set()
        await settled()
        crowd[1].ends.set()
        await settled()
        assert let_in == [*crowd[:2], one]
        assert crowd[2].numbers[-1] == 1
        for asker in [*crowd, one]:
            asker.ends.set()
        await asyncio.gather(*tasks)
    assert len(let_in) == 102


async def test_who_is_cancelled_in_the_moment_of_the_grant_hands_it_on() -> None:
    semaphore = FairSemaphore(1)
    let_in: list[Asker] = []
    async with asyncio.timeout(5):
        first, second, third = (Asker(group="one") for _ in range(3))
        tasks = [asyncio.create_task(asker.run(semaphore, let_in)) for asker in (first, second, third)]
        await settled()
        first.ends.set()
        await asyncio.sleep(0)  # the first has ended and the second is granted, but has not run yet
        tasks[1].cancel()
        await settled()
        assert third.goes_on
        third.ends.set()
        await asyncio.gather(*tasks, return_exceptions=True)
    assert not semaphore.is_full


async def test_no_group_has_every_place_where_each_has_only_so_many() -> None:
    semaphore = FairSemaphore(3, each=2)
    let_in: list[Asker] = []
    async with asyncio.timeout(5):
        crowd = [Asker(group="great") for _ in range(4)]
        one = Asker(group="small")
        tasks = [asyncio.create_task(asker.run(semaphore, let_in)) for asker in [*crowd, one]]
        await settled()
        assert let_in == [*crowd[:2], one]
        one.ends.set()
        await settled()
        assert let_in == [*crowd[:2], one], "what one had is not the crowd's"
        crowd[0].ends.set()
        await settled()
        assert let_in == [*crowd[:2], one, crowd[2]]
        for asker in crowd:
            asker.ends.set()
        await asyncio.gather(*tasks)
    assert not semaphore.is_full
