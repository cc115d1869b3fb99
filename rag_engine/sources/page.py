from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from rag_engine.sources._web import PolitePages
from rag_engine.sync.types import SourceEntry

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Sequence
    from pathlib import Path

    from rag_engine.sources import Surroundings
    from rag_engine.sync.types import ListedSource, SourceContent

POSITION = 90
ADDRESSES = r"https?://.*"
PUBLIC = True


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


@asynccontextmanager
async def connect(
    address: str, settings: Settings, *, surroundings: Surroundings
) -> AsyncGenerator[ListedSource]:
    yield _Page(url=str(surroundings.client.parse(address)), pages=PolitePages(client=surroundings.client))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    url: str
    pages: PolitePages

    async def entries(self) -> AsyncIterator[Sequence[SourceEntry]]:
        yield [SourceEntry(key=self.url, uri=self.url)]

    async def read(self, entry: SourceEntry, path: Path, *, since: str) -> SourceContent | None:
        return await self.pages.read(entry, path, since=since)
