"""Buttons: our own names in Discord's ids, so that a press means the same after a restart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import discord

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.port import Button

_PREFIX = "footnote:"
_ID_CHARACTERS = 100
_LABEL_CHARACTERS = 80
_IN_A_ROW = 5
_STYLES = {
    "plain": discord.ButtonStyle.secondary,
    "primary": discord.ButtonStyle.primary,
    "danger": discord.ButtonStyle.danger,
}


def view(buttons: Sequence[Button]) -> discord.ui.View | None:
    """The buttons in rows of five. Nothing waits for them in memory: presses come back as interactions with our own ids."""
    if not buttons:
        return None
    made = discord.ui.View(timeout=None)
    for position, button in enumerate(buttons):
        made.add_item(
            discord.ui.Button(
                style=_STYLES[button.style],
                label=button.label[:_LABEL_CHARACTERS],
                custom_id=custom_id(button.name, button.value),
                row=position // _IN_A_ROW,
            )
        )
    # A view that has ended is sent like any other, and discord.py does not keep it.
    made.stop()
    return made


def custom_id(name: str, value: str) -> str:
    """Raises `ValueError` when Discord would refuse it."""
    made = f"{_PREFIX}{name}:{value}"
    if ":" in name or len(made) > _ID_CHARACTERS:
        raise ValueError(f"the button {name!r} cannot be told from others in {_ID_CHARACTERS} characters")
    return made


def pressed(custom_id: str) -> tuple[str, str] | None:
    """The name and value of one of our buttons; None for others."""
    if not custom_id.startswith(_PREFIX):
        return None
    name, _, value = custom_id.removeprefix(_PREFIX).partition(":")
    return name, value


def subject(value: str) -> str:
    """What a button is about: its value up to the first colon. It is the same for all buttons of an answer."""
    return value.partition(":")[0]


def subjects(message: discord.Message) -> frozenset[str]:
    """What our buttons under the message are about."""
    rows = [row for row in message.components if isinstance(row, discord.ActionRow)]
    ids = [getattr(each, "custom_id", None) or "" for row in rows for each in row.children]
    return frozenset(subject(found[1]) for found in map(pressed, ids) if found is not None)
