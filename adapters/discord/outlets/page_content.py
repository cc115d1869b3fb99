from __future__ import annotations

import base64
import hashlib
import io
from typing import TYPE_CHECKING, Any

import discord

from adapters.discord.outlets import buttons

if TYPE_CHECKING:
    from bot.port import Page, Write

NO_MENTIONS = discord.AllowedMentions.none()
_EMPTY = "…"


def content(page: Page) -> str:
    """Discord refuses an empty text."""
    text = "\n\n".join(part for part in (page.text.strip("\n"), page.footer, page.status) if part)
    return text if text.strip() else _EMPTY


def new_message(page: Page) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "content": content(page),
        "allowed_mentions": NO_MENTIONS,
        "suppress_embeds": True,
    }
    if page.buttons:
        arguments["view"] = buttons.view(page.buttons)
    if page.files:
        arguments["files"] = uploads(page)
    return arguments


def edit_arguments(write: Write, page: Page) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "content": content(page),
        "view": buttons.view(page.buttons),
        "allowed_mentions": NO_MENTIONS,
    }
    if write.final:
        arguments["attachments"] = uploads(page)
    return arguments


def uploads(page: Page) -> list[discord.File]:
    """Sending closes files, so each attempt needs new ones."""
    return [
        discord.File(io.BytesIO(file.content), filename=file.name, description=file.description or None)
        for file in page.files
    ]


def nonce(key: str, part: int, attempt: int) -> str:
    """Discord posts one message per nonce for some minutes."""
    digest = hashlib.blake2b(f"{key}:{part}:{attempt}".encode(), digest_size=18).digest()
    return base64.urlsafe_b64encode(digest).decode()
