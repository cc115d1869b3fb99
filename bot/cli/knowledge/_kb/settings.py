"""`footnote kb settings`: how the bot behaves in the channels, for the operator."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from bot.cli._shared import terminal
from bot.commands.setting_values import OPTIONS, applied
from bot.composition.chat_service import default_place_settings
from bot.composition.model_chain import model_choices
from bot.maintenance import data_files
from bot.port import Place
from bot.store.places import Places
from rag_engine.errors import UserError
from rag_engine.storage.sqlite.database import connect

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from bot.settings import Settings
    from bot.store.places import PlaceSettings


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    path = settings.data_dir / data_files.CHAT
    if not await asyncio.to_thread(path.exists):
        raise UserError("No chat has used this data directory yet: `footnote run` connects one.")
    async with connect(path, scripts=data_files.migrations()[data_files.CHAT]) as database:
        places = Places(database, defaults=default_place_settings(settings))
        if not arguments.place:
            _print(await places.with_settings(), as_json=arguments.json)
            return 0
        place = _place(arguments.place)
        shown = await places.settings(place)
        if arguments.change:
            shown = await _changed(places, place, _values(arguments.change), settings)
        _print([(place, shown)], as_json=arguments.json)
    return 0


async def _changed(places: Places, place: Place, values: dict[str, str], settings: Settings) -> PlaceSettings:
    if values == {"reset": "all"}:
        return await places.reset(place)
    edit = partial(
        applied,
        values=values,
        defaults=places.defaults,
        models=sorted(label.casefold() for label in settings.model.choices),
        has_model=len(model_choices(settings)) > 1,
        has_web=bool(settings.web_search.kind),
        has_messages=True,
    )
    return await places.change(place, edit)


def _place(text: str) -> Place:
    parts = text.split(":")
    if len(parts) != 3 or not all(parts):
        raise UserError(
            f"{text!r} names no channel: give it as PLATFORM:WORKSPACE:CHANNEL, such as slack:T01:C012."
        )
    platform, workspace, channel = parts
    return Place(platform=platform, workspace=workspace, channel=channel)


def _values(changes: Sequence[str]) -> dict[str, str]:
    options = {option.name: option for option in OPTIONS}
    values: dict[str, str] = {}
    for change in changes:
        name, sign, value = change.partition("=")
        option = options.get(name)
        if option is None or not sign:
            raise UserError(f"Unknown setting {change!r}: give NAME=VALUE with one of {', '.join(options)}.")
        if option.choices and value not in option.choices:
            raise UserError(f"{name} can be {', '.join(option.choices)}, not {value!r}.")
        values[name] = value
    return values


def _print(rows: Sequence[tuple[Place, PlaceSettings]], *, as_json: bool) -> None:
    listed = [
        {"place": f"{place.platform}:{place.workspace}:{place.channel}", **asdict(settings)}
        for place, settings in rows
    ]
    if as_json:
        print(json.dumps(listed, ensure_ascii=False, indent=2))
        return
    if not listed:
        terminal.print_text("Every channel has the usual settings.")
    for row in listed:
        chosen = ", ".join(
            f"{name} {value}" for name, value in row.items() if name != "place" and value not in ("", None)
        )
        terminal.print_text(f"{row['place']}: {chosen}")
