"""By which way a message goes, and when it goes on by the next: as on Slack, in virtual time."""

from __future__ import annotations

import asyncio
import itertools
import random
import statistics
from collections import Counter, deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.changes import Shown
from bot.pacing import Needs, Pacer
from bot.port import Limits, Page, Refused, Reply, Throttled, Unreachable
from bot.routing import Way
from bot.streaming import Scheduler, relay
from bot.writing import MessageStream, Patience
from rag_engine.types import Answer, AnswerEvent, Delta, Stage, TurnId
from tests.unit.bot import virtual_time
from tests.unit.bot.platform import SLACK, CheckedOutlet, Message, Platform, budget, now, pages

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

STREAM, UPDATE = SLACK
SLACK_LIMITS = Limits(characters=12_000, edit_seconds=1.0)
TOKEN = "word "
TOKENS_PER_SECOND = 40


def slack(platform: Platform | None = None, **more: object) -> CheckedOutlet:
    outlet = CheckedOutlet(platform=platform or Platform(), limits=SLACK_LIMITS, routes=SLACK)
    for name, value in more.items():
        setattr(outlet, name, value)
    return outlet


async def grow(stream: MessageStream, *, seconds: float, start: str = "") -> str:
    """Text that grows for so long; all of it."""
    text = start
    end = now() + seconds
    while now() < end:
        text += TOKEN
        stream.want(Reply(text=text))
        await asyncio.sleep(1 / TOKENS_PER_SECOND)
    return text


def routes_of(outlet: CheckedOutlet) -> list[str]:
    """The routes that the first message went by, each once in order."""
    return list(dict.fromkeys(write.route for _, write in outlet.writes if write.part == 0))


def test_one_answer_grows_by_the_first_route() -> None:
    async def main() -> CheckedOutlet:
        outlet = slack()
        async with Scheduler(render=pages).open(outlet) as stream:
            stream.want(Reply(status="Searching…"))
            await asyncio.sleep(1)
            text = await grow(stream, seconds=20)
            await stream.finish(Reply(text=text, notices=("Note.",)))
        return outlet

    outlet = virtual_time.run(main())
    assert routes_of(outlet) == ["stream"]
    assert len(outlet.writes) >= 18
    assert outlet.messages[0].final
    assert outlet.platform.too_many == []


def test_what_is_said_at_once_goes_by_the_plainest_route() -> None:
    async def main() -> CheckedOutlet:
        outlet = slack()
        async with Scheduler(render=pages).open(outlet) as stream:
            await stream.finish(Reply(text="Bound."))
        return outlet

    outlet = virtual_time.run(main())
    assert [(write.route, write.final) for _, write in outlet.writes] == [("update", True)]


def test_messages_that_are_there_already_go_by_the_route_that_always_works() -> None:
    async def main() -> CheckedOutlet:
        outlet = slack()
        async with Scheduler(render=pages).open(outlet) as stream:
            await stream.finish(Reply(text="old"))
        async with Scheduler(render=pages).open(outlet, posted=("m0",)) as stream:
            text = await grow(stream, seconds=5)
            await stream.finish(Reply(text=text))
        return outlet

    assert routes_of(virtual_time.run(main())) == ["update"]


def test_what_follows_the_last_word_goes_by_the_route_that_always_works() -> None:
    async def main() -> CheckedOutlet:
        outlet = slack()
        async with Scheduler(render=pages).open(outlet) as stream:
            text = await grow(stream, seconds=5)
            await stream.finish(Reply(text=text))
            await stream.finish(Reply(text=text + "More."))
        return outlet

    outlet = virtual_time.run(main())
    assert [(write.route, write.final) for _, write in outlet.writes][-2:] == [
        ("stream", True),
        ("update", True),
    ]
    assert outlet.text.endswith("More.")


def test_a_route_is_left_before_its_time_is_over_and_the_text_is_whole() -> None:
    outlet = slack(
        limits=replace(SLACK_LIMITS, characters=100_000), routes=(replace(STREAM, characters=100_000), UPDATE)
    )

    async def main() -> str:
        async with Scheduler(render=pages).open(outlet) as stream:
            text = await grow(stream, seconds=400)
            await stream.finish(Reply(text=text))
        return text

    text = virtual_time.run(main())
    assert routes_of(outlet) == ["stream", "update"]
    by_stream = [at for at, write in outlet.writes if write.route == "stream"]
    by_update = [at for at, write in outlet.writes if write.route == "update"]
    assert 235 < max(by_stream) <= 241
    assert min(by_update) - max(by_stream) < 3
    assert outlet.text == text
    assert len(outlet.platform.taken[STREAM.finish.name]) == 1, "closing it was counted"
    assert outlet.platform.too_many == []


