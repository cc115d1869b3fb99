"""Many events become few edits; the newest text wins; the last edit is the whole answer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from bot.port import Limits, Reply
from bot.streaming import relay
from rag_engine.types import Answer, Delta, Retrieval, Stage, TurnId

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from rag_engine.types import AnswerEvent


class RecordedStream:
    """Keeps every reply it was given; an edit takes until `gate` is set."""

    def __init__(self, *, edit_seconds: float = 0.0) -> None:
        self.limits = Limits(characters=4000, edit_seconds=edit_seconds)
        self.shown: list[Reply] = []
        self.finished: list[Reply] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.second = asyncio.Event()
        self.in_flight = 0
        self.most_in_flight = 0

    async def show(self, reply: Reply) -> None:
        self.in_flight += 1
        self.most_in_flight = max(self.in_flight, self.most_in_flight)
        self.shown.append(reply)
        if len(self.shown) == 2:
            self.second.set()
        await self.gate.wait()
        self.in_flight -= 1

    async def finish(self, reply: Reply) -> None:
        self.finished.append(reply)


def answer(text: str) -> Answer:
    return Answer(turn=TurnId("t"), text=text, citations=(), grounded=False, timings={}, notices=("Note.",))


async def told(events: Sequence[AnswerEvent]) -> AsyncIterator[AnswerEvent]:
    for event in events:
        yield event
        await asyncio.sleep(0)


async def test_status_then_growing_text_then_the_answer() -> None:
    stream = RecordedStream()
    events = [
        Stage(name="retrieve", detail="Searching…"),
        Retrieval(hits=()),
        Delta(text="a"),
        Delta(text="b"),
    ]
    returned = await relay(told([*events, answer("ab [1]")]), stream)
    assert stream.shown[0] == Reply(status="Searching…")
    texts = [reply.text for reply in stream.shown[1:]]
    assert texts
    assert all("ab".startswith(text) for text in texts)
    assert stream.finished == [Reply(text="ab [1]", notices=("Note.",))]
    assert returned is not None
    assert returned.text == "ab [1]"


async def test_texts_that_arrive_during_an_edit_are_shown_together_by_the_next() -> None:
    stream = RecordedStream()
    stream.gate.clear()
    all_sent = asyncio.Event()

    async def events() -> AsyncIterator[AnswerEvent]:
        for letter in "abcdef":
            yield Delta(text=letter)
            await asyncio.sleep(0)
        all_sent.set()
        await stream.second.wait()
        yield answer("abcdef")

    relaying = asyncio.create_task(relay(events(), stream))
    async with asyncio.timeout(5):
        await all_sent.wait()
        assert [reply.text for reply in stream.shown] == ["a"]
        stream.gate.set()
        await relaying
    assert [reply.text for reply in stream.shown] == ["a", "abcdef"]
    assert stream.most_in_flight == 1


async def test_edits_keep_their_distance_but_the_last_one_does_not_wait_for_a_turn() -> None:
    stream = RecordedStream(edit_seconds=60)
    async with asyncio.timeout(5):
        await relay(told([Delta(text="a"), Delta(text="b"), answer("ab")]), stream)
    assert [reply.text for reply in stream.shown] == ["a"]
    assert [reply.text for reply in stream.finished] == ["ab"]


async def test_an_error_in_the_events_reaches_the_caller_and_nothing_is_finished() -> None:
    stream = RecordedStream()

    async def events() -> AsyncIterator[AnswerEvent]:
        yield Delta(text="a")
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        await relay(events(), stream)
    assert stream.finished == []


async def test_a_cancelled_relay_leaves_no_edit_behind() -> None:
    stream = RecordedStream(edit_seconds=60)
    waiting = asyncio.Event()

    async def events() -> AsyncIterator[AnswerEvent]:
        yield Delta(text="a")
        yield Delta(text="b")
        waiting.set()
        await asyncio.Event().wait()

    relaying = asyncio.create_task(relay(events(), stream))
    async with asyncio.timeout(5):
        await waiting.wait()
        relaying.cancel()
        with pytest.raises(asyncio.CancelledError):
            await relaying
    assert [task for task in asyncio.all_tasks() if task.get_name() == "message-edit"] == []
