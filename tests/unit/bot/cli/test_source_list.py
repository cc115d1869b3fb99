from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

import pytest

from bot.cli.knowledge.source import add_arguments, run
from bot.maintenance import data_files
from bot.port import Place
from bot.settings import Settings
from bot.store.channel_sources import UNREADABLE, ChannelSources
from rag_engine.storage.sqlite.database import connect
from rag_engine.types import KnowledgeBaseId

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.asyncio


async def listed(settings: Settings, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    assert await run(parser.parse_args(["list", *words]), settings) == 0
    return capsys.readouterr().out


async def test_channels_are_listed_among_the_sources(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings(data_dir=tmp_path)
    assert "There are no sources" in await listed(settings, capsys)
    scripts = data_files.migrations()[data_files.CHAT]
    async with connect(tmp_path / data_files.CHAT, scripts=scripts) as database:
        channels = ChannelSources(database)
        for name in ("#general", "#secret"):
            place = Place(platform="slack", workspace="T1", channel=name)
            await channels.add(KnowledgeBaseId("kb"), place, name=name, asked="")
        _, secret = await channels.all()
        await channels.note(secret, error=UNREADABLE)
    shown = await listed(settings, capsys)
    assert "c1" in shown
    assert "slack channel #general: not read yet" in shown
    assert "invite it there" in shown
    first, second = json.loads(await listed(settings, capsys, "--json"))
    assert (first["id"], first["kind"], first["address"], first["state"]) == (
        "c1",
        "channel",
        "#general",
        "running",
    )
    assert second["state"] == "failed"
