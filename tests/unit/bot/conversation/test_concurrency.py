from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from bot.conversation.concurrency import Interrupted, QueueFull, Run, Runs, TurnQueue
from rag_engine.types import ConversationId

ONE = ConversationId("one")
TWO = ConversationId("two")


def nothing(number: int) -> None:
    """Nobody is notified."""


async def test_an_interrupted_run_ends_at_once_and_says_why() -> None:
    runs = Runs()
    run = runs.begin("a")
    entered = asyncio.Event()
    closed: list[str] = []

    async def work() -> str:
        try:
            async with run.interruptible():
                entered.set()
                try:
                    await asyncio.Event().wait()
                finally:
                    closed.append("closed")
        except Interrupted as interruption:
            return interruption.reason
        finally:
            runs.end("a")
        return "never"

    async with asyncio.timeout(5):
        task = asyncio.create_task(work())
        await entered.wait()
        assert runs.interrupt("a", "stopped")
        assert runs.interrupt("a", "deleted"), "the first reason holds"
        assert await task == "stopped"
    assert closed == ["closed"]
    assert not runs.interrupt("a", "stopped")


async def test_a_run_that_is_interrupted_before_it_begins_does_nothing() -> None:
    run = Runs().begin("a")
    run.interrupt("edited")
    with pytest.raises(Interrupted):
        async with run.interruptible():
            raise AssertionError("it went on")


async def test_the_last_word_is_not_interrupted() -> None:
    run = Runs().begin("a")
    async with asyncio.timeout(5), run.interruptible():
        run.make_uninterruptible()
        assert not run.interrupt("stopped")
        await asyncio.sleep(0)


async def test_a_time_out_of_the_work_itself_is_no_interruption() -> None:
    run = Runs().begin("a")
    with pytest.raises(TimeoutError):
        async with run.interruptible():
            raise TimeoutError


async def test_cancelling_from_outside_stays_a_cancellation() -> None:
    run = Runs().begin("a")
    entered = asyncio.Event()

    async def work() -> None:
        async with run.interruptible():
            entered.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    await asyncio.wait_for(entered.wait(), 5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_turns_of_a_conversation_come_in_order_and_one_at_a_time() -> None:
    conversations = TurnQueue(at_once=10, waiting=5, queue=50)
    order: list[int] = []
    told: dict[int, list[int]] = {number: [] for number in range(4)}
    inside = 0

    async def turn(number: int) -> None:
        nonlocal inside
        async with conversations.turn(ONE, place="here", on_wait=told[number].append, on_busy=nothing):
            inside += 1
            assert inside == 1
            await asyncio.sleep(0)
            order.append(number)
            inside -= 1

    async with asyncio.timeout(5):
        await asyncio.gather(*(turn(number) for number in range(4)))
    assert order == [0, 1, 2, 3]
    assert told == {0: [], 1: [1], 2: [2, 1], 3: [3, 2, 1]}


async def test_a_full_queue_is_said_and_has_room_again_later() -> None:
    conversations = TurnQueue(at_once=10, waiting=1, queue=50)
    gate = asyncio.Event()

    async def turn() -> None:
        async with conversations.turn(ONE, place="here", on_wait=nothing, on_busy=nothing):
            await gate.wait()

    async with asyncio.timeout(5):
        tasks = [asyncio.create_task(turn()) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(QueueFull) as crowded:
            await turn()
        assert (crowded.value.waiting, crowded.value.everywhere) == (1, False)
        gate.set()
        await asyncio.gather(*tasks)
        await turn()


async def test_there_is_a_limit_over_all_conversations_and_it_is_reported() -> None:
    conversations = TurnQueue(at_once=1, waiting=5, queue=50)
    gate = asyncio.Event()
    told: list[int] = []

    async def turn(conversation: ConversationId) -> None:
        async with conversations.turn(conversation, place="here", on_wait=nothing, on_busy=told.append):
            await gate.wait()

    async with asyncio.timeout(5):
        first = asyncio.create_task(turn(ONE))
        await asyncio.sleep(0)
        second = asyncio.create_task(turn(TWO))
        await asyncio.sleep(0)
        assert told == [1]
        gate.set()
        await asyncio.gather(first, second)


async def test_the_queue_over_all_is_full_for_those_who_would_wait_and_for_nobody_else() -> None:
    conversations = TurnQueue(at_once=2, waiting=5, queue=1)
    gate = asyncio.Event()

    async def turn(line: str) -> None:
        async with conversations.turn(line, place=line, on_wait=nothing, on_busy=nothing):
            await gate.wait()

    async with asyncio.timeout(5):
        tasks = [asyncio.create_task(turn("a")), asyncio.create_task(turn("a"))]
        await asyncio.sleep(0)
        assert conversations.waiting == 1
        tasks.append(asyncio.create_task(turn("b")))  # there is room for it: it does not wait
        await asyncio.sleep(0)
        for line in ("b", "c"):  # one would wait for its turn, the other for room
            with pytest.raises(QueueFull) as crowded:
                await turn(line)
            assert (crowded.value.waiting, crowded.value.everywhere) == (1, True)
        gate.set()
        await asyncio.gather(*tasks)
        await turn("c")
        assert conversations.waiting == 0


@pytest.mark.parametrize("behind", ["in its line", "for room"])
async def test_who_stops_waiting_leaves_no_hole(behind: str) -> None:
    conversations = TurnQueue(at_once=1, waiting=5, queue=50)
    gate = asyncio.Event()
    order: list[str] = []

    async def turn(name: str, run: Run) -> None:
        line = "one" if behind == "in its line" else name
        with suppress(Interrupted):
            async with (
                run.interruptible(),
                conversations.turn(line, place=line, on_wait=nothing, on_busy=nothing),
            ):
                order.append(name)
                await gate.wait()

    async with asyncio.timeout(5):
        runs = {name: Run() for name in ("first", "stopped", "edited", "last")}
        tasks = []
        for name, run in runs.items():
            tasks.append(asyncio.create_task(turn(name, run)))
            await asyncio.sleep(0)
        assert conversations.waiting == 3
        runs["stopped"].interrupt("stopped")
        runs["edited"].interrupt("edited")
        await asyncio.gather(*tasks[1:3])
        assert conversations.waiting == 1
        gate.set()
        await asyncio.gather(*tasks)
    assert order == ["first", "last"]
    assert conversations.waiting == 0
