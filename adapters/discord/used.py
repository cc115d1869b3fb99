"""Uses of commands, of the menu of a message, and of buttons: as they are dealt with, and as they are kept for the next process."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import discord

from adapters.discord import commands, places, reading
from bot.port import Person, Place

if TYPE_CHECKING:
    from collections.abc import Mapping

_COMMAND, _BUTTON = 2, 3
_MESSAGE_COMMAND = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """One use: everything about it that matters, in values that are the same for any process."""

    id: int
    kind: int
    """Discord's own number: a command (also in the menu of a message), or a button."""
    application: int
    token: str = field(repr=False)
    """The key to its responses for fifteen minutes."""
    place: Place
    person: Person
    data: Mapping[str, Any] = field(repr=False)
    """What was chosen and typed."""
    public: bool = False
    """All may read the answer."""
    message: int = 0
    """The message of ours whose button it was."""
    alone: bool = False
    """Nobody but the person sees that message."""

    @property
    def is_command(self) -> bool:
        return self.kind == _COMMAND

    @property
    def is_button(self) -> bool:
        return self.kind == _BUTTON

    @property
    def target(self) -> int:
        """The message in whose menu it was chosen; 0 elsewhere."""
        return int(self.data.get("target_id", 0)) if self.data.get("type") == _MESSAGE_COMMAND else 0

    @property
    def channel(self) -> int:
        """The channel or thread in which it was done."""
        return int(self.place.thread or self.place.channel)

    @property
    def guild(self) -> int | None:
        return None if self.place.workspace == places.DIRECT else int(self.place.workspace)

    @property
    def handle(self) -> str:
        """What `bot.port.Command.handle` is to keep of it: enough to respond to it."""
        kept = {name: self.data[name] for name in ("type", "target_id") if name in self.data}
        return json.dumps(packed(replace(self, data=kept)), ensure_ascii=False)

    def interaction(self, client: discord.Client) -> discord.Interaction:
        """What discord.py responds through."""
        made = discord.Interaction[discord.Client](
            data={  # pyright: ignore[reportArgumentType]
                "id": str(self.id),
                "type": self.kind,
                "application_id": str(self.application),
                "token": self.token,
                "version": 1,
                "attachment_size_limit": 0,
            },
            state=client._connection,
        )
        made.channel = client.get_partial_messageable(self.channel, guild_id=self.guild)  # pyright: ignore[reportAttributeAccessIssue]
        return made


def of(interaction: discord.Interaction) -> Used:
    """A use as Discord tells of it."""
    pressed_on = interaction.message
    data = cast("Mapping[str, Any]", interaction.data or {})
    return Used(
        id=interaction.id,
        kind=interaction.type.value,
        application=interaction.application_id,
        token=interaction.token,
        place=places.place(
            interaction.channel, guild=interaction.guild_id, channel_id=interaction.channel_id or 0
        ),
        person=reading.person(interaction.user, language=reading.language(interaction)),
        data=data,
        public=commands.is_public(data),
        message=pressed_on.id if pressed_on is not None else 0,
        alone=pressed_on is not None and pressed_on.flags.ephemeral,
    )


def packed(used: Used) -> dict[str, Any]:
    """As JSON holds it."""
    return asdict(used)


def unpacked(payload: Mapping[str, Any]) -> Used:
    """Raises `KeyError`, `TypeError` or `ValueError` on what is none."""
    place, person = Place(**payload["place"]), Person(**payload["person"])
    return Used(**{**payload, "place": place, "person": person})
