"""What `footnote doctor` says of servers that the operator has not listed."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

import pytest

from bot.cli.operation import doctor
from bot.composition.storage import storage
from bot.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from tests.doubles.discord_double.server import DiscordServer


pytestmark = pytest.mark.process


@pytest.fixture
def invited(server: DiscordServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DiscordServer:
    """The environment of a bot that the server has invited."""
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("FOOTNOTE_EMBEDDER__KIND", "hashing")
    monkeypatch.setenv("DISCORD_TOKEN", server.token)
    monkeypatch.setenv("DISCORD_API_BASE", server.api_url)
    monkeypatch.setenv("DISCORD_GATEWAY_URL", server.gateway_url)
    return server


async def _finding(capsys: pytest.CaptureFixture[str]) -> dict[str, Any] | None:
    await doctor.run(argparse.Namespace(json=True), Settings())
    findings: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    assert any(finding["check"].startswith("Discord: permissions in") for finding in findings)
    return next((each for each in findings if each["check"] == "operator's knowledge bases"), None)


async def _created(*names: str) -> None:
    async with storage(Settings()) as stores:
        for name in names:
            await stores.catalog.open(name, model="m")


async def test_a_server_that_is_not_listed_is_named_with_the_setting(
    invited: DiscordServer, capsys: pytest.CaptureFixture[str]
) -> None:
    await _created("handbook", "rules", "discord:1:2~0123456789ab")
    finding = await _finding(capsys)
    assert finding is not None
    assert finding["state"] == "note"
    assert finding["detail"].startswith("2 made by `footnote add` are closed")
    assert finding["detail"].endswith(f"does not list: {invited.guild.id}")
    assert f"FOOTNOTE_ACCESS__WORKSPACES={invited.guild.id};" in finding["fix"]


async def test_nothing_is_said_where_nothing_is_closed(
    invited: DiscordServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    await _created("discord:1:2~0123456789ab")
    assert await _finding(capsys) is None
    await _created("handbook")
    monkeypatch.setenv("FOOTNOTE_ACCESS__WORKSPACES", invited.guild.id)
    assert await _finding(capsys) is None
