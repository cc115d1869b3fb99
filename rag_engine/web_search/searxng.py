from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx2

from rag_engine.web_search._json_api import ProviderSettings, listed, results, translated_errors

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from rag_engine.ports import WebSearch
    from rag_engine.retrieval.web_results import WebResult


class Settings(ProviderSettings):
    """A SearXNG server of yours, with `json` among its `search.formats`; no key."""

    url: str
    """Its address: `http://searxng:8080`."""


@asynccontextmanager
async def connect(settings: Settings) -> AsyncGenerator[WebSearch]:
    async with httpx2.AsyncClient(timeout=settings.timeout) as client:
        yield _SearXng(client=client, url=f"{settings.url.rstrip('/')}/search")


@dataclass(frozen=True, slots=True, kw_only=True)
class _SearXng:
    client: httpx2.AsyncClient
    url: str

    async def search(self, question: str, *, language: str, limit: int) -> list[WebResult]:
        parameters = {"q": question, "format": "json", "language": language or "all", "safesearch": "1"}
        with translated_errors():
            response = await self.client.get(self.url, params=parameters)
            response.raise_for_status()
            items = listed(response.json(), "results")
        return results(items, limit=limit)
