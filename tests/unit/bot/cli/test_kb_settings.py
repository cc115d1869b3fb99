"""`footnote kb settings`: what the operator shows and changes of channels."""

from __future__ import annotations

import json
from argparse import Namespace
from typing import TYPE_CHECKING

import pytest

from bot import settings
from bot.cli.knowledge._kb import settings as kb_settings
from bot.maintenance import data_files
from bot.messages.refusals import Invalid
from bot.port import Place
from bot.store.places import Places, PlaceSettings
from rag_engine.errors import UserError
from rag_engine.storage.sqlite.database import connect
from tests.databases import new_database

if TYPE_CHECKING:
    from pathlib import Path

CHANNEL = Place(platform="slack", workspace="T01", channel="C012")
NAME = "slack:T01:C012"


@pytest.fixture
async def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> settings.Settings:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(tmp_path))
    async with connect(
        new_database(tmp_path / "chat.sqlite"), scripts=data_files.migrations()[data_files.CHAT]
    ):
        return settings.read()


async def run(read: settings.Settings, place: str = "", *change: str, as_json: bool = False) -> int:
    return await kb_settings.run(Namespace(place=place, change=change, json=as_json), read)


async def stored(read: settings.Settings) -> PlaceSettings:
    path = read.data_dir / data_files.CHAT
    async with connect(path, scripts=data_files.migrations()[data_files.CHAT]) as database:
        return await Places(database).settings(CHANNEL)


async def test_the_operator_changes_shows_and_resets(
    read: settings.Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    await run(read)
    assert capsys.readouterr().out == "Every channel has the usual settings.\n"
    await run(read, NAME, "persona=Be kind", "citations=off")
    assert await stored(read) == PlaceSettings(persona="Be kind", citations=False)
    capsys.readouterr()
    await run(read, as_json=True)
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["place"], row["persona"], row["citations"]) == (NAME, "Be kind", False)
    await run(read, NAME, "reset=all")
    assert await stored(read) == PlaceSettings()


@pytest.mark.parametrize(
    ("place", "change", "sentence"),
    [
        ("C012", "citations=off", "names no channel"),
        (NAME, "citations", "Unknown setting"),
        (NAME, "colour=red", "Unknown setting"),
        (NAME, "citations=never", "can be on, off, not 'never'"),
        (NAME, "temperature=9", "number from 0 to 2"),
        (NAME, "model=fast", "only one language model"),
        (NAME, "route=chat", "no language model"),
        (NAME, "web=ask", "No web search is set up here"),
        (NAME, "tools=on", "Tools need a language model"),
    ],
)
async def test_what_is_unusable_changes_nothing(
    read: settings.Settings, place: str, change: str, sentence: str
) -> None:
    with pytest.raises((UserError, Invalid), match=sentence):
        await run(read, place, change)
    assert await stored(read) == PlaceSettings()


async def test_without_a_chat_there_is_nothing_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(tmp_path / "empty"))
    with pytest.raises(UserError, match="No chat has used this data directory"):
        await run(settings.read())
