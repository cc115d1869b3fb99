"""What `footnote doctor` finds at Discord, and the mends it names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from adapters.discord import check
from tests.doubles.discord_server import serve
from tests.doubles.discord_world import CREATE_PUBLIC_THREADS, USUAL
from tests.unit.adapters.discord.conftest import SPECS, Recorder, running, settings_for

if TYPE_CHECKING:
    from bot.port import Finding
    from tests.doubles.discord_server import DiscordServer


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
        "Discord: commands",
        "Discord: permissions in Team",
    }
    assert server.gateway.identified == 1


async def test_commands_not_yet_registered(server: DiscordServer) -> None:
    finding = (await _findings(server))["Discord: commands"]
    assert finding.state == "note"
    assert "ask, kb, Ask about this" in finding.detail
    assert "footnote run" in finding.mend


async def test_a_bad_token(server: DiscordServer) -> None:
    found = await _findings(server, token=SecretStr("no"))
    assert [finding.state for finding in found.values()] == ["bad"]
    assert "Reset Token" in found["Discord: token"].mend


async def test_message_content_that_is_not_allowed() -> None:
    async with serve(privileged_intents=0) as strict:
        finding = (await _findings(strict))["Discord: message content"]
        assert finding.state == "bad"
        assert f"/applications/{strict.application_id}/bot" in finding.mend
        finding = (await _findings(strict, message_content=False))["Discord: message content"]
        assert finding.state == "note"


async def test_permissions_that_are_missing(server: DiscordServer) -> None:
    server.set_role(server.everyone(), USUAL & ~CREATE_PUBLIC_THREADS)
    finding = (await _findings(server))["Discord: permissions in Team"]
    assert finding.state == "bad"
    assert finding.detail == "missing: Create Public Threads (to answer in a thread under the question)"
    assert f"client_id={server.application_id}" in finding.mend


async def test_a_bot_in_no_server(server: DiscordServer) -> None:
    server.leaves(server.bot)
    finding = (await _findings(server))["Discord: servers"]
    assert (finding.state, finding.mend.startswith("Open https://discord.com/oauth2/")) == ("bad", True)


async def test_a_discord_that_does_not_answer(server: DiscordServer) -> None:
    server.fail("my_guilds", status=503, times=-1)
    found = await _findings(server)
    assert found["Discord"].state == "bad"
    found = await _findings(server, api_base="http://127.0.0.1:9/api/v10", call_seconds=1)
    assert [finding.check for finding in found.values()] == ["Discord"]
