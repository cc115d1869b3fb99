from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urljoin

import aiohttp

from adapters.slack.api import call_api, is_trusted, missing_scope_message, translate_errors
from bot.port import Attachment, ChatError, Fields, Gone, Throttled, Unreachable, WriteRefused

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from adapters.slack.context import SlackContext

_BLOCK_BYTES = 1 << 16
_MOST_REDIRECTS = 5
_CONNECT_SECONDS = 10.0
_READ_SECONDS = 30.0
_FOREIGN_HOST = "This file is not on Slack's servers, so it was not downloaded; please send the file itself."
_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
_REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})


async def attachments(context: SlackContext, files: Sequence[Fields], *, uri: str) -> tuple[Attachment, ...]:
    present = [file for file in files if file.text("id") and file.text("mode") != "tombstone"]
    return tuple([await _attachment(context, file, uri=uri) for file in present])


async def _attachment(context: SlackContext, file: Fields, *, uri: str) -> Attachment:
    identifier, refusal = file.text("id"), ""
    if file.text("file_access") == "check_file_info" or file.values.get("size") is None:
        try:
            file = await _file_info(context, identifier)
        except ChatError as error:
            refusal = (
                str(error)
                if isinstance(error, WriteRefused)
                else "Slack does not let the app read this file."
            )
    return Attachment(
        name=file.text("name") or file.text("title") or identifier,
        media_type=file.text("mimetype") or "application/octet-stream",
        size=file.number("size"),
        uri=uri,
        open=lambda: download(context, identifier),
        id=identifier,
        refusal=refusal or _refusal(file),
        voice=file.text("subtype") == "slack_audio",
    )


def _refusal(file: Fields) -> str:
    mode = file.text("mode")
    if file.flag("is_external") or mode == "external":
        return "This is a link to a file outside Slack: download it there and drop it here as a file."
    if mode == "hidden_by_limit":
        return "Slack hides this file because the workspace is over its storage limit: upload it again."
    if mode in {"space", "quip", "canvas", "list"}:
        return "Slack does not let apps read canvases, posts or lists: export it as a PDF and drop that here."
    if file.text("file_access") == "access_denied":
        return "Slack does not let the app read this file: its owner must share it in this channel."
    return ""


async def download(context: SlackContext, identifier: str) -> AsyncIterator[bytes]:
    file = await _file_info(context, identifier)
    address = file.text("url_private_download") or file.text("url_private")
    if not address:
        raise WriteRefused(
            _refusal(file) or "Slack returned no download address for this file: upload it again."
        )
    size = file.number("size")
    with translate_errors("the download"):
        response = await _follow_redirects(context, address)
        try:
            _check_response(response, file, size)
            total = 0
            async for block in response.content.iter_chunked(_BLOCK_BYTES):
                total += len(block)
                if size and total > size:
                    raise WriteRefused("Slack sent more bytes than this file has: upload it again.")
                yield block
            if total < size:
                raise Unreachable("The download broke off.")
        finally:
            response.close()


async def _file_info(context: SlackContext, identifier: str) -> Fields:
    gone = "This file is no longer in Slack: upload it again."
    refusals = {"file_not_found": gone, "file_deleted": gone}
    answer = await call_api("files.info", context.read_client.files_info(file=identifier), refusals)
    return answer.need_object("file")


async def _follow_redirects(context: SlackContext, address: str) -> aiohttp.ClientResponse:
    """Only trusted hosts get the token."""
    timeout = aiohttp.ClientTimeout(
        total=context.settings.file_seconds, sock_connect=_CONNECT_SECONDS, sock_read=_READ_SECONDS
    )
    token = context.settings.bot_token.get_secret_value()
    for _ in range(_MOST_REDIRECTS):
        if not is_trusted(address, context.settings):
            raise WriteRefused(_FOREIGN_HOST)
        response = await context.session.get(
            address,
            headers={"Authorization": f"Bearer {token}"},
            allow_redirects=False,
            timeout=timeout,
            proxy=context.read_client.proxy,
        )
        if response.status not in _REDIRECT_STATUSES:
            return response
        response.close()
        address = urljoin(address, response.headers.get("Location", ""))
    raise Unreachable("The download was redirected too many times.")


def _check_response(response: aiohttp.ClientResponse, file: Fields, size: int) -> None:
    """Without the scope, Slack sends a login page with 200."""
    if response.status == 429:
        raise Throttled("Slack limits downloads now.", seconds=_retry_after(response))
    if response.status >= 500:
        raise Unreachable(f"Slack failed to deliver the file ({response.status}).")
    if response.status in (401, 403):
        raise WriteRefused(missing_scope_message("files:read"))
    if response.status in (404, 410):
        raise Gone("The file is no longer in Slack.")
    if response.status != 200:
        raise WriteRefused(f"Slack did not deliver the file ({response.status}): upload it again.")
    if response.content_type in _HTML_TYPES and (
        file.text("mimetype") not in _HTML_TYPES or (response.content_length or size) != size
    ):
        raise WriteRefused(missing_scope_message("files:read"))


def _retry_after(response: aiohttp.ClientResponse) -> float:
    try:
        return float(response.headers.get("Retry-After", "30"))
    except ValueError:
        return 30.0
