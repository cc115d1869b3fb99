"""What was called before a restart is known after it, and nothing else is."""

from __future__ import annotations

import pytest

from rag_engine.agent.call_journal import CallJournal
from rag_engine.agent.tool import ToolFailed, ToolResult
from rag_engine.generation.tool_request import ToolCall
from rag_engine.operator_tools.results import passage

TAXI, BUS = (ToolCall(name="order", arguments={"what": what}) for what in ("taxi", "bus"))


class Shelf:
    def __init__(self) -> None:
        self.state = ""
        self.made: list[str] = []

    async def write(self, state: str) -> None:
        self.state = state

    def opened(self, question: str = "Order it.") -> CallJournal:
        return CallJournal.of(self.state, question, self.write)

    async def order(self) -> ToolResult:
        self.made.append("order")
        return passage("order", {"what": "taxi"}, "Taxi 4 comes.")


async def test_steps_and_results_come_back_once() -> None:
    shelf = Shelf()
    first = shelf.opened()
    assert first.earlier() is None
    await first.add([TAXI])
    made = await first.once(TAXI, shelf.order)
    again = shelf.opened()
    assert again.earlier() == [TAXI]
    assert again.earlier() is None
    kept = await again.once(TAXI, shelf.order)
    assert (kept.text, [hit.chunk for hit in kept.hits]) == (made.text, [hit.chunk for hit in made.hits])
    await again.once(BUS, shelf.order)
    assert shelf.made == ["order", "order"]
    await again.add([])
    last = shelf.opened()
    assert [last.earlier(), last.earlier(), last.earlier()] == [[TAXI], [], None]


async def test_an_interrupted_call_is_not_made_again() -> None:
    shelf = Shelf()
    before = ""

    async def dies() -> ToolResult:
        nonlocal before
        before = shelf.state
        return ToolResult()

    await shelf.opened().once(TAXI, dies)
    shelf.state = before
    with pytest.raises(ToolFailed, match="not made again"):
        await shelf.opened().once(TAXI, shelf.order)
    assert shelf.made == []


async def test_a_call_that_failed_has_failed_for_good() -> None:
    shelf = Shelf()

    async def fails() -> ToolResult:
        raise ToolFailed("The server cannot be reached.")

    with pytest.raises(ToolFailed):
        await shelf.opened().once(TAXI, fails)
    with pytest.raises(ToolFailed, match="cannot be reached"):
        await shelf.opened().once(TAXI, shelf.order)


@pytest.mark.parametrize("state", ["", "{", "[]", '{"question": "Order it.", "parts": []}'])
async def test_what_is_no_state_of_this_question_is_nothing(state: str) -> None:
    shelf = Shelf()
    shelf.state = state
    assert shelf.opened().earlier() is None
    shelf.state = ""
    await shelf.opened().add([TAXI])
    assert shelf.opened("Another question.").earlier() is None