def test_an_answer_that_was_silent_past_the_end_of_its_route_is_finished_by_the_next() -> None:
    async def main() -> CheckedOutlet:
        outlet = slack()
        async with Scheduler(render=pages).open(outlet) as stream:
            stream.want(Reply(text="The beginning"))
            await asyncio.sleep(600)
            await stream.finish(Reply(text="The beginning and the end"))
        return outlet

    outlet = virtual_time.run(main())
    assert [(write.route, write.final) for _, write in outlet.writes] == [("stream", False), ("update", True)]
    assert outlet.text == "The beginning and the end"


@pytest.mark.parametrize("how", ["refused", "withdrawn"])
def test_a_way_that_is_closed_is_left_at_once(how: str) -> None:
    async def main() -> tuple[CheckedOutlet, str]:
        outlet = slack()
        async with Scheduler(render=pages).open(outlet) as stream:
            text = await grow(stream, seconds=5)
            if how == "refused":
                outlet.faults = deque([Refused("stopped_by_user")])
            else:
                outlet.routes = (UPDATE,)
            text = await grow(stream, seconds=10, start=text)
            shown = outlet.messages[0].page.text
            assert len(text) - len(shown) < 3 * TOKENS_PER_SECOND * len(TOKEN)
            await stream.finish(Reply(text=text))
        return outlet, text

    outlet, text = virtual_time.run(main())
    assert routes_of(outlet) == ["stream", "update"]
    assert outlet.text == text


def test_a_last_word_that_the_route_refuses_goes_by_the_next() -> None:
    async def main() -> CheckedOutlet:
        outlet = slack(faults=deque([None, Refused("message_not_in_streaming_state")]))
        async with Scheduler(render=pages).open(outlet) as stream:
            stream.want(Reply(text="a"))
            await asyncio.sleep(1)
            await stream.finish(Reply(text="ab"))
        return outlet

    outlet = virtual_time.run(main())
    assert [(write.route, write.final) for _, write in outlet.writes] == [
        ("stream", False),
        ("stream", True),
        ("update", True),
    ]
    assert outlet.text == "ab"


def test_text_that_the_route_cannot_carry_goes_on_by_the_next() -> None:
    async def main() -> tuple[CheckedOutlet, str]:
        outlet = slack()
        async with Scheduler(render=pages).open(outlet) as stream:
            text = await grow(stream, seconds=80)
            await stream.finish(Reply(text=text))
        return outlet, text

    outlet, text = virtual_time.run(main())
    assert len(text) > SLACK_LIMITS.characters
    assert routes_of(outlet) == ["stream", "update"]
    assert len(outlet.messages) == 2
    assert outlet.text == text


def test_sources_that_the_route_cannot_carry_go_by_the_next() -> None:
    async def main() -> CheckedOutlet:
        outlet = slack(routes=(replace(STREAM, characters=100), UPDATE))
        async with Scheduler(render=pages).open(outlet) as stream:
            stream.want(Reply(text="a" * 90))
            await asyncio.sleep(1)
            await stream.finish(Reply(text="a" * 90, notices=("A notice of some length.",)))
        return outlet

    assert routes_of(virtual_time.run(main())) == ["stream", "update"]


def test_an_answer_of_several_messages_needs_what_its_last_one_does() -> None:
    async def main() -> None:
        outlet = slack()
        shown = Shown(outlet, Pacer(), now=now, posted=())
        assert shown.needs is None
        for changes, needs in (
            (shown.growing([Page(text="a")]), Needs(grows=STREAM.edit, finals=(STREAM.finish,))),
            (
                shown.growing([Page(text="a"), Page(text="b")]),
                Needs(grows=UPDATE.edit, finals=(STREAM.finish, UPDATE.finish)),
            ),
        ):
            shown.written(changes[-1], "m", began=now())
            assert shown.needs == needs
            outlet.messages.append(Message(id="m", page=Page(), shown=[]))

    virtual_time.run(main())


def test_a_message_that_is_nearly_full_has_room_held_for_the_next() -> None:
    async def main() -> None:
        shown = Shown(slack(), Pacer(), now=now, posted=())
        change = shown.growing([Page(text="a" * 10_000)])[0]
        shown.written(change, "m", began=now())
        assert shown.needs == Needs(grows=STREAM.edit, finals=(STREAM.finish, UPDATE.finish))

    virtual_time.run(main())


def test_the_last_word_does_not_write_messages_that_are_as_they_should_be() -> None:
    async def main() -> CheckedOutlet:
        outlet = slack(routes=(UPDATE,), limits=Limits(characters=100, edit_seconds=1.0))
        async with Scheduler(render=pages).open(outlet) as stream:
            stream.want(Reply(text="a" * 150))
            await asyncio.sleep(30)
            await stream.finish(Reply(text="a" * 151))
        return outlet

    outlet = virtual_time.run(main())
    assert [(write.part, write.final) for _, write in outlet.writes] == [(0, False), (1, False), (1, True)]


