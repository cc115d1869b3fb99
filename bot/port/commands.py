from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.port.events import Attachment
    from bot.port.places import Person, Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """`choices`, if any, are its only values; a `file` is an attachment, where the platform supports it."""

    name: str
    description: str
    kind: Literal["text", "channel", "file"] = "text"
    required: bool = False
    choices: tuple[str, ...] = ()
    named: bool = False
    """In one line of text it is given by its name alone: `--model fast`, `model:fast`."""
    suggested: bool = False
    """Names come from `ChatService.suggestions`, where the platform asks for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandSpec:
    """`name` is one word (`ask`), or with its subcommand two (`kb list`)."""

    name: str
    description: str
    options: tuple[Option, ...] = ()
    admin: bool = False
    """Hide it from others where possible. Permissions are checked again on use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One use of a slash command. If the platform sends one line of text, it is in `line` and `values` is empty."""

    id: str
    name: str
    """At least the first word (`kb`); the subcommand is in it or begins `line`."""
    place: Place
    person: Person
    values: Mapping[str, str] = field(default_factory=dict[str, str])
    line: str = ""
    attachments: tuple[Attachment, ...] = ()
    handle: str = ""
