"""Commands: data of ours to data of Discord's, registered only when they differ; and their use, back again."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import discord

from adapters.discord.files import from_command
from bot.port import Command

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from discord.http import HTTPClient

    from adapters.discord.connection import Connection
    from adapters.discord.used import Used
    from bot.port import CommandSpec, Option

ASK_ABOUT_THIS = "Ask about this"
"""The entry in the context menu of a message."""

_log = logging.getLogger(__name__)
_CHAT_INPUT, _MESSAGE, _ENTRY_POINT = 1, 3, 4
_SUBCOMMAND = 1
_KINDS = {"text": 3, "channel": 7, "file": 11}
_DESCRIPTION_CHARACTERS = 100
_MANAGE_GUILD = str(discord.Permissions(manage_guild=True).value)
_IN_SERVERS, _WITH_THE_BOT = 0, 1
_Payload = dict[str, Any]


def payloads(specs: Sequence[CommandSpec]) -> list[_Payload]:
    """What Discord must hold: commands of one word, groups for those of two, and the entry in the context menu."""
    groups: dict[str, list[CommandSpec]] = {}
    for spec in specs:
        groups.setdefault(spec.name.split()[0], []).append(spec)
    made = [_top(name, members) for name, members in groups.items()]
    return [*made, _described(ASK_ABOUT_THIS, "", (), kind=_MESSAGE)]


def _top(name: str, specs: Sequence[CommandSpec]) -> _Payload:
    admin = all(spec.admin for spec in specs)
    if len(specs) == 1 and specs[0].name == name:
        options = [_option(option) for option in _required_first(specs[0].options)]
        return _described(name, specs[0].description, options, admin=admin)
    subcommands = [
        {
            "type": _SUBCOMMAND,
            "name": spec.name.split()[-1],
            "description": _short(spec.description),
            "options": [_option(option) for option in _required_first(spec.options)],
        }
        for spec in specs
    ]
    description = ", ".join(str(each["name"]) for each in subcommands)
    return _described(name, description, subcommands, admin=admin, contexts=[_IN_SERVERS])


def _described(
    name: str,
    description: str,
    options: Iterable[_Payload],
    *,
    kind: int = _CHAT_INPUT,
    admin: bool = False,
    contexts: Sequence[int] = (_IN_SERVERS, _WITH_THE_BOT),
) -> _Payload:
    return {
        "name": name,
        "type": kind,
        "description": _short(description),
        "options": list(options),
        "default_member_permissions": _MANAGE_GUILD if admin else None,
        "contexts": list(contexts),
        "integration_types": [0],
    }


def _required_first(options: Sequence[Option]) -> list[Option]:
    return sorted(options, key=lambda option: not option.required)


def _option(option: Option) -> _Payload:
    made: _Payload = {
        "type": _KINDS[option.kind],
        "name": option.name,
        "description": _short(option.description),
        "required": option.required,
    }
    if option.choices:
        made["choices"] = [{"name": choice, "value": choice} for choice in option.choices]
    return made


def _short(text: str) -> str:
    if len(text) <= _DESCRIPTION_CHARACTERS:
        return text
    return text[: _DESCRIPTION_CHARACTERS - 1].rstrip(" ,") + "…"


# --- registering -------------------------------------------------------------------------------------------------------


def differing(wanted: Sequence[_Payload], registered: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names of commands that Discord lacks, holds otherwise, or holds though they are gone."""
    ours = {_key(each): _comparable(each) for each in wanted}
    theirs = {_key(each): _comparable(each) for each in registered if each.get("type") != _ENTRY_POINT}
    names = [name for name, kind in ours if ours[name, kind] != theirs.get((name, kind))]
    return names + [name for name, kind in theirs if (name, kind) not in ours]


async def register(http: HTTPClient, application: int, specs: Sequence[CommandSpec]) -> bool:
    """Make Discord hold our commands; False when it does already, and then nothing is written: creating is rationed."""
    registered: list[Any] = await http.get_global_commands(application)
    wanted = payloads(specs)
    changed = differing(wanted, registered)
    if not changed:
        return False
    # Discord makes the command that opens an activity by itself, and refuses a list without it.
    kept = [each for each in registered if each.get("type") == _ENTRY_POINT]
    await http.bulk_upsert_global_commands(application, [*wanted, *kept])
    _log.info("registered commands at Discord: %s", ", ".join(changed))
    return True


def _key(payload: Mapping[str, Any]) -> tuple[str, int]:
    return str(payload["name"]), int(payload.get("type") or _CHAT_INPUT)


def _comparable(payload: Mapping[str, Any]) -> tuple[object, ...]:
    """What matters of a command or option, the same whether we wrote it or Discord did, which leaves out defaults."""
    permissions = payload.get("default_member_permissions")
    return (
        *_key(payload),
        payload.get("description") or "",
        bool(payload.get("required")),
        None if permissions is None else str(permissions),
        tuple(sorted(payload.get("contexts") or ())),
        tuple((choice["name"], str(choice["value"])) for choice in payload.get("choices") or ()),
        tuple(_comparable(option) for option in payload.get("options") or ()),
    )


# --- using -------------------------------------------------------------------------------------------------------------


def is_public(data: Mapping[str, Any]) -> bool:
    """Whether the person asked for an answer that all can read: the option `where` is `channel`."""
    _, values, _ = _given(data)
    return values.get("where") == "channel"


def command(used: Used, connection: Connection) -> Command:
    """One use of a command."""
    name, values, files = _given(used.data)
    link = f"https://discord.com/channels/{used.place.workspace}/{used.channel}"
    return Command(
        id=str(used.id),
        name=name,
        place=used.place,
        person=used.person,
        values=values,
        attachments=tuple(from_command(each, link=link, connection=connection) for each in files),
        handle=used.handle,
    )


def _given(data: Mapping[str, Any]) -> tuple[str, dict[str, str], list[Mapping[str, Any]]]:
    name, options = str(data.get("name", "")), list(data.get("options", ()))
    if options and options[0]["type"] == _SUBCOMMAND:
        name, options = f"{name} {options[0]['name']}", list(options[0].get("options", ()))
    files = data.get("resolved", {}).get("attachments", {})
    values = {str(option["name"]): str(option["value"]) for option in options}
    given = [
        files[str(each["value"])]
        for each in options
        if each["type"] == _KINDS["file"] and str(each["value"]) in files
    ]
    return name, values, given
