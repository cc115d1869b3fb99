from __future__ import annotations

import asyncio
import html
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Final
from urllib.robotparser import RobotFileParser

import orjson
from lxml import etree
from yarl import URL

from rag_engine.errors import NotAllowed, Unavailable, UserError
from rag_engine.sync.types import EntryGone, SourceContent
from rag_engine.web.page_client import PageStatus
from rag_engine.web.reader import encoded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from rag_engine.sync.types import SourceEntry
    from rag_engine.web.page_client import FetchedPage, PageClient

AGENT: Final = "Footnote"
XML: Final[Mapping[str, str]] = dict.fromkeys(
    [
        "application/atom+xml",
        "application/gzip",
        "application/octet-stream",
        "application/rdf+xml",
        "application/rss+xml",
        "application/x-gzip",
        "application/xml",
        "text/html",
        "text/plain",
        "text/xml",
    ],
    "xml",
)
_ROBOTS: Final = {"text/plain": "txt", "text/html": "html", "application/octet-stream": "txt"}
_GONE: Final = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.GONE})
_PASSING: Final = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})
_LONGEST_DELAY: Final = 10.0
_TITLE: Final = re.compile(rb"<title[^>]{0,200}>([^<]{1,400})</title\s*>", re.IGNORECASE)
_BEGINNING: Final = 65_536
_MOST_TITLE: Final = 120


@dataclass(slots=True, kw_only=True)
class PolitePages:
    """Obeys robots.txt, with its delays."""

    client: PageClient
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    _robots: dict[str, RobotFileParser] = field(default_factory=dict[str, RobotFileParser])
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def robots(self, url: str) -> RobotFileParser:
        origin = str(URL(url).origin())
        if origin not in self._robots:
            rules = RobotFileParser()
            try:
                page = await self.client.fetch(f"{origin}/robots.txt", suffixes=_ROBOTS)
                rules.parse(page.content.decode("utf-8", "replace").splitlines())
            except PageStatus as error:
                if error.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                    raise Unavailable("The site does not answer.", backend="web", reason="status") from error
                rules.parse([])
            except UserError:
                rules.parse([])
            self._robots[origin] = rules
        return self._robots[origin]

    async def fetch(
        self, url: str, *, headers: Mapping[str, str] | None = None, suffixes: Mapping[str, str] | None = None
    ) -> FetchedPage:
        rules = await self.robots(url)
        if not rules.can_fetch(AGENT, url):
            raise NotAllowed("The robots.txt of this site does not allow this page to be read.")
        delay = float(rules.crawl_delay(AGENT) or 0)
        if delay:
            async with self._turn:
                await asyncio.sleep(min(delay, _LONGEST_DELAY))
        chosen = {} if suffixes is None else {"suffixes": suffixes}
        try:
            return await self.client.fetch(url, headers=headers or {}, **chosen)
        except PageStatus as error:
            if error.status >= HTTPStatus.INTERNAL_SERVER_ERROR or error.status in _PASSING:
                raise Unavailable(str(error), backend="web", reason="status") from error
            raise

    async def read(self, entry: SourceEntry, path: Path, *, since: str) -> SourceContent | None:
        try:
            page = await self.fetch(entry.key, headers=_conditions(since))
        except PageStatus as error:
            if error.status == HTTPStatus.NOT_MODIFIED:
                return None
            if error.status in _GONE:
                raise EntryGone(str(error)) from error
            raise
        await asyncio.to_thread(path.write_bytes, encoded(page))
        title = await asyncio.to_thread(_title, page)
        return SourceContent(
            name=f"page.{page.suffix}",
            fingerprint=entry.fingerprint,
            validator=_validator(page),
            title=title or entry.key,
            link=entry.key,
            version=self.now().date().isoformat(),
        )


def parsed_xml(page: FetchedPage) -> etree._Element:  # pyright: ignore[reportPrivateUsage]
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False, recover=False)
    try:
        return etree.fromstring(page.content, parser)
    except (etree.LxmlError, ValueError) as error:
        raise UserError(f"{page.url} is no XML that can be read.") from error


def local_name(element: etree._Element) -> str:  # pyright: ignore[reportPrivateUsage]
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _conditions(validator: str) -> dict[str, str]:
    try:
        known: dict[str, str] = orjson.loads(validator) if validator else {}
    except orjson.JSONDecodeError:
        return {}
    names = {"etag": "If-None-Match", "modified": "If-Modified-Since"}
    return {names[key]: value for key, value in known.items() if key in names}


def _validator(page: FetchedPage) -> str:
    known = {"etag": page.etag, "modified": page.modified}
    return orjson.dumps({key: value for key, value in known.items() if value}).decode()


def _title(page: FetchedPage) -> str:
    found = _TITLE.search(page.content[:_BEGINNING]) if page.suffix == "html" else None
    if found is None:
        return ""
    try:
        text = found[1].decode(page.charset or "utf-8", "replace")
    except LookupError:
        text = found[1].decode("utf-8", "replace")
    title = " ".join(html.unescape(text).split())
    return title if len(title) <= _MOST_TITLE else f"{title[:_MOST_TITLE]}…"
