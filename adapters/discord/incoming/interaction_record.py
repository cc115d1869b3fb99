"""Field names are stored data."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import discord

from adapters.discord import locations
from adapters.discord.incoming import command_reader, message_reader
from bot.port import Person, Place

if TYPE_CHECKING:
    from collections.abc import Mapping

_COMMAND = 2
_BUTTON = 3
_MESSAGE_COMMAND = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class InteractionRecord:
    id: int
    kind: int
    """Discord's number: command or button."""
    application: int
    token: str = field(repr=False)
    """Valid for 15 minutes."""
    place: Place
    person: Person
    data: Mapping[str, Any] = field(repr=False)
    public: bool = False
    message: int = 0
    alone: bool = False

    @property
    def is_command(self) -> bool:
        return self.kind == _COMMAND

    @property
    def is_button(self) -> bool:
        return self.kind == _BUTTON

    @property
    def target(self) -> int:
        """The message of the menu, else 0."""
        return int(self.data.get("target_id", 0)) if self.data.get("type") == _MESSAGE_COMMAND else 0

    @property
    def channel(self) -> int:
        return int(self.place.thread or self.place.channel)

    @property
    def guild(self) -> int | None:
        return None if self.place.workspace == locations.DIRECT else int(self.place.workspace)

    @property
    def handle(self) -> str:
        stored = {name: self.data[name] for name in ("type", "target_id") if name in self.data}
        return json.dumps(to_json(replace(self, data=stored)), ensure_ascii=False)

    def interaction(self, client: discord.Client) -> discord.Interaction:
        interaction = discord.Interaction[discord.Client](
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
        interaction.channel = client.get_partial_messageable(self.channel, guild_id=self.guild)  # pyright: ignore[reportAttributeAccessIssue]
        return interaction


def from_interaction(interaction: discord.Interaction) -> InteractionRecord:
    message = interaction.message
    data = cast("Mapping[str, Any]", interaction.data or {})
    return InteractionRecord(
        id=interaction.id,
        kind=interaction.type.value,
        application=interaction.application_id,
        token=interaction.token,
        place=locations.answer_place(
            interaction.channel, guild=interaction.guild_id, channel_id=interaction.channel_id or 0
        ),
        person=message_reader.person(interaction.user, language=message_reader.language(interaction)),
        data=data,
        public=command_reader.is_public(data),
        message=message.id if message is not None else 0,
        alone=message is not None and message.flags.ephemeral,
    )


def to_json(record: InteractionRecord) -> dict[str, Any]:
    return asdict(record)


def from_json(payload: Mapping[str, Any]) -> InteractionRecord:
    """Raises `KeyError`, `TypeError` or `ValueError` if invalid."""
    place, person = Place(**payload["place"]), Person(**payload["person"])
    return InteractionRecord(**{**payload, "place": place, "person": person})
