"""Files that people put into messages: looked up anew before each download, which gets the token only on Slack's own hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import aiohttp

from adapters.slack.wire import ask, lacking, translated, trusted
from bot.port import Attachment, ChatError, Gone, Refused, Throttled, Unreachable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from adapters.slack.wire import Wire

_BLOCK_BYTES = 1 << 16
_REDIRECTS = 5
_CONNECT_SECONDS = 10.0
_READ_SECONDS = 30.0
_HTML = frozenset({"text/html", "application/xhtml+xml"})
_REDIRECT = frozenset({301, 302, 303, 307, 308})


async def attachments(wire: Wire, files: Sequence[Mapping[str, Any]], *, uri: str) -> tuple[Attachment, ...]:
    """The files of a message; what was deleted from it is left out."""
    kept = [file for file in files if file.get("id") and file.get("mode") != "tombstone"]
    return tuple([await _attachment(wire, file, uri=uri) for file in kept])


async def _attachment(wire: Wire, file: Mapping[str, Any], *, uri: str) -> Attachment:
    refusal = ""
    if file.get("file_access") == "check_file_info" or "size" not in file:
        try:
            file = await _info(wire, file["id"])
        except ChatError as error:
            refusal = (
                str(error) if isinstance(error, Refused) else "Slack does not give this file to the app."
            )
    identifier = str(file["id"])
    return Attachment(
        name=str(file.get("name") or file.get("title") or identifier),
        media_type=str(file.get("mimetype") or "application/octet-stream"),
        size=int(file.get("size") or 0),
        uri=uri,
        open=lambda: download(wire, identifier),
        id=identifier,
        refusal=refusal or _refusal(file),
    )


def _refusal(file: Mapping[str, Any]) -> str:
    mode = file.get("mode")
    if file.get("is_external") or mode == "external":
        return "This is a link to a file outside Slack: download it there and drop it here as a file."
    if mode == "hidden_by_limit":
        return "Slack hides this file because the workspace is over its storage limit: upload it again."
    if mode in {"space", "quip", "canvas", "list"}:
        return "Slack gives canvases, posts and lists to no app: export it as a PDF and drop that here."
    if file.get("file_access") == "access_denied":
        return "Slack does not give this file to the app: its owner must share it into this channel."
    return ""


async def download(wire: Wire, identifier: str) -> AsyncIterator[bytes]:
    """The bytes of the file, in blocks. See `Attachment` for what it raises."""
    file = await _info(wire, identifier)
    address = file.get("url_private_download") or file.get("url_private")
    if not address:
        raise Refused(_refusal(file) or "Slack gives no address for this file: upload it again.")
    size = int(file.get("size") or 0)
    with translated("the download"):
        response = await _opened(wire, str(address))
        try:
            _check(response, file, size)
            total = 0
            async for block in response.content.iter_chunked(_BLOCK_BYTES):
                total += len(block)
                if size and total > size:
                    raise Refused("Slack sent more than the size of this file: upload it again.")
                yield block
            if total < size:
                raise Unreachable("The download broke off.")
        finally:
            response.close()


async def _info(wire: Wire, identifier: str) -> Mapping[str, Any]:
    gone = "This file is no longer in Slack: upload it again."
    refusals = {"file_not_found": gone, "file_deleted": gone}
    return (await ask("files.info", wire.reader.files_info(file=identifier), refusals))["file"]


async def _opened(wire: Wire, address: str) -> aiohttp.ClientResponse:
    """The answer to a request that follows redirects, sending the token to trusted hosts alone."""
    timeout = aiohttp.ClientTimeout(
        total=wire.settings.file_seconds, sock_connect=_CONNECT_SECONDS, sock_read=_READ_SECONDS
    )
    token = wire.settings.bot_token.get_secret_value()
    for _ in range(_REDIRECTS):
        headers = {"Authorization": f"Bearer {token}"} if trusted(address, wire.settings) else {}
        response = await wire.session.get(
            address, headers=headers, allow_redirects=False, timeout=timeout, proxy=wire.reader.proxy
        )
        if response.status not in _REDIRECT:
            return response
        response.close()
        address = urljoin(address, response.headers.get("Location", ""))
    raise Unreachable("Slack sent the download from one address to the next without end.")


def _check(response: aiohttp.ClientResponse, file: Mapping[str, Any], size: int) -> None:
    """Refuse what is not the file: without the permission Slack answers 200 with a page to log in."""
    if response.status == 429:
        raise Throttled("Slack asked to wait with downloads.", seconds=_seconds(response))
    if response.status >= 500:
        raise Unreachable(f"Slack could not give the file ({response.status}).")
    if response.status in (401, 403):
        raise Refused(lacking("files:read"))
    if response.status in (404, 410):
        raise Gone("The file is no longer in Slack.")
    if response.status != 200:
        raise Refused(f"Slack did not give the file ({response.status}): upload it again.")
    if response.content_type in _HTML and (
        file.get("mimetype") not in _HTML or (response.content_length or size) != size
    ):
        raise Refused(lacking("files:read"))


def _seconds(response: aiohttp.ClientResponse) -> float:
    try:
        return float(response.headers.get("Retry-After", "30"))
    except ValueError:
        return 30.0
