"""By which way a message goes, and when it goes on by the next: as on Slack, in virtual time."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.port import Page, PlatformLimits, Reply, WriteRefused
from bot.streaming.page_changes import ShownPages
from bot.streaming.rate_limiter import Needs, RateLimiter
from bot.streaming.routes import RouteState
from bot.streaming.scheduler import Scheduler
from tests.unit.bot.streaming import virtual_time
from tests.unit.bot.streaming.platform import (
    SLACK,
    SLACK_LIMITS,
    CheckedOutlet,
    Message,
    Platform,
    now,
    pages,
    routes_of,
    slack,
)

if TYPE_CHECKING:
    from bot.streaming.message_stream import MessageStream

STREAM, UPDATE = SLACK
TOKEN = "word "
TOKENS_PER_SECOND = 40


async def grow(stream: MessageStream, *, seconds: float, start: str = "") -> str:
    """Text that grows for so long; all of it."""
    text = start
    end = now() + seconds
    while now() < end:
        text += TOKEN
        stream.show(Reply(text=text))
        await asyncio.sleep(1 / TOKENS_PER_SECOND)
    return text


def test_one_answer_grows_by_the_first_route() -> None:
    async def main() -> CheckedOutlet:
        outlet = slack()
        async with Scheduler(render=pages).open(outlet) as stream:
            stream.show(Reply(status="Searching…"))
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
            stream.show(Reply(text="The beginning"))
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
                outlet.faults = deque([WriteRefused("stopped_by_user")])
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
        outlet = slack(faults=deque([None, WriteRefused("message_not_in_streaming_state")]))
        async with Scheduler(render=pages).open(outlet) as stream:
            stream.show(Reply(text="a"))
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


def test_text_that_the_route_cannot_carry_continues_by_the_next() -> None:
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
            stream.show(Reply(text="a" * 90))
            await asyncio.sleep(1)
            await stream.finish(Reply(text="a" * 90, notices=("A notice of some length.",)))
        return outlet

    assert routes_of(virtual_time.run(main())) == ["stream", "update"]


def test_an_answer_of_several_messages_needs_what_its_last_one_does() -> None:
    async def main() -> None:
        outlet = slack()
        shown = ShownPages(outlet, RateLimiter(), now=now, posted=())
        assert shown.needs is None
        for changes, needs in (
            (shown.growing_changes([Page(text="a")]), Needs(grows=STREAM.edit, finals=(STREAM.finish,))),
            (
                shown.growing_changes([Page(text="a"), Page(text="b")]),
                Needs(grows=UPDATE.edit, finals=(STREAM.finish, UPDATE.finish)),
            ),
        ):
            shown.written(changes[-1], "m", began=now())
            assert shown.needs == needs
            outlet.messages.append(Message(id="m", page=Page(), shown=[]))

    virtual_time.run(main())


def test_a_message_that_is_nearly_full_has_room_held_for_the_next() -> None:
    async def main() -> None:
        shown = ShownPages(slack(), RateLimiter(), now=now, posted=())
        change = shown.growing_changes([Page(text="a" * 10_000)])[0]
        shown.written(change, "m", began=now())
        assert shown.needs == Needs(grows=STREAM.edit, finals=(STREAM.finish, UPDATE.finish))

    virtual_time.run(main())


def test_the_last_word_does_not_write_messages_that_are_as_they_should_be() -> None:
    async def main() -> CheckedOutlet:
        outlet = slack(routes=(UPDATE,), limits=PlatformLimits(characters=100, edit_seconds=1.0))
        async with Scheduler(render=pages).open(outlet) as stream:
            stream.show(Reply(text="a" * 150))
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
                    stream.show(Reply(status=f"Step {number}"))
                    await asyncio.sleep(0.5)

        async with asyncio.TaskGroup() as group:
            for outlet in outlets:
                group.create_task(one(outlet))
        return [sum(at < 9 for at, _ in outlet.writes) for outlet in outlets]

    assert max(virtual_time.run(main())) == 1, "the placeholder alone"


def test_the_route_that_was_left_is_closed_whatever_comes_between() -> None:
    between = replace(UPDATE, name="between", characters=5)
    way = RouteState(STREAM)
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
            stream.show(Reply(text="The answer is 41"))
            await asyncio.sleep(5)
            stream.show(Reply(text="The answer is 42"))
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
            stream.show(Reply(text="A list"))
            for line in range(12):
                await asyncio.sleep(2)
                stream.show(Reply(text="The list:" + "\n- line" * line))
        return outlet

    outlet = virtual_time.run(main())
    assert routes_of(outlet) == ["stream", "update"]
    assert outlet.text.startswith("The list:\n- line")


def test_text_that_differs_now_and_then_does_not_leave_the_route() -> None:
    async def main() -> CheckedOutlet:
        outlet = slack()
        async with Scheduler(render=pages).open(outlet) as stream:
            for count in range(1, 12):
                stream.show(Reply(text="word " * count))
                await asyncio.sleep(2)
                stream.show(Reply(text="[a link](" + "word " * count))
                await asyncio.sleep(2)
        return outlet

    assert routes_of(virtual_time.run(main())) == ["stream"]
