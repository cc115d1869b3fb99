"""Pages that are shared with a Notion integration: https://developers.notion.com/reference"""

from __future__ import annotations

import asyncio
import html
import re
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, ConfigDict

from rag_engine.errors import NotAllowed, UserError
from rag_engine.sources._json_client import items, json_client, mapping, objects, page, secret, text_at
from rag_engine.sync.types import EntryGone, SourceContent, SourceEntry

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
    from pathlib import Path

    from rag_engine.sources import Surroundings
    from rag_engine.sources._json_client import JsonClient
    from rag_engine.sync.types import ListedSource

POSITION = 24
ADDRESSES = r"notion:.*"
PUBLIC = False

TOKEN: Final = "NOTION_TOKEN"  # noqa: S105 - a variable's name
_ADDRESS: Final = re.compile(r"notion:(?://)?(?P<page>[0-9a-fA-F-]{32,36})?")
_VERSION: Final = "2022-06-28"
_PAGE_SIZE: Final = 100
_DEEPEST: Final = 6
_MOST_BLOCKS: Final = 5_000
_TAGS: Final[Mapping[str, str]] = {
    "heading_1": "h1",
    "heading_2": "h2",
    "heading_3": "h3",
    "quote": "blockquote",
    "code": "pre",
    "bulleted_list_item": "li",
    "numbered_list_item": "li",
    "to_do": "li",
}


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    api: str = "https://api.notion.com/"
    """For a proxy."""


@asynccontextmanager
async def connect(
    address: str, settings: Settings, *, surroundings: Surroundings
) -> AsyncGenerator[ListedSource]:
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise UserError("Write notion: for all pages shared with the integration, or notion:ID for a page.")
    headers = {"Authorization": f"Bearer {secret(TOKEN)}", "Notion-Version": _VERSION}
    async with json_client(
        settings.api,
        name="Notion",
        variable=TOKEN,
        headers=headers,
        surroundings=surroundings,
    ) as client:
        yield _Pages(client=client, root=(found["page"] or "").replace("-", "").casefold())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pages:
    client: JsonClient
    root: str
    """A page, read with those below it; empty: all."""

    async def entries(self) -> AsyncIterator[Sequence[SourceEntry]]:
        found: dict[str, dict[str, Any]] = {}
        seen: set[str] = set()
        asked: dict[str, object] = {
            "filter": {"property": "object", "value": "page"},
            "page_size": _PAGE_SIZE,
        }
        while True:
            answer = await self.client.post("v1/search", asked)
            found.update((_identity(text_at(each, "id")), each) for each in objects(answer.get("results")))
            if not answer.get("has_more"):
                break
            asked["start_cursor"] = self.client.unseen(text_at(answer, "next_cursor"), seen)
        yield [
            SourceEntry(key=key, uri=_uri(key), fingerprint=text_at(each, "last_edited_time"))
            for key, each in found.items()
            if not _is_gone(each) and self._is_below(key, found)
        ]

    async def read(self, entry: SourceEntry, path: Path, *, since: str) -> SourceContent | None:
        raw = await self.client.get(f"v1/pages/{entry.key}")
        if _is_gone(raw):
            raise EntryGone("Notion no longer has this page.")
        title = _title(raw)
        blocks: list[str] = [_properties(raw)]
        await self._read_blocks(entry.key, blocks, depth=0)
        modified = text_at(raw, "last_edited_time")
        whole = page(
            title=title,
            author=await self._author(raw),
            created=text_at(raw, "created_time"),
            modified=modified,
            body="\n".join(blocks),
        )
        await asyncio.to_thread(path.write_text, whole, encoding="utf-8")
        return SourceContent(
            name="page.html",
            title=title,
            fingerprint=modified,
            link=text_at(raw, "url"),
            version=modified[:10],
        )

    def _is_below(self, key: str, pages: Mapping[str, dict[str, Any]]) -> bool:
        seen: set[str] = set()
        while self.root and key != self.root:
            if key in seen or key not in pages:
                return False
            seen.add(key)
            key = _identity(text_at(pages[key], "parent", "page_id"))
        return True

    async def _read_blocks(self, parent: str, texts: list[str], *, depth: int) -> None:
        asked: dict[str, str | int] = {"page_size": _PAGE_SIZE}
        seen: set[str] = set()
        while len(texts) < _MOST_BLOCKS:
            answer = await self.client.get(f"v1/blocks/{parent}/children", **asked)
            for block in objects(answer.get("results")):
                texts.append(_block(block))
                is_own = text_at(block, "type") not in ("child_page", "child_database")
                if block.get("has_children") and is_own and depth < _DEEPEST:
                    await self._read_blocks(text_at(block, "id"), texts, depth=depth + 1)
            if not answer.get("has_more"):
                return
            asked["start_cursor"] = self.client.unseen(text_at(answer, "next_cursor"), seen)

    async def _author(self, raw: dict[str, Any]) -> str:
        """Empty where the integration may not read people."""
        person = text_at(raw, "last_edited_by", "id") or text_at(raw, "created_by", "id")
        try:
            return text_at(await self.client.get(f"v1/users/{person}"), "name") if person else ""
        except (NotAllowed, EntryGone):
            return ""


def _identity(identity: str) -> str:
    return identity.replace("-", "").casefold()


def _uri(key: str) -> str:
    return f"https://www.notion.so/{key}"


def _is_gone(raw: dict[str, Any]) -> bool:
    return bool(raw.get("archived") or raw.get("in_trash"))


def _rich(value: object) -> str:
    return "".join(text_at(each, "plain_text") for each in objects(value))


def _title(raw: dict[str, Any]) -> str:
    for each in mapping(raw.get("properties")).values():
        if text_at(each, "type") == "title":
            return _rich(mapping(each).get("title")) or "Untitled"
    return "Untitled"


def _properties(raw: dict[str, Any]) -> str:
    rows: list[str] = []
    for name, each in ((name, mapping(each)) for name, each in mapping(raw.get("properties")).items()):
        kind = text_at(each, "type")
        value = each.get(kind)
        shown = _rich(value) if kind == "rich_text" else text_at(value, "name") or text_at(each, kind)
        shown = shown or ", ".join(text_at(one, "name") for one in objects(value)) or text_at(value, "start")
        if kind != "title" and shown:
            rows.append(f"<p>{html.escape(f'{name}: {shown}')}</p>")
    return "\n".join(rows)


def _block(block: dict[str, Any]) -> str:
    kind = text_at(block, "type")
    content = mapping(block.get(kind))
    if kind == "table_row":
        cells = map(_rich, items(content.get("cells")))
        return f"<p>{html.escape(' | '.join(cells))}</p>"
    text = _rich(content.get("rich_text")) or text_at(content, "title") or _rich(content.get("caption"))
    tag = _TAGS.get(kind, "p")
    return f"<{tag}>{html.escape(text)}</{tag}>" if text else ""
