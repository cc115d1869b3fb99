"""What every language model owes the engine, over every implementation."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, TypeAlias

import pytest

from rag_engine.embedders import hashing
from rag_engine.errors import ModelUnavailable, RagError
from rag_engine.models import openai, scripted
from tests.doubles.model_servers import openai_server
from tests.unit.prompting import asking, passage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable
    from pathlib import Path

    from rag_engine.ports import Embedder, LanguageModel

Connect: TypeAlias = "Callable[[Embedder], AbstractAsyncContextManager[LanguageModel]]"

PROMPT = asking(
    "How long is the notice period?",
    passage("The notice period is four weeks. It ends with a month. The office has a garden."),
)


@asynccontextmanager
async def behind_a_server(embedder: Embedder) -> AsyncGenerator[LanguageModel]:
    async with openai_server.serve() as server:
        server.on(openai_server.streamed("Four ", "weeks", " [1]."))
        settings = openai.Settings(base_url=server.base_url, name="double")
        async with openai.connect(settings, embedder=embedder) as model:
            yield model


def by_script(embedder: Embedder) -> AbstractAsyncContextManager[LanguageModel]:
    replies = (scripted.ScriptedReply(text="Four weeks [1]."),)
    return scripted.connect(scripted.Settings(replies=replies), embedder=embedder)


@pytest.fixture(params=[behind_a_server, by_script])
async def model(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[LanguageModel]:
    connect: Connect = request.param
    async with hashing.connect(hashing.Settings(), data_dir=tmp_path) as embedder, connect(embedder) as model:
        yield model


async def said(model: LanguageModel) -> list[str]:
    async with asyncio.timeout(5), model.stream(PROMPT, task="answer") as pieces:
        return [piece async for piece in pieces]


async def test_it_says_its_name_and_its_window(model: LanguageModel) -> None:
    assert model.name
    assert model.context_tokens >= 512


async def test_it_answers_in_pieces_of_text_with_a_citation(model: LanguageModel) -> None:
    pieces = await said(model)
    assert len(pieces) > 1
    assert all(pieces)
    answer = "".join(pieces)
    assert "weeks" in answer
    assert "[1]" in answer


async def test_the_same_prompt_can_be_asked_again_and_at_the_same_time(model: LanguageModel) -> None:
    first, second = await asyncio.gather(said(model), said(model))
    assert first == second == await said(model)


async def test_leaving_early_leaves_nothing_behind(model: LanguageModel) -> None:
    async with asyncio.timeout(5):
        async with model.stream(PROMPT, task="answer") as pieces:
            await anext(pieces)
        with pytest.raises(StopAsyncIteration):
            await anext(pieces)
    assert await said(model)


async def test_an_error_of_the_asker_is_not_changed(model: LanguageModel) -> None:
    with pytest.raises(ZeroDivisionError):
        async with model.stream(PROMPT, task="answer"):
            raise ZeroDivisionError
    assert await said(model)


async def test_a_cancelled_asker_gets_no_other_error(model: LanguageModel) -> None:
    reading = asyncio.Event()

    async def ask() -> None:
        async with model.stream(PROMPT, task="answer") as pieces:
            await anext(pieces)
            reading.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(ask())
    async with asyncio.timeout(5):
        await reading.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert await said(model)


@asynccontextmanager
async def with_nobody_listening(embedder: Embedder) -> AsyncGenerator[LanguageModel]:
    settings = openai.Settings(base_url="http://127.0.0.1:9/v1", retries=1, back_off_seconds=0)
    async with openai.connect(settings, embedder=embedder) as model:
        yield model


def without_a_script(embedder: Embedder) -> AbstractAsyncContextManager[LanguageModel]:
    return scripted.connect(scripted.Settings(), embedder=embedder)


@pytest.mark.parametrize("connect", [with_nobody_listening, without_a_script])
async def test_what_cannot_be_done_is_one_sentence_of_ours(connect: Connect, tmp_path: Path) -> None:
    async with hashing.connect(hashing.Settings(), data_dir=tmp_path) as embedder, connect(embedder) as model:
        with pytest.raises(RagError) as raised:
            async with asyncio.timeout(10), model.stream(PROMPT, task="no such task") as pieces:
                await anext(pieces)
    assert isinstance(raised.value, ModelUnavailable)
    assert str(raised.value).rstrip(")").endswith(".")
