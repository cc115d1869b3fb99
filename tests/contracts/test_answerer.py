"""What every answerer owes the engine."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from rag_engine.embedders import hashing
from rag_engine.models import extractive
from rag_engine.types import AnswerRequest
from tests.unit.prompting import passage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from rag_engine.ports import Answerer

REQUEST = AnswerRequest(
    question="How long is the notice period?",
    passages=(passage("The notice period is four weeks. It ends with a month. The office has a garden."),),
)


@pytest.fixture(params=[extractive])
async def answerer(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Answerer]:
    module = request.param
    async with (
        hashing.connect(hashing.Settings(), data_dir=tmp_path) as embedder,
        module.connect(module.Settings(), embedder=embedder) as answerer,
    ):
        yield answerer


async def said(answerer: Answerer, request: AnswerRequest = REQUEST) -> list[str]:
    async with asyncio.timeout(5), answerer.answer(request) as pieces:
        return [piece async for piece in pieces]


async def test_it_answers_in_pieces_of_text_with_a_citation(answerer: Answerer) -> None:
    pieces = await said(answerer)
    assert answerer.name
    assert len(pieces) > 1
    assert all(pieces)
    answer = "".join(pieces)
    assert "four weeks" in answer
    assert "[1]" in answer


async def test_without_passages_it_says_so_and_cites_nothing(answerer: Answerer) -> None:
    answer = "".join(await said(answerer, AnswerRequest(question=REQUEST.question, scope="#hr")))
    assert "#hr" in answer
    assert "[" not in answer


async def test_it_can_be_asked_again_and_at_the_same_time(answerer: Answerer) -> None:
    first, second = await asyncio.gather(said(answerer), said(answerer))
    assert first == second == await said(answerer)


async def test_leaving_early_leaves_nothing_behind(answerer: Answerer) -> None:
    async with asyncio.timeout(5):
        async with answerer.answer(REQUEST) as pieces:
            await anext(pieces)
        with pytest.raises(StopAsyncIteration):
            await anext(pieces)
    assert await said(answerer)


async def test_an_error_of_the_caller_is_not_changed(answerer: Answerer) -> None:
    with pytest.raises(ZeroDivisionError):
        async with answerer.answer(REQUEST):
            raise ZeroDivisionError
    assert await said(answerer)


async def test_a_cancelled_caller_gets_no_other_error(answerer: Answerer) -> None:
    reading = asyncio.Event()

    async def ask() -> None:
        async with answerer.answer(REQUEST) as pieces:
            await anext(pieces)
            reading.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(ask())
    async with asyncio.timeout(5):
        await reading.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert await said(answerer)