def test_a_status_waits_where_edits_are_scarce() -> None:
    async def main() -> list[int]:
        scheduler, platform = Scheduler(render=pages), Platform()
        outlets = [slack(platform) for _ in range(20)]

        async def one(outlet: CheckedOutlet) -> None:
            async with scheduler.open(outlet) as stream:
                for number in range(20):
                    stream.want(Reply(status=f"Step {number}"))
                    await asyncio.sleep(0.5)

        async with asyncio.TaskGroup() as group:
            for outlet in outlets:
                group.create_task(one(outlet))
        return [sum(at < 9 for at, _ in outlet.writes) for outlet in outlets]

    assert max(virtual_time.run(main())) == 1, "the placeholder alone"


def test_the_route_that_was_left_is_closed_whatever_comes_between() -> None:
    between = replace(UPDATE, name="between", characters=5)
    way = Way(STREAM)
    way.created(0.0)
    way.leave((STREAM, between, UPDATE))
    way.leave((STREAM, between, UPDATE))
    assert way.route == UPDATE
    assert way.cost(UPDATE.edit) == (UPDATE.edit, STREAM.finish)
    way.written()
    assert way.cost(UPDATE.edit) == (UPDATE.edit,)


def test_text_that_differs_from_what_is_shown_waits_for_the_last_word_on_a_route_that_only_grows() -> None:
    async def main() -> CheckedOutlet:
        outlet = slack()
        async with Scheduler(render=pages).open(outlet) as stream:
            stream.want(Reply(text="The answer is 41"))
            await asyncio.sleep(5)
            stream.want(Reply(text="The answer is 42"))
            await asyncio.sleep(5)
            assert outlet.text == "The answer is 41"
            await stream.finish(Reply(text="The answer is 42."))
        return outlet

    outlet = virtual_time.run(main())
    assert [write.route for _, write in outlet.writes] == ["stream", "update"]
    assert outlet.text == "The answer is 42."


def test_text_that_keeps_differing_leaves_the_route() -> None:
    async def main() -> CheckedOutlet:
        outlet = slack()
        async with Scheduler(render=pages).open(outlet) as stream:
            stream.want(Reply(text="A list"))
            for line in range(12):
                await asyncio.sleep(2)
                stream.want(Reply(text="The list:" + "\n- line" * line))
        return outlet

    outlet = virtual_time.run(main())
    assert routes_of(outlet) == ["stream", "update"]
    assert outlet.text.startswith("The list:\n- line")


def test_text_that_differs_now_and_then_does_not_leave_the_route() -> None:
    async def main() -> CheckedOutlet:
        outlet = slack()
        async with Scheduler(render=pages).open(outlet) as stream:
            for count in range(1, 12):
                stream.want(Reply(text="word " * count))
                await asyncio.sleep(2)
                stream.want(Reply(text="[a link](" + "word " * count))
                await asyncio.sleep(2)
        return outlet

    assert routes_of(virtual_time.run(main())) == ["stream"]


# --- many at once


@dataclass(slots=True, kw_only=True)
class Told:
    """One answer as it was told and shown: seconds."""

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


def test_finals_are_in_time_where_all_end_at_once() -> None:
    platform = Platform()
    answers = virtual_time.run(many(20, seconds=45, platform=platform))
    assert platform.too_many == []
    assert max(one.final - one.last_token for one in answers) < 0.5


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


def test_more_answers_than_anything_was_made_for_are_all_whole() -> None:
    chance = random.Random(5)
    platform = Platform(latency=lambda: chance.uniform(0, 0.1))
    answers = virtual_time.run(many(120, seconds=20, apart=0.1, platform=platform))
    assert platform.too_many == []
    assert all(one.outlet.text == one.text for one in answers)


@settings(max_examples=30)
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
            limits=Limits(characters=chance.choice([200, 1000]), edit_seconds=1.0),
            routes=(stream, UPDATE),
            faults=deque(
                chance.choice([None, None, None, Throttled(seconds=2), Unreachable("502")]) for _ in range(20)
            ),
        )
        outlets.append(outlet)
        text = ""
        async with scheduler.open(outlet) as writing:
            writing.want(Reply(status="Searching…"))
            await asyncio.sleep(chance.uniform(0, 2))
            for _ in range(chance.randint(0, 60)):
                text += "".join(chance.choices("abc d\n", k=chance.randint(1, 40)))
                writing.want(Reply(text=text))
                await asyncio.sleep(chance.uniform(0, 1))
            await writing.finish(Reply(text=text))
        assert outlet.text == text
        assert outlet.most_text <= outlet.limits.characters

    async def main() -> None:
        platform = Platform(latency=lambda: chance.choice([0.0, chance.uniform(0, 2)]))
        scheduler = Scheduler(render=pages, patience=Patience(final=3600))
        async with asyncio.TaskGroup() as group:
            for _ in range(chance.randint(1, 8)):
                group.create_task(one(scheduler, platform))
                await asyncio.sleep(chance.uniform(0, 1))
        assert platform.too_many == []

    virtual_time.run(main())
