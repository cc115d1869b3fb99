"""`/kb settings`: how the bot behaves in a channel."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from bot.commands.using import reply
from rag_engine.errors import UserError

if TYPE_CHECKING:
    from bot.commands.using import Use
    from bot.places import Mode, PlaceSettings, Policy
    from bot.port import Reply

_LANGUAGE = re.compile(r"[a-z]{2}")
_MODES = {
    "mention": "I answer when I am mentioned",
    "thread": "I answer when I am mentioned, and in threads that I am in",
    "auto": "I answer every question in the channel",
}
_POLICIES = {
    "strict": "answers rest on the files alone",
    "blended": "answers may add general knowledge, marked as such",
}


async def settings(use: Use) -> Reply:
    """Show them; with values, change them first."""
    current = await use.desk.places.settings(use.place)
    if not use.values:
        return reply(_told(current, "How I behave in this channel:"))
    await use.desk.access.check(use.person, use.place, use.directory, act="administer")
    changed = replace(
        current,
        mode=cast("Mode", use.values.get("mode", current.mode)),
        knowledge=cast("Policy", use.values.get("knowledge", current.knowledge)),
        language=_language(use.values["language"]) if "language" in use.values else current.language,
    )
    await use.desk.places.change(use.place, changed)
    use.audit("settings")
    return reply(_told(changed, "From now on, in this channel:"))


def _told(settings: PlaceSettings, heading: str) -> str:
    language = f"always `{settings.language}`" if settings.language else "that of the question"
    return "\n".join(
        (
            heading,
            "",
            f"- mode `{settings.mode}`: {_MODES[settings.mode]}",
            f"- knowledge `{settings.knowledge}`: {_POLICIES[settings.knowledge]}",
            f"- language of answers: {language}",
        )
    )


def _language(value: str) -> str:
    value = value.strip().casefold()
    if value in ("auto", "any", "question"):
        return ""
    if not _LANGUAGE.fullmatch(value):
        raise UserError(
            "Give the language as its two letters, such as `en` or `de`; `auto` follows the question."
        )
    return value
