from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import discord

from bot.port import for_servers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from discord.http import HTTPClient

    from bot.port import CommandSpec, Option

ASK_ABOUT_THIS = "Ask about this"
SAVE_AS_VERIFIED = "Save as verified"

_log = logging.getLogger(__name__)
_CHAT_INPUT, _MESSAGE, _ENTRY_POINT = 1, 3, 4
_SUBCOMMAND = 1
_OPTION_KINDS = {"text": 3, "channel": 7, "file": 11}
_DESCRIPTION_CHARACTERS = 100
_MANAGE_GUILD = str(discord.Permissions(manage_guild=True).value)
_GUILD_CONTEXT, _BOT_DM_CONTEXT = 0, 1
_Payload = dict[str, Any]


def payloads(specs: Sequence[CommandSpec]) -> list[_Payload]:
    groups: dict[str, list[CommandSpec]] = {}
    for spec in map(for_servers, specs):
        groups.setdefault(spec.name.split()[0], []).append(spec)
    top_level = [_command(name, members) for name, members in groups.items()]
    menu = [_payload(name, "", (), kind=_MESSAGE) for name in (ASK_ABOUT_THIS, SAVE_AS_VERIFIED)]
    return [*top_level, *menu]


def _command(name: str, specs: Sequence[CommandSpec]) -> _Payload:
    admin = all(spec.admin for spec in specs)
    if len(specs) == 1 and specs[0].name == name:
        options = [_option(option) for option in _required_first(specs[0].options)]
        return _payload(name, specs[0].description, options, admin=admin)
    subcommands = [
        {
            "type": _SUBCOMMAND,
            "name": spec.name.split()[-1],
            "description": _shorten(spec.description),
            "options": [_option(option) for option in _required_first(spec.options)],
        }
        for spec in specs
    ]
    description = ", ".join(str(each["name"]) for each in subcommands)
    return _payload(name, description, subcommands, admin=admin, contexts=[_GUILD_CONTEXT])


def _payload(
    name: str,
    description: str,
    options: Iterable[_Payload],
    *,
    kind: int = _CHAT_INPUT,
    admin: bool = False,
    contexts: Sequence[int] = (_GUILD_CONTEXT, _BOT_DM_CONTEXT),
) -> _Payload:
    return {
        "name": name,
        "type": kind,
        "description": _shorten(description),
        "options": list(options),
        "default_member_permissions": _MANAGE_GUILD if admin else None,
        "contexts": list(contexts),
        "integration_types": [0],
    }


def _required_first(options: Sequence[Option]) -> list[Option]:
    return sorted(options, key=lambda option: not option.required)


def _option(option: Option) -> _Payload:
    payload: _Payload = {
        "type": _OPTION_KINDS[option.kind],
        "name": option.name,
        "description": _shorten(option.description),
        "required": option.required,
    }
    if option.suggested:
        payload["autocomplete"] = True
    if option.choices:
        payload["choices"] = [{"name": choice, "value": choice} for choice in option.choices]
    return payload


def _shorten(text: str) -> str:
    if len(text) <= _DESCRIPTION_CHARACTERS:
        return text
    return text[: _DESCRIPTION_CHARACTERS - 1].rstrip(" ,") + "…"


def differences(expected: Sequence[_Payload], registered: Sequence[Mapping[str, Any]]) -> list[str]:
    ours = {_key(each): _comparable(each) for each in expected}
    existing = {_key(each): _comparable(each) for each in registered if each.get("type") != _ENTRY_POINT}
    names = [name for name, kind in ours if ours[name, kind] != existing.get((name, kind))]
    return names + [name for name, kind in existing if (name, kind) not in ours]


async def register(http: HTTPClient, application: int, specs: Sequence[CommandSpec]) -> bool:
    """False if nothing changed: creations per day are limited."""
    registered: list[Any] = await http.get_global_commands(application)
    expected = payloads(specs)
    changed = differences(expected, registered)
    if not changed:
        return False
    # Discord refuses a list without the entry point.
    entry_points = [each for each in registered if each.get("type") == _ENTRY_POINT]
    await http.bulk_upsert_global_commands(application, [*expected, *entry_points])
    _log.info("registered commands with Discord: %s", ", ".join(changed))
    return True


def _key(payload: Mapping[str, Any]) -> tuple[str, int]:
    return str(payload["name"]), int(payload.get("type") or _CHAT_INPUT)


def _comparable(payload: Mapping[str, Any]) -> tuple[object, ...]:
    permissions = payload.get("default_member_permissions")
    return (
        *_key(payload),
        payload.get("description") or "",
        bool(payload.get("required")),
        bool(payload.get("autocomplete")),
        None if permissions is None else str(permissions),
        tuple(sorted(payload.get("contexts") or ())),
        tuple((choice["name"], str(choice["value"])) for choice in payload.get("choices") or ()),
        tuple(_comparable(option) for option in payload.get("options") or ()),
    )
