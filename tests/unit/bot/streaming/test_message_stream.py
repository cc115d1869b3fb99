"""What a person sees of one answer: its messages grow, the newest text wins, and the last word always arrives. In virtual time."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.port import Button, PlatformLimits, Reply, Throttled, Unreachable
from bot.streaming.message_stream import WriteDeadlines
from bot.streaming.scheduler import Scheduler, relay
from rag_engine.types import Answer, Delta, Retrieval, Stage, TurnId
from tests.hypothesis_profiles import examples
from tests.unit.bot.streaming import virtual_time
from tests.unit.bot.streaming.platform import PLAIN, CheckedOutlet, Platform, budget, now, pages, texts, told

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from bot.port import Page
    from rag_engine.types import AnswerEvent

STATUS = Stage(name="retrieve", detail="Searching…")


def answer(text: str) -> Answer:
    return Answer(turn=TurnId("t"), text=text, citations=(), grounded=False, timings={}, notices=("Note.",))


async def shown(outlet: CheckedOutlet, events: Sequence[AnswerEvent | float]) -> Answer | None:
    async with Scheduler(render=pages).open(outlet) as stream:
        return await relay(told(events), stream)


def test_a_status_then_growing_text_then_the_answer() -> None:
    outlet = CheckedOutlet()
    events = [STATUS, 2.0, Retrieval(hits=()), Delta(text="a"), 2.0, Delta(text="b"), 2.0, answer("ab [1]")]
    returned = virtual_time.run(shown(outlet, events))
    assert returned == events[-1]
    seen = [(at, page.status, page.text, page.footer) for at, page in outlet.messages[0].shown]
    assert seen == [
        (0.0, "Searching…", "", ""),
        (2.0, "", "a", ""),
        (4.0, "", "ab", ""),
        (6.0, "", "ab [1]", "Note."),
    ]
    assert outlet.messages[0].final
    assert len(outlet.messages) == 1


def test_the_first_text_and_the_last_do_not_wait_for_a_turn() -> None:
    outlet = CheckedOutlet(limits=PlatformLimits(characters=2000, edit_seconds=60))
    events = [STATUS, 0.1, Delta(text="a"), 0.1, Delta(text="b"), 0.1, answer("ab")]
    virtual_time.run(shown(outlet, events))
    assert [(round(at, 1), page.text) for at, page in outlet.messages[0].shown] == [
        (0.0, ""),
        (0.1, "a"),
        (0.3, "ab"),
    ]


def test_statuses_that_come_quickly_are_not_all_shown() -> None:
    outlet = CheckedOutlet()
    stages = [Stage(name=str(number), detail=f"Step {number}") for number in range(50)]
    virtual_time.run(shown(outlet, [*stages, 5.0, answer("done")]))
    assert [page.status for _, page in outlet.messages[0].shown] == ["Step 49", ""]


def test_text_that_is_not_decided_yet_does_not_take_the_status_away() -> None:
    def undecided(reply: Reply, limits: PlatformLimits, *, final: bool) -> list[Page]:
        return pages(
            replace(reply, text="") if reply.text == "[" else reply, limits, final=final
        )  # as ours does

    async def main() -> CheckedOutlet:
        outlet = CheckedOutlet()
        async with Scheduler(render=undecided).open(outlet) as stream:
            writing = Stage(name="answer", detail="Writing…")
            events = [STATUS, 0.1, writing, 0.1, Delta(text="["), 2.0, Delta(text="a"), 2.0, answer("[a")]
            await relay(told(events), stream)
        return outlet

    shown = virtual_time.run(main()).messages[0].shown
    assert [(page.status, page.text) for _, page in shown] == [("Searching…", ""), ("", "[a"), ("", "[a")]


def test_the_status_leaves_room_for_the_first_text() -> None:
    four = budget("edits", 4, 5)
    outlet = CheckedOutlet(
        routes=(replace(PLAIN, edit=four, finish=four),),
        limits=PlatformLimits(characters=2000, edit_seconds=0),
    )

    async def main() -> float:
        async with Scheduler(render=pages).open(outlet) as stream:
            for number in range(40):
                stream.show(Reply(status=f"Step {number}"))
                await asyncio.sleep(0.1)
            asked = now()
            stream.show(Reply(text="a"))
            await asyncio.sleep(10)
            return outlet.first_text_at() - asked

    assert virtual_time.run(main()) < 0.1
    assert len(outlet.messages[0].shown) >= 3, "there are statuses meanwhile"


def test_texts_that_arrive_during_a_call_are_shown_together_by_the_next() -> None:
    async def main() -> CheckedOutlet:
        outlet = CheckedOutlet(hold=asyncio.Event())
        async with Scheduler(render=pages).open(outlet) as stream:
            for text in ("a", "ab", "abc"):
                stream.show(Reply(text=text))
                await outlet.arriving.wait()
            assert outlet.hold
            outlet.hold.set()
            await asyncio.sleep(5)
        return outlet

    assert texts(virtual_time.run(main())) == ["a", "abc"]


def test_a_long_answer_is_not_rendered_for_every_token() -> None:
    rendered: list[int] = []

    def counted(reply: Reply, limits: PlatformLimits, *, final: bool) -> list[Page]:
        rendered.append(len(reply.text))
        return pages(reply, limits, final=final)

    grown: list[int] = []

    def growing(text: str) -> Reply:
        grown.append(len(text))
        return Reply(text=text)

    async def main() -> CheckedOutlet:
        outlet = CheckedOutlet()
        tokens: list[AnswerEvent | float] = []
        for _ in range(7500):
            tokens += [Delta(text="word "), 1 / 40]
        async with Scheduler(render=counted).open(outlet) as stream:
            await relay(told([*tokens, answer("word " * 7500)]), stream, growing=growing)
        return outlet

    outlet = virtual_time.run(main())
    assert outlet.text == "word " * 7500
    assert len(rendered) <= len(outlet.writes) * 1.3
    assert len(grown) <= len(outlet.writes) * 1.3
    assert len(rendered) < 250


def test_an_error_in_the_events_reaches_the_caller_and_the_stream_can_still_be_finished() -> None:
    async def broken() -> AsyncIterator[AnswerEvent]:
        yield Delta(text="a")
        await asyncio.sleep(1)
        raise ValueError("broken")

    async def main() -> CheckedOutlet:
        outlet = CheckedOutlet()
        async with Scheduler(render=pages).open(outlet) as stream:
            with pytest.raises(ValueError, match="broken"):
                await relay(broken(), stream)
            assert await stream.finish(Reply(text="Something broke (id 7f3a).")) == ("m0",)
        return outlet

    outlet = virtual_time.run(main())
    assert texts(outlet) == ["a", "Something broke (id 7f3a)."]
    assert outlet.messages[0].final


@pytest.mark.parametrize("held", [False, True])
def test_a_cancelled_relay_leaves_the_stream_able_to_finish_with_another_reply(held: bool) -> None:
    async def endless() -> AsyncIterator[AnswerEvent]:
        yield Delta(text="a")
        await asyncio.sleep(1)
        yield Delta(text="b")
        await asyncio.Event().wait()

    async def main() -> CheckedOutlet:
        outlet = CheckedOutlet(hold=asyncio.Event())
        assert outlet.hold
        if not held:
            outlet.hold.set()
        async with Scheduler(render=pages).open(outlet) as stream:
            relaying = asyncio.create_task(relay(endless(), stream))
            await asyncio.sleep(1.1)
            relaying.cancel()
            with pytest.raises(asyncio.CancelledError):
                await relaying
            outlet.hold.set()
            await stream.finish(Reply(text="a (stopped)"))
        assert [task for task in asyncio.all_tasks() if task.get_name() == "message-writer"] == []
        return outlet

    outlet = virtual_time.run(main())
    assert texts(outlet) == ["a", "a (stopped)"]


def test_a_final_write_that_is_cancelled_gives_way_to_another() -> None:
    async def main() -> CheckedOutlet:
        outlet = CheckedOutlet(faults=deque([Unreachable("away")] * 3))
        async with Scheduler(render=pages).open(outlet) as stream:
            finishing = asyncio.create_task(stream.finish(Reply(text="one")))
            await asyncio.sleep(0.1)
            finishing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await finishing
            await stream.finish(Reply(text="two"))
        return outlet

    assert texts(virtual_time.run(main())) == ["two"]


def test_nothing_is_written_after_the_last_word() -> None:
    async def main() -> CheckedOutlet:
        outlet = CheckedOutlet()
        async with Scheduler(render=pages).open(outlet) as stream:
            await stream.finish(Reply(text="done"))
            stream.show(Reply(text="late"))
            await asyncio.sleep(60)
            await stream.finish(Reply(text="done, and more"))
        return outlet

    assert texts(virtual_time.run(main())) == ["done", "done, and more"]


def test_a_last_word_that_waits_when_the_stream_is_closed_is_cancelled() -> None:
    async def main() -> None:
        outlet = CheckedOutlet(faults=deque([Unreachable("away")] * 100))
        async with Scheduler(render=pages).open(outlet) as stream:
            finishing = asyncio.create_task(stream.finish(Reply(text="a")))
            await asyncio.sleep(1)
        with pytest.raises(asyncio.CancelledError):
            await finishing

    virtual_time.run(main())


def test_closing_does_not_wait_for_ever() -> None:
    async def posted(ids: tuple[str, ...]) -> None:
        await asyncio.Event().wait()

    async def main() -> float:
        scheduler = Scheduler(render=pages, deadlines=WriteDeadlines(call=30))
        async with scheduler.open(CheckedOutlet(), on_posted=posted) as stream:
            stream.show(Reply(text="a"))
            await asyncio.sleep(1)
        return now()

    assert virtual_time.run(main()) == pytest.approx(31)


# --- parts


def test_parts_are_written_as_they_change_and_those_no_longer_needed_are_taken_away() -> None:
    def lines(count: int) -> str:
        return "".join(f"{number:08}\n" for number in range(count))

    async def main() -> CheckedOutlet:
        outlet = CheckedOutlet(limits=PlatformLimits(characters=90, edit_seconds=0))
        async with Scheduler(render=pages).open(outlet) as stream:
            for count in (5, 15, 25, 35):
                stream.show(Reply(text=lines(count)))
                await asyncio.sleep(30)
            assert [message.page.text for message in outlet.messages] == [
                lines(35)[start : start + 90] for start in range(0, 315, 90)
            ]
            assert [len(texts(outlet, part)) for part in range(4)] == [2, 2, 2, 1], "only what changed"
            await stream.finish(Reply(text=lines(15)))
            assert stream.messages == ("m0", "m1")
        return outlet

    outlet = virtual_time.run(main())
    assert outlet.text == lines(15)
    assert [message.id for message in outlet.deleted] == ["m3", "m2"]


def test_existing_messages_are_kept_and_continued() -> None:
    async def main() -> CheckedOutlet:
        outlet = CheckedOutlet(limits=PlatformLimits(characters=100, edit_seconds=0))
        async with Scheduler(render=pages).open(outlet) as before:
            await before.finish(Reply(text="old " * 70))
            posted = before.messages
        assert len(posted) == 3
        async with Scheduler(render=pages).open(outlet, posted=posted) as stream:
            stream.show(Reply(status="Searching…"))
            await asyncio.sleep(30)
            assert [message.page.status for message in outlet.messages] == ["Searching…"]
            assert await stream.finish(Reply(text="new")) == ("m0",)
        return outlet

    outlet = virtual_time.run(main())
    assert outlet.text == "new"
    assert outlet.platform.too_many == []


def test_every_part_is_reported_as_soon_as_it_exists() -> None:
    seen: list[tuple[tuple[str, ...], int]] = []

    async def main() -> None:
        outlet = CheckedOutlet(limits=PlatformLimits(characters=20, edit_seconds=0))

        async def posted(ids: tuple[str, ...]) -> None:
            await asyncio.sleep(1)
            seen.append((ids, len(outlet.writes)))

        async with Scheduler(render=pages).open(outlet, on_posted=posted) as stream:
            await stream.finish(Reply(text="one two three four five six seven"))

    virtual_time.run(main())
    assert seen == [(("m0",), 1), (("m0", "m1"), 2)], "and before anything else is written"


def test_links_that_a_reply_does_not_name_are_those_of_the_question() -> None:
    links: list[frozenset[str] | None] = []

    def render(reply: Reply, limits: PlatformLimits, *, final: bool) -> list[Page]:
        links.append(reply.links)
        return pages(reply, limits, final=final)

    async def main() -> None:
        allowed = frozenset({"https://example.com"})
        async with Scheduler(render=render).open(CheckedOutlet(), links=allowed) as stream:
            await stream.finish(Reply(text="a"))
            await stream.finish(Reply(text="b", links=frozenset()))

    virtual_time.run(main())
    assert links == [frozenset({"https://example.com"}), frozenset()]


def test_buttons_of_a_growing_answer_are_those_it_is_made_with() -> None:
    stop = Button(name="stop", label="Stop")

    async def main() -> CheckedOutlet:
        outlet = CheckedOutlet()
        async with Scheduler(render=pages).open(outlet) as stream:
            await relay(
                told([STATUS, 2.0, Delta(text="a"), 2.0, answer("a")]),
                stream,
                growing=lambda text: Reply(text=text, buttons=(stop,)),
            )
        return outlet

    seen = [page for _, page in virtual_time.run(main()).messages[0].shown]
    assert [page.buttons for page in seen] == [(stop,), (stop,), ()]


# --- nothing lost, nothing doubled


@examples(60)
@given(seed=st.integers(0, 2**32))
def test_no_character_is_lost_or_doubled(seed: int) -> None:
    chance = random.Random(seed)
    alphabet = "ab c\nd. é\U0001f9e9\n\n`*_[1]"
    text = "".join(chance.choices(alphabet, k=chance.choice([0, 1, 50, 500, 3000])))
    faults = [
        chance.choice([None, None, Throttled(seconds=chance.uniform(0, 9)), Unreachable("502")])
        for _ in range(40)
    ]
    outlet = CheckedOutlet(
        platform=Platform(latency=lambda: chance.choice([0.0, 0.1, chance.uniform(0, 3)])),
        limits=PlatformLimits(
            characters=chance.choice([30, 200, 2000]), edit_seconds=chance.choice([0.0, 1.0])
        ),
        routes=(replace(PLAIN, edit=budget("edits", 3, 5)),),
        faults=deque(faults),
    )

    async def main() -> None:
        events: list[AnswerEvent | float] = [STATUS]
        start = 0
        while start < len(text):
            end = start + chance.randint(1, 40)
            events += [Delta(text=text[start:end]), chance.choice([0.0, 0.025, chance.uniform(0, 2)])]
            start = end
        async with Scheduler(render=pages, deadlines=WriteDeadlines(final=3600)).open(outlet) as stream:
            await relay(told([*events, answer(text)]), stream)
            assert stream.messages == tuple(message.id for message in outlet.messages)

    virtual_time.run(main())
    assert outlet.text == text
    assert outlet.messages[-1].page.footer == "Note."
    assert outlet.most_text <= outlet.limits.characters
