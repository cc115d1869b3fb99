"""A language model on a double of a server."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from rag_engine.embedders import hashing
from rag_engine.models import openai
from tests.unit.prompting import asking

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from rag_engine.ports import LanguageModel
    from tests.doubles.model_servers.openai_server import (
        OpenAIServer,
    )


PROMPT = asking("How long?", reply_tokens=77)


@asynccontextmanager
async def connected(
    server: OpenAIServer, tmp_path: Path, **settings: object
) -> AsyncGenerator[LanguageModel]:
    values = {
        "base_url": server.base_url,
        "name": "double",
        "api_key": "sk-secret",
        "back_off_seconds": 0,
        **settings,
    }
    async with (
        hashing.connect(hashing.Settings(), data_dir=tmp_path) as embedder,
        openai.connect(openai.Settings.model_validate(values), embedder=embedder) as model,
    ):
        yield model


async def said(model: LanguageModel, *, into: list[str] | None = None, task: str = "answer") -> str:
    pieces = [] if into is None else into
    async with asyncio.timeout(5), model.stream(PROMPT, task=task) as stream:
        async for piece in stream:
            pieces.append(piece)
    return "".join(pieces)
