from __future__ import annotations

import asyncio
import hashlib
import logging
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rag_engine.errors import RagError
from rag_engine.retrieval.web_results import WebPages
from rag_engine.storage.private_files import make_folder
from rag_engine.types import Blob, Document, DocumentId, KnowledgeBaseId, Section
from rag_engine.web.addresses import DOCUMENT

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from rag_engine.ports import Splitter, WebSearch
    from rag_engine.retrieval.web_results import WebResult
    from rag_engine.types import Chunk
    from rag_engine.web.page_client import FetchedPage, PageClient

WEB: Final = KnowledgeBaseId("web")
_MOST_CHUNKS: Final = 200

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageReader:
    search: WebSearch
    client: PageClient
    parse: Callable[[Blob], AsyncIterator[list[Section]]]
    split: Splitter
    folder: Path
    prefix: str = "web."
    """Of the names of temporary folders."""
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    async def pages(self, question: str, *, language: str, limit: int) -> WebPages:
        """As `WebReader`."""
        results = _distinct(await self.search.search(question, language=language, limit=limit))[:limit]
        read = await asyncio.gather(*(self._read(result) for result in results))
        chunks: dict[str, Chunk] = {}
        for page in read:
            for chunk in page:
                # Mirrors and feeds repeat each other.
                chunks.setdefault(chunk.text, chunk)
        return WebPages(
            chunks=tuple(chunks.values()),
            found=tuple(result.url for result in results),
            unread=tuple(result.url for result, page in zip(results, read, strict=True) if not page),
        )

    async def _read(self, result: WebResult) -> Sequence[Chunk]:
        try:
            page = await self.client.fetch(result.url)
            sections = await self._sections(page)
        except RagError as error:
            _log.info("a page of the web was not read: %s", error)
            return ()
        return await asyncio.to_thread(self._chunks, result, page, sections)

    async def _sections(self, page: FetchedPage) -> list[Section]:
        await asyncio.to_thread(make_folder, self.folder)
        with tempfile.TemporaryDirectory(prefix=self.prefix, dir=self.folder) as folder:
            path = Path(folder) / f"page.{page.suffix}"
            content = encoded(page)
            await asyncio.to_thread(path.write_bytes, content)
            blob = Blob(
                name=path.name,
                media_type="",
                path=path,
                digest=hashlib.sha256(content).hexdigest(),
                size=len(content),
                uri=page.url,
            )
            found: list[Section] = []
            async for batch in self.parse(blob):
                found += batch
            return [section for section in found if section.kind not in ("notice", "properties")]

    def _chunks(self, result: WebResult, page: FetchedPage, sections: Sequence[Section]) -> Sequence[Chunk]:
        digest = hashlib.sha256(page.url.encode()).hexdigest()
        day = self.now().date().isoformat()
        document = Document(
            id=DocumentId(f"{DOCUMENT}{digest[:24]}"),
            knowledge_base=WEB,
            title=result.title or page.url,
            uri=page.url,
            media_type="text/html",
            digest=digest,
            size=len(page.content),
        )
        placed = [
            Section(text=section.text, anchor=f"web, {day}", headings=section.headings, kind=section.kind)
            for section in sections
        ]
        return list(self.split(document, placed))[:_MOST_CHUNKS]


def _distinct(results: Sequence[WebResult]) -> list[WebResult]:
    return list({result.url.rstrip("/"): result for result in reversed(results)}.values())[::-1]


def encoded(page: FetchedPage) -> bytes:
    """In UTF-8 if only the server named the encoding."""
    if page.suffix == "pdf" or not page.charset or page.charset.casefold().replace("-", "") == "utf8":
        return page.content
    try:
        return b"\xef\xbb\xbf" + page.content.decode(page.charset, "replace").encode("utf-8", "replace")
    except LookupError:
        return page.content
