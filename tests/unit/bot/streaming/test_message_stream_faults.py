"""What a person sees of an answer while the platform does not do as it is asked. In virtual time."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

import pytest

from bot.port import Gone, PlatformLimits, Reply, Route, Stopped, Throttled, Unreachable, WriteRefused
from bot.streaming.message_stream import WriteDeadlines
from bot.streaming.scheduler import Scheduler, relay
from rag_engine.types import Answer, Delta, Stage, TurnId
from tests.unit.bot.streaming import virtual_time
from tests.unit.bot.streaming.platform import CheckedOutlet, Platform, budget, now, pages, texts, told

if TYPE_CHECKING:
    from bot.port import Page

SLOW = budget("slow", 1, 5)
STATUS = Stage(name="retrieve", detail="Searching…")
REFUSAL = "The channel is read-only: give the bot the right to write."


def answer(text: str) -> Answer:
    return Answer(turn=TurnId("t"), text=text, citations=(), grounded=False, timings={})


@pytest.mark.parametrize(
    "fault", [Throttled(seconds=7), Unreachable("502"), TimeoutError()], ids=["429", "502", "silent"]
)
def test_no_fault_of_the_platform_loses_the_last_word(
    fault: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> tuple[CheckedOutlet, float]:
        outlet = CheckedOutlet(faults=deque([None, fault, fault, fault]))
        async with Scheduler(render=pages).open(outlet) as stream:
            stream.show(Reply(text="a"))
            await asyncio.sleep(1)
            await stream.finish(Reply(text="ab"))
            return outlet, now()

    outlet, ended = virtual_time.run(main())
    assert texts(outlet) == ["a", "ab"]
    (warning,) = caplog.messages
    assert warning.startswith("a message is written again: ")
    assert ended == pytest.approx(1 + (21 if isinstance(fault, Throttled) else 0.5 + 1 + 2), abs=0.5)


def test_a_last_word_that_was_turned_away_does_not_queue_behind_those_that_came_later() -> None:
    async def main() -> list[float]:
        platform, scheduler = Platform(latency=lambda: 2.0), Scheduler(render=pages)
        route = Route(name="slow", create=budget("c", 100, 1), edit=SLOW, finish=SLOW)
        outlets = [CheckedOutlet(platform=platform, routes=(route,)) for _ in range(9)]
        ended: list[float] = []

        async def one(outlet: CheckedOutlet, *, after: float) -> None:
            async with scheduler.open(outlet) as stream:
                stream.show(Reply(text="a"))
                await asyncio.sleep(10 + after)
                await stream.finish(Reply(text="ab"))
                ended.append(now())

        outlets[0].faults.extend([None, Throttled(seconds=10)])
        async with asyncio.TaskGroup() as group:
            first = group.create_task(one(outlets[0], after=1))
            for number, outlet in enumerate(outlets[1:]):
                group.create_task(one(outlet, after=2 + number / 10))
            await first
            return list(ended)

    assert len(virtual_time.run(main())) == 1, "it came first, and is said first"


@pytest.mark.parametrize("fault", [Throttled(seconds=1), Unreachable("502")], ids=["429", "502"])
def test_growing_text_outlives_faults_with_the_newest(fault: Exception) -> None:
    async def main() -> CheckedOutlet:
        outlet = CheckedOutlet(faults=deque([fault, None, fault, fault]))
        async with Scheduler(render=pages).open(outlet) as stream:
            for text in ("a", "ab", "abc", "abcd"):
                stream.show(Reply(text=text))
                await asyncio.sleep(4)
        return outlet

    assert texts(virtual_time.run(main()))[-1] == "abcd"


def test_growing_text_is_tried_less_and_less_often_while_the_platform_is_away() -> None:
    async def main() -> CheckedOutlet:
        outlet = CheckedOutlet(
            limits=PlatformLimits(characters=2000, edit_seconds=0), faults=deque([Unreachable("502")] * 1000)
        )
        async with Scheduler(render=pages).open(outlet) as stream:
            for number in range(600):
                stream.show(Reply(text="a" * (number + 1)))
                await asyncio.sleep(0.1)
        return outlet

    assert 5 <= len(virtual_time.run(main()).writes) <= 8


def test_the_last_word_is_given_up_in_the_end_and_can_be_said_otherwise() -> None:
    async def main() -> tuple[CheckedOutlet, float]:
        outlet = CheckedOutlet(faults=deque([Unreachable("away")] * 1000))
        async with Scheduler(render=pages, deadlines=WriteDeadlines(final=100)).open(outlet) as stream:
            with pytest.raises(Unreachable):
                await stream.finish(Reply(text="a"))
            ended = now()
            outlet.faults.clear()
            await stream.finish(Reply(text="b"))
        return outlet, ended

    outlet, ended = virtual_time.run(main())
    assert 100 <= ended <= 130
    assert len(outlet.writes) < 15, "with growing waits"
    assert texts(outlet) == ["b"]


def test_a_call_that_never_ends_is_given_up() -> None:
    async def main() -> CheckedOutlet:
        outlet = CheckedOutlet(hold=asyncio.Event())
        assert outlet.hold
        hold = outlet.hold
        asyncio.get_running_loop().call_later(70, hold.set)
        async with Scheduler(render=pages, deadlines=WriteDeadlines(call=30)).open(outlet) as stream:
            await stream.finish(Reply(text="a"))
        return outlet

    outlet = virtual_time.run(main())
    assert [round(at) for at, _ in outlet.writes] == [0, 30, 62]


def test_where_the_message_is_gone_the_last_word_makes_sure_once_and_nothing_is_raised() -> None:
    async def main() -> CheckedOutlet:
        outlet = CheckedOutlet(faults=deque([None, Gone("deleted"), Gone("deleted")]))
        async with Scheduler(render=pages).open(outlet) as stream:
            returned = await relay(
                told([STATUS, 2.0, Delta(text="a"), 2.0, Delta(text="b"), 2.0, answer("ab")]), stream
            )
            assert returned is not None, "it is kept in the history"
        return outlet

    assert [write.final for _, write in virtual_time.run(main()).writes] == [False, False, True]


def test_a_message_that_was_gone_for_a_moment_only_gets_its_last_word() -> None:
    async def main() -> CheckedOutlet:
        outlet = CheckedOutlet(faults=deque([None, Gone("channel_not_found")]))
        async with Scheduler(render=pages).open(outlet) as stream:
            await relay(told([STATUS, 2.0, Delta(text="a"), 2.0, answer("ab")]), stream)
        return outlet

    assert virtual_time.run(main()).text == "ab"


def test_gone_at_the_last_word_is_quiet_too() -> None:
    async def main() -> tuple[str, ...]:
        outlet = CheckedOutlet(faults=deque([None, Gone("deleted")]))
        async with Scheduler(render=pages).open(outlet) as stream:
            stream.show(Reply(text="a"))
            await asyncio.sleep(1)
            return await stream.finish(Reply(text="ab"))

    assert virtual_time.run(main()) == ("m0",)


def test_what_the_platform_refuses_is_reported_at_the_end_with_its_sentence() -> None:
    async def main() -> CheckedOutlet:
        outlet = CheckedOutlet(faults=deque([WriteRefused(REFUSAL), WriteRefused(REFUSAL)]))
        async with Scheduler(render=pages).open(outlet) as stream:
            for text in ("a", "ab", "abc"):
                stream.show(Reply(text=text))
                await asyncio.sleep(5)
            assert len(outlet.writes) == 1, "it is not asked again and again"
            with pytest.raises(WriteRefused, match="read-only"):
                await stream.finish(Reply(text="abcd"))
            await stream.finish(Reply(text="something smaller"))
        return outlet

    assert texts(virtual_time.run(main())) == ["something smaller"]


def test_what_a_person_stopped_by_the_platforms_own_button_gets_its_last_word_only() -> None:
    stopped: list[float] = []

    async def main() -> CheckedOutlet:
        outlet = CheckedOutlet(faults=deque([None, Stopped("stopped_by_user")]))
        opened = Scheduler(render=pages).open(outlet, on_stopped=lambda: stopped.append(now()))
        async with opened as stream:
            for text in ("a", "ab", "abc"):
                stream.show(Reply(text=text))
                await asyncio.sleep(5)
            await stream.finish(Reply(text="ab (stopped)"))
        return outlet

    assert texts(virtual_time.run(main())) == ["a", "ab (stopped)"]
    assert stopped == [5]


def test_a_fault_of_ours_is_raised_at_the_end_and_another_reply_can_be_said() -> None:
    def render(reply: Reply, limits: PlatformLimits, *, final: bool) -> list[Page]:
        if "broken" in reply.text:
            raise ValueError("cannot render")
        return pages(reply, limits, final=final)

    async def main() -> CheckedOutlet:
        outlet = CheckedOutlet()
        async with Scheduler(render=render).open(outlet) as stream:
            stream.show(Reply(text="broken a"))
            await asyncio.sleep(5)
            with pytest.raises(ValueError, match="cannot render"):
                await stream.finish(Reply(text="broken ab"))
            await stream.finish(Reply(text="Something broke."))
        return outlet

    assert texts(virtual_time.run(main())) == ["Something broke."]


def test_an_error_that_finish_does_not_know_reaches_the_caller() -> None:
    async def main() -> None:
        outlet = CheckedOutlet(faults=deque([BrokenPipeError()]))
        async with Scheduler(render=pages).open(outlet) as stream:
            with pytest.raises(BrokenPipeError):
                await stream.finish(Reply(text="a"))

    virtual_time.run(main())
