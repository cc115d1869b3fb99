from __future__ import annotations

import zlib
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict
from yarl import URL

from rag_engine.errors import FileTooLarge, UserError
from rag_engine.sources._web import XML, PolitePages, local_name, parsed_xml
from rag_engine.sync.types import SourceEntry
from rag_engine.web.page_client import PageStatus

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Sequence
    from pathlib import Path

    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

    from rag_engine.sources import Surroundings
    from rag_engine.sync.types import ListedSource, SourceContent
    from rag_engine.web.page_client import FetchedPage

POSITION = 50
ADDRESSES = r"https?://.*/[^/?]*sitemap[^/?]*\.xml(?:\.gz)?"
PUBLIC = True

_MOST_SITEMAPS: Final = 500
_MOST_BYTES: Final = 50_000_000
"""https://www.sitemaps.org/protocol.html"""


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    under: str = ""
    """Beginning of paths."""


@asynccontextmanager
async def connect(
    address: str, settings: Settings, *, surroundings: Surroundings
) -> AsyncGenerator[ListedSource]:
    limits = replace(surroundings.client.limits, bytes=max(surroundings.client.limits.bytes, _MOST_BYTES))
    yield _Site(
        address=surroundings.client.parse(address),
        under=settings.under,
        pages=PolitePages(client=surroundings.client),
        sitemaps=PolitePages(client=replace(surroundings.client, limits=limits)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Site:
    address: URL
    under: str
    pages: PolitePages
    sitemaps: PolitePages

    async def entries(self) -> AsyncIterator[Sequence[SourceEntry]]:
        waiting = await self._first()
        seen = set(waiting)
        read = 0
        while waiting:
            read += 1
            if read > _MOST_SITEMAPS:
                raise UserError(f"The site has more than {_MOST_SITEMAPS} sitemaps; name one of them.")
            root = parsed_xml(_unpacked(await self._sitemap(waiting.pop(0))))
            found = [_listed(element) for element in root if local_name(element) in ("url", "sitemap")]
            if local_name(root) == "sitemapindex":
                nested = [url for url, _ in found if self._is_ours(url, under="") and url not in seen]
                waiting += dict.fromkeys(nested)
                seen.update(nested)
            else:
                yield [
                    SourceEntry(key=url, uri=url, fingerprint=f"lastmod:{changed}" if changed else "")
                    for url, changed in found
                    if self._is_ours(url, under=self._path())
                ]

    async def read(self, entry: SourceEntry, path: Path, *, since: str) -> SourceContent | None:
        return await self.pages.read(entry, path, since=since)

    async def _first(self) -> list[str]:
        if self.address.name.endswith((".xml", ".xml.gz")):
            return [str(self.address)]
        rules = await self.sitemaps.robots(str(self.address))
        named = [url for url in rules.site_maps() or () if self._is_ours(url, under="")]
        return named or [str(self.address.origin().with_path("/sitemap.xml"))]

    async def _sitemap(self, url: str) -> FetchedPage:
        try:
            return await self.sitemaps.fetch(url, suffixes=XML)
        except PageStatus as error:
            raise UserError(f"There is no sitemap at {url}; name its address.") from error

    def _path(self) -> str:
        if self.under or self.address.name.endswith((".xml", ".xml.gz")):
            return self.under or "/"
        return self.address.path

    def _is_ours(self, url: str, *, under: str) -> bool:
        try:
            parsed = URL(url)
        except ValueError:
            return False
        is_here = (parsed.host, parsed.explicit_port) == (self.address.host, self.address.explicit_port)
        return parsed.scheme in ("http", "https") and is_here and parsed.path.startswith(under)


def _listed(element: _Element) -> tuple[str, str]:
    texts = {local_name(child): (child.text or "").strip() for child in element}
    url = texts.get("loc", "")
    try:
        return str(URL(url).with_fragment(None)), texts.get("lastmod", "")
    except ValueError:
        return "", ""


def _unpacked(page: FetchedPage) -> FetchedPage:
    if not page.content.startswith(b"\x1f\x8b"):
        return page
    unpacker = zlib.decompressobj(31)
    try:
        content = unpacker.decompress(page.content, _MOST_BYTES)
    except zlib.error as error:
        raise UserError(f"{page.url} is damaged.") from error
    if unpacker.unconsumed_tail:
        raise FileTooLarge(f"{page.url} is too large for a sitemap.")
    return replace(page, content=content)
