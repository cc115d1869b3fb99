"""Files of a Google Drive folder: https://developers.google.com/workspace/drive/api/reference/rest/v3"""

from __future__ import annotations

import asyncio
import re
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import httpx2
from pydantic import BaseModel, ConfigDict

from rag_engine.errors import Unavailable, UserError
from rag_engine.parsing.media_types import is_readable, suffix_of
from rag_engine.sources._json_client import json_client, mapping, objects, secret, text_at
from rag_engine.sync.types import SourceContent, SourceEntry

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
    from pathlib import Path

    from rag_engine.sources import Surroundings
    from rag_engine.sources._json_client import JsonClient
    from rag_engine.sync.types import ListedSource

POSITION = 26
ADDRESSES = r"gdrive:.*"
PUBLIC = False

CLIENT: Final = "GOOGLE_DRIVE_CLIENT_ID"
CLIENT_SECRET: Final = "GOOGLE_DRIVE_CLIENT_SECRET"  # noqa: S105 - a variable's name
TOKEN: Final = "GOOGLE_DRIVE_REFRESH_TOKEN"  # noqa: S105 - a variable's name
_ADDRESS: Final = re.compile(r"gdrive:(?://)?(?P<folder>[\w-]{1,200})")
_FOLDER: Final = "application/vnd.google-apps.folder"
_GOOGLE: Final = "application/vnd.google-apps."
_OFFICE: Final = "application/vnd.openxmlformats-officedocument."
_EXPORTS: Final[Mapping[str, tuple[str, str]]] = {
    "document": (f"{_OFFICE}wordprocessingml.document", ".docx"),
    "spreadsheet": (f"{_OFFICE}spreadsheetml.sheet", ".xlsx"),
    "presentation": (f"{_OFFICE}presentationml.presentation", ".pptx"),
}
_FIELDS: Final = (
    "id,name,mimeType,modifiedTime,md5Checksum,version,webViewLink,lastModifyingUser(displayName)"
)
_PAGE_SIZE: Final = 1_000


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    api: str = "https://www.googleapis.com/"
    """For a proxy."""
    tokens: str = "https://oauth2.googleapis.com/token"


@asynccontextmanager
async def connect(
    address: str, settings: Settings, *, surroundings: Surroundings
) -> AsyncGenerator[ListedSource]:
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise UserError("Write gdrive:ID with the id of a folder.")
    token = await _access_token(settings.tokens, seconds=surroundings.seconds)
    async with json_client(
        settings.api,
        name="Google Drive",
        variable=TOKEN,
        headers={"Authorization": f"Bearer {token}"},
        surroundings=surroundings,
    ) as client:
        yield _Drive(client=client, folder=found["folder"])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drive:
    client: JsonClient
    folder: str

    async def entries(self) -> AsyncIterator[Sequence[SourceEntry]]:
        waiting, seen = [self.folder], {self.folder}
        while waiting:
            asked: dict[str, str | int] = {
                "q": f"'{waiting.pop()}' in parents and trashed = false",
                "fields": f"nextPageToken,files({_FIELDS})",
                "pageSize": _PAGE_SIZE,
                "supportsAllDrives": "true",
                "includeItemsFromAllDrives": "true",
            }
            markers: set[str] = set()
            while True:
                page = await self.client.get("drive/v3/files", **asked)
                files = objects(page.get("files"))
                inner = [text_at(each, "id") for each in files if text_at(each, "mimeType") == _FOLDER]
                waiting += [each for each in inner if each not in seen]
                seen.update(inner)
                yield [_entry(each) for each in files if _name(each)]
                if not (following := text_at(page, "nextPageToken")):
                    break
                asked["pageToken"] = self.client.unseen(following, markers)

    async def read(self, entry: SourceEntry, path: Path, *, since: str) -> SourceContent | None:
        where = f"drive/v3/files/{entry.key}"
        raw = await self.client.get(where, fields=_FIELDS, supportsAllDrives="true")
        export = _EXPORTS.get(text_at(raw, "mimeType").removeprefix(_GOOGLE))
        if export is None:
            content = await self.client.download(where, alt="media", supportsAllDrives="true")
        else:
            content = await self.client.download(f"{where}/export", mimeType=export[0])
        await asyncio.to_thread(path.write_bytes, content)
        return SourceContent(
            name=_name(raw),
            title=text_at(raw, "name"),
            fingerprint=_fingerprint(raw),
            link=text_at(raw, "webViewLink"),
            version=text_at(raw, "modifiedTime")[:10],
        )


async def _access_token(address: str, *, seconds: float) -> str:
    form = {
        "client_id": secret(CLIENT),
        "client_secret": secret(CLIENT_SECRET),
        "refresh_token": secret(TOKEN),
        "grant_type": "refresh_token",
    }
    try:
        async with httpx2.AsyncClient(timeout=seconds) as client:
            response = await client.post(address, data=form)
        token = text_at(mapping(response.json()), "access_token") if response.is_success else ""
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        raise Unavailable("Google does not answer.", backend="source", reason="failed") from error
    if not token:
        raise Unavailable(f"Google rejects the token: renew {TOKEN}.", backend="source", reason="token")
    return token


def _entry(raw: dict[str, Any]) -> SourceEntry:
    key = text_at(raw, "id")
    return SourceEntry(key=key, uri=f"https://drive.google.com/open?id={key}", fingerprint=_fingerprint(raw))


def _fingerprint(raw: dict[str, Any]) -> str:
    """Without `version`, which counts changes of permissions too."""
    return f"{text_at(raw, 'md5Checksum') or text_at(raw, 'modifiedTime')};{text_at(raw, 'name')}"


def _name(raw: dict[str, Any]) -> str:
    """Empty if it is not read."""
    name, kind = text_at(raw, "name").replace("/", "_"), text_at(raw, "mimeType")
    if kind.startswith(_GOOGLE):
        export = _EXPORTS.get(kind.removeprefix(_GOOGLE))
        return f"{name}{export[1]}" if export else ""
    return name if is_readable(name) or not suffix_of(name) else ""
