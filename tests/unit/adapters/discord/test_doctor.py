"""The findings of `footnote doctor` on Discord, with fixes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pydantic import SecretStr

from adapters.discord import check
from tests.doubles.discord_double.server import serve
from tests.doubles.discord_double.world import CREATE_PUBLIC_THREADS, USUAL
from tests.unit.adapters.discord.conftest import SPECS, Recorder, running, settings_for

if TYPE_CHECKING:
    from bot.port import Finding
    from tests.doubles.discord_double.server import DiscordServer


async def _findings(server: DiscordServer, **settings: Any) -> dict[str, Finding]:
    found = [finding async for finding in check(settings_for(server, **settings), SPECS)]
    return {finding.check: finding for finding in found}


async def test_all_is_well(server: DiscordServer) -> None:
    async with running(server, Recorder()):
        pass
    found = await _findings(server)
    assert {finding.state for finding in found.values()} == {"ok"}
    assert set(found) == {
        "Discord: token",
        "Discord: message content",
        "Discord: interactions",
        "Discord: invitations",
        "Discord: commands",
        "Discord: permissions in Team",
    }
    assert server.gateway.identified == 1


async def test_commands_not_yet_registered(server: DiscordServer) -> None:
    finding = (await _findings(server))["Discord: commands"]
    assert finding.state == "note"
    assert "ask, kb, Ask about this" in finding.detail
    assert "footnote run" in finding.remedy


async def test_a_bad_token(server: DiscordServer) -> None:
    found = await _findings(server, token=SecretStr("no"))
    assert [finding.state for finding in found.values()] == ["bad"]
    assert "Reset Token" in found["Discord: token"].remedy


@pytest.mark.parametrize("token", ["xoxb-1-2-abc", "xapp-1-A-2-abc", "xoxp-1", "sk-proj-abc"])
async def test_a_token_of_another_service_is_never_sent(server: DiscordServer, token: str) -> None:
    (finding,) = (await _findings(server, token=SecretStr(token))).values()
    assert (finding.check, finding.state) == ("Discord: token", "bad")
    assert finding.detail == "DISCORD_TOKEN holds a token of another service"
    assert "Bot page" in finding.remedy
    assert server.calls == []


async def test_message_content_that_is_not_allowed() -> None:
    async with serve(privileged_intents=0) as strict:
        finding = (await _findings(strict))["Discord: message content"]
        assert finding.state == "bad"
        assert f"/applications/{strict.application_id}/bot" in finding.remedy
        finding = (await _findings(strict, message_content=False))["Discord: message content"]
        assert finding.state == "note"


async def test_permissions_that_are_missing(server: DiscordServer) -> None:
    server.set_role(server.everyone(), USUAL & ~CREATE_PUBLIC_THREADS)
    finding = (await _findings(server))["Discord: permissions in Team"]
    assert finding.state == "bad"
    assert finding.detail == "missing: Create Public Threads (to answer in a thread under the question)"
    assert f"client_id={server.application_id}" in finding.remedy


async def test_a_bot_that_anyone_can_invite(server: DiscordServer) -> None:
    server.public = True
    found = await _findings(server)
    finding = found["Discord: invitations"]
    assert finding.state == "note"
    assert "FOOTNOTE_ACCESS__WORKSPACES" in finding.detail
    assert "switch off Public Bot" in finding.remedy
    permissions = found["Discord: permissions in Team"]
    assert (permissions.workspace, permissions.invited) == (server.guild.id, True)
    assert server.guild.id in permissions.detail


async def test_a_bot_in_no_server(server: DiscordServer) -> None:
    server.leaves(server.bot)
    finding = (await _findings(server))["Discord: servers"]
    assert (finding.state, finding.remedy.startswith("Open https://discord.com/oauth2/")) == ("bad", True)


async def test_a_discord_that_does_not_answer(server: DiscordServer) -> None:
    server.fail("my_guilds", status=503, times=-1)
    found = await _findings(server)
    assert found["Discord"].state == "bad"
    found = await _findings(server, api_base="http://127.0.0.1:9/api/v10", call_seconds=1)
    assert [finding.check for finding in found.values()] == ["Discord"]
