"""The custom id holds name and value, to survive a restart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import discord

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.port import Button

_PREFIX = "footnote:"
_ID_CHARACTERS = 100
_LABEL_CHARACTERS = 80
_BUTTONS_PER_ROW = 5
_STYLES = {
    "plain": discord.ButtonStyle.secondary,
    "primary": discord.ButtonStyle.primary,
    "danger": discord.ButtonStyle.danger,
}


def view(buttons: Sequence[Button]) -> discord.ui.View | None:
    if not buttons:
        return None
    result = discord.ui.View(timeout=None)
    for position, button in enumerate(buttons):
        result.add_item(
            discord.ui.Button(
                style=_STYLES[button.style],
                label=button.label[:_LABEL_CHARACTERS],
                custom_id=custom_id(button.name, button.value),
                row=position // _BUTTONS_PER_ROW,
            )
        )
    # discord.py does not keep a stopped view.
    result.stop()
    return result


def custom_id(name: str, value: str) -> str:
    """Raises `ValueError` if Discord would refuse it."""
    custom = f"{_PREFIX}{name}:{value}"
    if ":" in name or len(custom) > _ID_CHARACTERS:
        raise ValueError(f"the button {name!r} does not fit a custom id of {_ID_CHARACTERS} characters")
    return custom


def parse_custom_id(custom_id: str) -> tuple[str, str] | None:
    if not custom_id.startswith(_PREFIX):
        return None
    name, _, value = custom_id.removeprefix(_PREFIX).partition(":")
    return name, value


def subject(value: str) -> str:
    return value.partition(":")[0]


def subjects(message: discord.Message) -> frozenset[str]:
    rows = [row for row in message.components if isinstance(row, discord.ActionRow)]
    ids = [getattr(each, "custom_id", None) or "" for row in rows for each in row.children]
    return frozenset(subject(parsed[1]) for parsed in map(parse_custom_id, ids) if parsed is not None)
