from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import httpx2

from rag_engine.text.header_secret import HeaderSecret
from rag_engine.web_search._json_api import ProviderSettings, listed, results, translated_errors

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from rag_engine.ports import WebSearch
    from rag_engine.retrieval.web_results import WebResult

_LONGEST = 400
_MOST_WORDS = 50


class Settings(ProviderSettings):
    """Brave's search."""

    api_key: HeaderSecret
    """Its subscription token."""
    url: str = "https://api.search.brave.com/res/v1/web/search"
    """Address of the endpoint."""


@asynccontextmanager
async def connect(settings: Settings) -> AsyncGenerator[WebSearch]:
    headers = {"X-Subscription-Token": settings.api_key.get_secret_value(), "Accept": "application/json"}
    async with httpx2.AsyncClient(timeout=settings.timeout, headers=headers) as client:
        yield _Brave(client=client, url=settings.url)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Brave:
    client: httpx2.AsyncClient
    url: str

    async def search(self, question: str, *, language: str, limit: int) -> list[WebResult]:
        asked = " ".join(question.split()[:_MOST_WORDS])[:_LONGEST]
        parameters = {"q": asked, "count": str(min(limit, 20))}
        if len(language) == 2:
            parameters["search_lang"] = language
        with translated_errors():
            response = await self.client.get(self.url, params=parameters)
            response.raise_for_status()
            body: object = response.json()
            # Nothing found: there is no `web`.
            is_empty = isinstance(body, dict) and "web" not in body
            items = () if is_empty else listed(cast("object", body), "web", "results")
        return results(items, limit=limit)
