from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx2

from rag_engine.text.header_secret import HeaderSecret
from rag_engine.web_search._json_api import ProviderSettings, listed, results, translated_errors

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from rag_engine.ports import WebSearch
    from rag_engine.retrieval.web_results import WebResult

_LONGEST = 400


class Settings(ProviderSettings):
    """Tavily's search."""

    api_key: HeaderSecret
    """Its key."""
    url: str = "https://api.tavily.com/search"
    """Address of the endpoint."""


@asynccontextmanager
async def connect(settings: Settings) -> AsyncGenerator[WebSearch]:
    headers = {"Authorization": f"Bearer {settings.api_key.get_secret_value()}"}
    async with httpx2.AsyncClient(timeout=settings.timeout, headers=headers) as client:
        yield _Tavily(client=client, url=settings.url)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tavily:
    client: httpx2.AsyncClient
    url: str

    async def search(self, question: str, *, language: str, limit: int) -> list[WebResult]:
        del language
        with translated_errors():
            response = await self.client.post(
                self.url, json={"query": question[:_LONGEST], "max_results": min(limit, 20)}
            )
            response.raise_for_status()
            items = listed(response.json(), "results")
        return results(items, limit=limit)
