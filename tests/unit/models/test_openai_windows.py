"""The context window: from the settings, the model's name or the server."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import pytest

from rag_engine.embedders import hashing
from rag_engine.models import openai
from rag_engine.models.openai.context_windows import context_window
from tests.doubles.model_servers.openai_server import (
    SILENCE,
    OpenAIServer,
    serve,
)
from tests.unit.models.served import connected, said

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable
    from pathlib import Path

    from rag_engine.ports import LanguageModel


@pytest.fixture
async def server() -> AsyncGenerator[OpenAIServer]:
    async with serve() as double:
        yield double


@pytest.fixture
async def model(server: OpenAIServer, tmp_path: Path) -> AsyncGenerator[LanguageModel]:
    async with connected(server, tmp_path) as model:
        yield model


@pytest.mark.parametrize(
    ("name", "window"),
    [
        ("gpt-4", 8192),
        ("gpt-4o-mini", 128_000),
        ("openai/gpt-4.1-mini", 1_047_576),
        ("llama3.2", 8192),
        ("o3-mini", 200_000),
    ],
)
def test_windows_of_known_models(name: str, window: int) -> None:
    assert context_window(name) == window


async def test_the_window_is_a_setting(server: OpenAIServer, tmp_path: Path) -> None:
    async with connected(server, tmp_path, context_tokens=1000) as model:
        assert model.context_tokens == 1000


async def test_an_assumed_window_is_said_once(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    caplog.set_level("INFO", logger="rag_engine.models.openai")
    for name, tokens, told in (("own-model", None, 1), ("own-model", 32_768, 0), ("gpt-4o-mini", None, 0)):
        caplog.clear()
        settings = openai.Settings(name=name, context_tokens=tokens)
        async with (
            hashing.connect(hashing.Settings(), data_dir=tmp_path) as embedder,
            openai.connect(settings, embedder=embedder),
        ):
            pass
        assert caplog.text.count("FOOTNOTE_MODEL__CONTEXT_TOKENS") == told, name


_VLLM = {"id": "double", "object": "model", "max_model_len": 40_960}


_LISTINGS = {
    "vllm": ("/v1/models", {"data": [{"id": "other", "max_model_len": 1024}, _VLLM]}, 40_960),
    "openrouter": ("/v1/models", {"data": [{"id": "double", "context_length": 131_072}]}, 131_072),
    "groq": ("/v1/models", {"data": [{"id": "double", "context_window": 32_768}]}, 32_768),
    "llama.cpp": ("/v1/models", {"data": [{"id": "a.gguf", "meta": {"n_ctx_train": 16_384}}]}, 16_384),
    "ollama": ("/api/show", {"model_info": {"qwen3.context_length": 40_960}}, 40_960),
    "ollama, set": (
        "/api/show",
        {"parameters": 'stop "x"\nnum_ctx   12288', "model_info": {"qwen3.context_length": 40_960}},
        12_288,
    ),
}


@pytest.mark.parametrize("kind", _LISTINGS)
async def test_the_server_states_the_window(server: OpenAIServer, tmp_path: Path, kind: str) -> None:
    path, page, window = _LISTINGS[kind]
    server.pages[path] = page
    async with connected(server, tmp_path) as model:
        await _until(lambda: not model.window_is_assumed)
        assert model.context_tokens == window
        assert server.requests == []


@pytest.mark.parametrize(
    "page", [[], {"data": None}, {"data": [{"id": "double", "max_model_len": "many"}]}, {"data": [{}, 3]}]
)
async def test_a_listing_that_says_nothing_changes_nothing(
    server: OpenAIServer, tmp_path: Path, page: object, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="rag_engine.models.openai")
    server.pages["/v1/models"] = page
    async with connected(server, tmp_path) as model:
        assert await said(model) == "Hello."
        await _until(lambda: "FOOTNOTE_MODEL__CONTEXT_TOKENS" in caplog.text)
        assert (model.context_tokens, model.window_is_assumed) == (8192, True)


async def test_the_server_is_not_asked_for_a_window_that_is_set(server: OpenAIServer, tmp_path: Path) -> None:
    async with connected(server, tmp_path, context_tokens=1000) as model:
        assert await said(model) == "Hello."
        assert server.visits == []


async def test_a_server_that_never_lists_its_models_delays_nothing(tmp_path: Path) -> None:
    async with (
        serve() as server,
        connected(server, tmp_path, name="gpt-4", back_off_seconds=0) as model,
    ):
        server.pages["/v1/models"] = SILENCE
        began = time.monotonic()
        assert await said(model) == "Hello."
        assert time.monotonic() - began < 2
        assert (model.context_tokens, model.window_is_assumed) == (8192, False)


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110 - the model has no event for it
            await asyncio.sleep(0.005)
