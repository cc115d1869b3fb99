from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.discord.incoming.downloads import command_attachment
from bot.port import Command

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adapters.discord.context import DiscordContext
    from adapters.discord.incoming.interaction_record import InteractionRecord

_SUBCOMMAND, _ATTACHMENT = 1, 11


def is_public(data: Mapping[str, Any]) -> bool:
    _, values, _ = _parse(data)
    return values.get("where") == "channel"


def command(record: InteractionRecord, context: DiscordContext) -> Command:
    name, values, files = _parse(record.data)
    link = f"https://discord.com/channels/{record.place.workspace}/{record.channel}"
    return Command(
        id=str(record.id),
        name=name,
        place=record.place,
        person=record.person,
        values=values,
        attachments=tuple(command_attachment(each, link=link, context=context) for each in files),
        handle=record.handle,
    )


def option_being_written(data: Mapping[str, Any]) -> str:
    options = list(data.get("options", ()))
    if options and options[0]["type"] == _SUBCOMMAND:
        options = list(options[0].get("options", ()))
    return next((str(option["name"]) for option in options if option.get("focused")), "")


def _parse(data: Mapping[str, Any]) -> tuple[str, dict[str, str], list[Mapping[str, Any]]]:
    name, options = str(data.get("name", "")), list(data.get("options", ()))
    if options and options[0]["type"] == _SUBCOMMAND:
        name, options = f"{name} {options[0]['name']}", list(options[0].get("options", ()))
    resolved = data.get("resolved", {}).get("attachments", {})
    values = {str(option["name"]): str(option["value"]) for option in options}
    files = [
        resolved[str(each["value"])]
        for each in options
        if each["type"] == _ATTACHMENT and str(each["value"]) in resolved
    ]
    return name, values, files
