from __future__ import annotations

import email.utils
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict
from yarl import URL

from rag_engine.errors import UserError
from rag_engine.sources._web import XML, PolitePages, local_name, parsed_xml
from rag_engine.sync.types import SourceEntry

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Sequence
    from pathlib import Path

    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

    from rag_engine.sources import Surroundings
    from rag_engine.sync.types import ListedSource, SourceContent

POSITION = 40
ADDRESSES = r"https?://[^?]*(?:/feed/?|\.rss|\.atom|/(?:rss|atom|feed|index)\.xml)(?:\?.*)?"
PUBLIC = True
KEEPS_UNLISTED = True


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


@asynccontextmanager
async def connect(
    address: str, settings: Settings, *, surroundings: Surroundings
) -> AsyncGenerator[ListedSource]:
    yield _Feed(url=str(surroundings.client.parse(address)), pages=PolitePages(client=surroundings.client))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Feed:
    """Its entries are the pages that it links to, only the latest."""

    url: str
    pages: PolitePages

    async def entries(self) -> AsyncIterator[Sequence[SourceEntry]]:
        root = parsed_xml(await self.pages.fetch(self.url, suffixes=XML))
        if local_name(root) not in ("rss", "feed", "RDF"):
            raise UserError(f"{self.url} is no feed.")
        found = [_entry(item, self.url) for item in root.iter() if local_name(item) in ("item", "entry")]
        yield [entry for entry in found if entry is not None]

    async def read(self, entry: SourceEntry, path: Path, *, since: str) -> SourceContent | None:
        return await self.pages.read(entry, path, since=since)


def _entry(item: _Element, feed: str) -> SourceEntry | None:
    texts: dict[str, str] = {}
    for child in item:
        name = local_name(child)
        if name == "link" and child.get("rel", "alternate") != "alternate":
            continue
        texts.setdefault(name, (child.get("href") or child.text or "").strip())
    changed = (
        texts.get("updated") or texts.get("modified") or texts.get("pubDate") or texts.get("published", "")
    )
    try:
        url = URL(feed).join(URL(texts.get("link", ""))).with_fragment(None)
    except ValueError:
        return None
    if url.scheme not in ("http", "https") or not texts.get("link"):
        return None
    parsed = email.utils.parsedate_tz(changed)
    stamp = str(email.utils.mktime_tz(parsed)) if parsed else changed
    return SourceEntry(key=str(url), uri=str(url), fingerprint=f"feed:{stamp}" if stamp else "")
