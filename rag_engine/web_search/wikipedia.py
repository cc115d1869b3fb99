from __future__ import annotations

import re
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

import httpx2

from rag_engine.retrieval.web_results import WebResult
from rag_engine.web_search._json_api import ProviderSettings, listed, plain, translated_errors

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from rag_engine.ports import WebSearch

_LANGUAGE = re.compile(r"[a-z]{2,3}")
_LONGEST = 300


class Settings(ProviderSettings):
    """Wikipedia in the language of the question; no key."""

    url: str = "https://{language}.wikipedia.org"
    """Address of a MediaWiki server; `{language}` stands for two letters."""


@asynccontextmanager
async def connect(settings: Settings) -> AsyncGenerator[WebSearch]:
    headers = {"User-Agent": "Footnote (searches for questions of its users)"}
    async with httpx2.AsyncClient(timeout=settings.timeout, headers=headers) as client:
        yield _Wikipedia(client=client, url=settings.url.rstrip("/"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wikipedia:
    """By the Action API, https://www.mediawiki.org/wiki/API:Search."""

    client: httpx2.AsyncClient
    url: str

    async def search(self, question: str, *, language: str, limit: int) -> list[WebResult]:
        server = self.url.replace("{language}", language if _LANGUAGE.fullmatch(language) else "en")
        parameters = {
            "action": "query",
            "list": "search",
            "srsearch": question[:_LONGEST],
            "srlimit": str(min(limit, 20)),
            "format": "json",
        }
        with translated_errors():
            response = await self.client.get(f"{server}/w/api.php", params=parameters)
            response.raise_for_status()
            items = listed(response.json(), "query", "search")
        titles = (plain(item.get("title")) for item in items)
        return [
            WebResult(url=f"{server}/wiki/{quote(title.replace(' ', '_'))}", title=title)
            for title in titles
            if title
        ][:limit]
