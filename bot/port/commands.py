from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.port.events import Attachment
    from bot.port.places import Person, Place


WORKSPACE: Final = "workspace"
SERVER: Final = "server"


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """`choices`, if any, are its only values."""

    name: str
    description: str
    kind: Literal["text", "channel", "file"] = "text"
    required: bool = False
    choices: tuple[str, ...] = ()
    named: bool = False
    """Given by name: `--model fast`, `model:fast`."""
    value: str = ""
    """What its usage calls it."""
    suggested: bool = False
    """By `ChatService.suggestions`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandSpec:
    """`name` is one word (`ask`) or two (`kb list`)."""

    name: str
    description: str
    options: tuple[Option, ...] = ()
    admin: bool = False
    """Hidden from others where possible. Permissions are checked again."""


def for_servers(spec: CommandSpec) -> CommandSpec:
    """For people whose platform calls a workspace a server."""
    return replace(spec, options=tuple(map(_for_servers, spec.options)))


def _for_servers(option: Option) -> Option:
    choices = tuple(SERVER if each == WORKSPACE else each for each in option.choices)
    return replace(option, description=option.description.replace(WORKSPACE, SERVER), choices=choices)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """Some platforms send one `line` of text, and `values` is empty."""

    id: str
    name: str
    """At least the first word; the subcommand is in it or begins `line`."""
    place: Place
    person: Person
    values: Mapping[str, str] = field(default_factory=dict[str, str])
    line: str = ""
    attachments: tuple[Attachment, ...] = ()
    handle: str = ""
