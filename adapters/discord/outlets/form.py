from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final

import discord

from adapters.discord.api import api_calls
from bot.port import MOST_TYPED, ChatError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.port import Form

_INPUT: Final = "text"
_CHARACTERS: Final = 45
_TEXT_INPUT: Final = 4

_log = logging.getLogger(__name__)


async def show(form: Form, interaction: discord.Interaction, *, custom_id: str, seconds: float) -> bool:
    """False if Discord refuses it. The submission has the button's own id."""
    modal = discord.ui.Modal(title=_cut(form.title), custom_id=custom_id)
    modal.add_item(
        discord.ui.TextInput[discord.ui.Modal](
            label=_cut(form.label),
            custom_id=_INPUT,
            style=discord.TextStyle.paragraph,
            default=form.text or None,
            max_length=MOST_TYPED,
        )
    )
    # discord.py does not keep a stopped modal.
    modal.stop()
    try:
        async with api_calls(seconds, fail_fast=True):
            await interaction.response.send_modal(modal)
    except ChatError as error:
        _log.warning("a form could not be shown: %s", error)
        return False
    return True


def typed(data: Mapping[str, Any]) -> str:
    for each in data.get("components") or ():
        inner = each.get("component")
        for field in each.get("components") or ([inner] if inner else ()):
            if field.get("type") == _TEXT_INPUT and field.get("custom_id") == _INPUT:
                return str(field.get("value") or "")
    return ""


def _cut(text: str) -> str:
    return text if len(text) <= _CHARACTERS else f"{text[: _CHARACTERS - 1]}…"
