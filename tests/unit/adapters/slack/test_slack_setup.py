"""What Slack must grant: the manifest, and the checks of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pydantic import SecretStr
from ruamel.yaml import YAML

from adapters import slack
from adapters.slack import manifest, needs
from bot.commands.specs import SPECS
from bot.port import CommandSpec, Finding
from tests.unit.adapters.slack.conftest import server, settings

if TYPE_CHECKING:
    from tests.doubles.slack_server import SlackServer

__all__ = ["server"]
DEPLOYED = Path(__file__).parents[4] / "deploy" / "slack-manifest.yaml"
UNSET = slack.Settings(bot_token=SecretStr(""))


def test_the_manifest_in_deploy_is_the_one_that_setup_prints() -> None:
    assert DEPLOYED.read_text(encoding="utf-8") == slack.setup(UNSET, SPECS), (
        "footnote setup slack > deploy/slack-manifest.yaml"
    )


@pytest.mark.parametrize("secret", [None, SecretStr("s")])
def test_the_yaml_says_what_the_manifest_holds(secret: SecretStr | None) -> None:
    told = UNSET.model_copy(update={"signing_secret": secret, "public_url": "https://bot.acme.example/"})
    read = YAML(typ="safe").load(slack.setup(told, SPECS))
    address = "https://bot.acme.example/slack/events" if secret else ""
    assert read == manifest.manifest(SPECS, address=address)
    assert read["settings"]["socket_mode_enabled"] is not bool(secret)
    assert {command["command"] for command in read["features"]["slash_commands"]} == {"/ask", "/help", "/kb"}
    if secret:
        assert read["settings"]["event_subscriptions"]["request_url"] == address
        assert read["settings"]["interactivity"]["request_url"] == address


def test_no_event_is_asked_for_that_nothing_is_done_about() -> None:
    read = YAML(typ="safe").load(DEPLOYED)
    kinds = {name.partition(".")[0] for name in read["settings"]["event_subscriptions"]["bot_events"]}
    assert kinds == {"app_mention", "message", "app_uninstalled", "tokens_revoked"}


def test_names_that_are_slacks_own_are_left_out_of_the_manifest() -> None:
    specs = [CommandSpec(name="status", description="-"), CommandSpec(name="kb list", description="-")]
    assert [command.name for command in needs.slash_commands(specs)] == ["kb"]


async def _findings(told: slack.Settings) -> dict[str, Finding]:
    return {finding.check: finding async for finding in slack.check(told, SPECS)}


async def test_a_good_installation_has_no_bad_finding(server: SlackServer) -> None:
    server.scopes.add("assistant:write")
    found = await _findings(settings(server))
    assert {finding.state for finding in found.values()} <= {"ok", "note"}
    assert "ACME" in found["Slack token"].detail
    assert found["Slack Socket Mode"].state == "ok"
    assert found["Slack permissions"].state == "ok"


async def test_each_missing_permission_is_named_with_what_fails_and_what_mends_it(
    server: SlackServer,
) -> None:
    server.scopes -= {"files:read", "users:read", "assistant:write"}
    found = await _findings(settings(server))
    bad = {name for name, finding in found.items() if finding.state == "bad"}
    assert bad == {"Slack permission files:read", "Slack permission users:read"}
    finding = found["Slack permission files:read"]
    assert "read the files" in finding.detail
    assert "files:read" in finding.mend
    assert "install the app again" in finding.mend
    assert found["Slack permission assistant:write"].state == "note"


async def test_bad_tokens_are_told_with_their_mend(server: SlackServer) -> None:
    found = await _findings(settings(server, bot_token=SecretStr("xoxb-bad")))
    assert "SLACK_BOT_TOKEN" in found["Slack token"].detail
    assert list(found) == ["Slack token"]
    found = await _findings(settings(server, app_token=SecretStr("xapp-bad")))
    assert found["Slack Socket Mode"].state == "bad"
    assert "connections:write" in found["Slack Socket Mode"].mend


async def test_a_slack_that_cannot_be_reached_is_told_as_such() -> None:
    nowhere = slack.Settings(bot_token=SecretStr("x"), api_base_url="http://127.0.0.1:9/api/")
    found = await _findings(nowhere)
    assert found["Slack token"].state == "bad"
    assert "reaches slack.com" in found["Slack token"].mend


async def test_without_a_way_for_events_the_finding_says_how_to_make_one(server: SlackServer) -> None:
    found = await _findings(settings(server, app_token=None))
    assert found["Slack events"].state == "bad"
    found = await _findings(settings(server, signing_secret=SecretStr("s")))
    assert found["Slack events"].state == "note"


def test_secrets_are_not_printed() -> None:
    told = slack.Settings(bot_token=SecretStr("xoxb-hush"), app_token=SecretStr("xapp-hush"))
    assert "hush" not in repr(told) + str(told)
