"""Pages of a Confluence space, in the cloud or on a server: https://developer.atlassian.com/cloud/confluence/rest/v1/"""

from __future__ import annotations

import asyncio
import base64
import os
import re
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urlsplit

from pydantic import BaseModel, ConfigDict

from rag_engine.errors import UserError
from rag_engine.sources._json_client import json_client, objects, page, secret, text_at
from rag_engine.sync.types import EntryGone, SourceContent, SourceEntry

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Sequence
    from pathlib import Path

    from rag_engine.sources import Surroundings
    from rag_engine.sources._json_client import JsonClient
    from rag_engine.sync.types import ListedSource

POSITION = 22
ADDRESSES = r"confluence\+https?://.*"
PUBLIC = False

TOKEN: Final = "CONFLUENCE_TOKEN"  # noqa: S105 - a variable's name
ACCOUNT: Final = "CONFLUENCE_EMAIL"
_ADDRESS: Final = re.compile(
    r"confluence\+(?P<base>https?://[^?#]+?)/(?:(?:spaces|display)/)?(?P<space>~?[\w.-]+)(?:/(?:overview|pages).*)?/?"
)
_SEARCH: Final = "rest/api/content/search"
_LISTED: Final = "version"
_READ: Final = "body.view,version,history"
_PAGE_SIZE: Final = 100


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


@asynccontextmanager
async def connect(
    address: str, settings: Settings, *, surroundings: Surroundings
) -> AsyncGenerator[ListedSource]:
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise UserError("Write confluence+https://acme.atlassian.net/wiki/spaces/KEY.")
    base = f"{found['base']}/"
    async with json_client(
        base,
        name="Confluence",
        variable=TOKEN,
        headers={"Authorization": _authorization()},
        surroundings=surroundings,
    ) as client:
        yield _Space(client=client, base=base, key=found["space"])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Space:
    client: JsonClient
    base: str
    key: str

    async def entries(self) -> AsyncIterator[Sequence[SourceEntry]]:
        asked: dict[str, str | int] = {
            "cql": f'space = "{self.key}" and type = page',
            "expand": _LISTED,
            "limit": _PAGE_SIZE,
        }
        seen: set[str] = set()
        while True:
            found = await self.client.get(_SEARCH, **asked)
            yield [self._entry(each) for each in objects(found.get("results")) if text_at(each, "id")]
            if not (following := text_at(found, "_links", "next")):
                return
            asked = dict(parse_qsl(urlsplit(self.client.unseen(following, seen)).query))

    async def read(self, entry: SourceEntry, path: Path, *, since: str) -> SourceContent | None:
        found = await self.client.get(_SEARCH, cql=f"id = {entry.key}", expand=_READ)
        listed = objects(found.get("results"))
        if not listed:
            raise EntryGone("Confluence no longer has this page, or no longer shows it.")
        content = listed[0]
        title = text_at(content, "title")
        whole = page(
            title=title,
            author=text_at(content, "version", "by", "displayName")
            or text_at(content, "history", "createdBy", "displayName"),
            created=text_at(content, "history", "createdDate"),
            modified=text_at(content, "version", "when"),
            body=text_at(content, "body", "view", "value"),
        )
        await asyncio.to_thread(path.write_text, whole, encoding="utf-8")
        return SourceContent(
            name="page.html",
            title=title,
            fingerprint=_version(content),
            version=text_at(content, "version", "when")[:10],
        )

    def _entry(self, content: dict[str, Any]) -> SourceEntry:
        identity = text_at(content, "id")
        uri = f"{self.base}pages/viewpage.action?pageId={identity}"
        return SourceEntry(key=identity, uri=uri, fingerprint=_version(content))


def _version(content: dict[str, Any]) -> str:
    return text_at(content, "version", "number")


def _authorization() -> str:
    token, account = secret(TOKEN), os.environ.get(ACCOUNT, "").strip()
    if not account:
        return f"Bearer {token}"
    return f"Basic {base64.b64encode(f'{account}:{token}'.encode()).decode()}"
