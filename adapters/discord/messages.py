"""What every message of ours has in common: how a page is put into words, and what it may cost."""

from __future__ import annotations

import base64
import hashlib
import io
from typing import TYPE_CHECKING, Any

import discord

from adapters.discord import buttons
from bot.port import Budget, Limits, Route

if TYPE_CHECKING:
    from bot.port import Page, Write

# Discord lets a bot create five and edit five messages of a channel in five seconds. The call that uses a window up returns only
# when the window is over (discord.py waits in it), so the last one is left alone.
_CALLS, _SECONDS = 4, 5.0

LIMITS = Limits(characters=2000, edit_seconds=1.0, dialect="discord")
SILENT = discord.AllowedMentions.none()
ROUTE = "edit"
_NOTHING = "…"


def routes(*where: str) -> tuple[Route, ...]:
    """The one way of writing, with the budgets of one channel (or of one interaction)."""
    create = Budget(name=("discord", *where, "create"), calls=_CALLS, seconds=_SECONDS)
    edit = Budget(name=("discord", *where, "edit"), calls=_CALLS, seconds=_SECONDS)
    return (Route(name=ROUTE, create=create, edit=edit, finish=edit),)


def content(page: Page) -> str:
    """All words of the page; Discord refuses a message without any."""
    said = "\n\n".join(part for part in (page.text.strip("\n"), page.footer, page.status) if part)
    return said if said.strip() else _NOTHING


def fresh(page: Page) -> dict[str, Any]:
    """What a new message is made of; nothing in it unfolds."""
    made: dict[str, Any] = {
        "content": content(page),
        "allowed_mentions": SILENT,
        "suppress_embeds": True,
    }
    if page.buttons:
        made["view"] = buttons.view(page.buttons)
    if page.files:
        made["files"] = uploads(page)
    return made


def changes(write: Write, page: Page) -> dict[str, Any]:
    """What an edit sets. Files come, and those of before go, with the final one."""
    made: dict[str, Any] = {
        "content": content(page),
        "view": buttons.view(page.buttons),
        "allowed_mentions": SILENT,
    }
    if write.final:
        made["attachments"] = uploads(page)
    return made


def uploads(page: Page) -> list[discord.File]:
    """The files of the page, made anew for each attempt: sending closes them."""
    return [
        discord.File(io.BytesIO(file.content), filename=file.name, description=file.description or None)
        for file in page.files
    ]


def nonce(key: str, part: int, attempt: int) -> str:
    """Discord makes one message of all that come with the same nonce, for some minutes: also across our restarts."""
    digest = hashlib.blake2b(f"{key}:{part}:{attempt}".encode(), digest_size=18).digest()
    return base64.urlsafe_b64encode(digest).decode()
