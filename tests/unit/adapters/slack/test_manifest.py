"""The manifest, and the findings of `footnote doctor`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pydantic import SecretStr
from ruamel.yaml import YAML

from adapters import slack
from adapters.slack.installation import manifest, required_permissions
from bot.commands import SPECS
from bot.port import CommandSpec, Finding
from tests.unit.adapters.slack.conftest import server, settings

if TYPE_CHECKING:
    from tests.doubles.slack_double.server import SlackServer

__all__ = ["server"]
DEPLOYED = Path(__file__).parents[4] / "deploy" / "slack-manifest.yaml"
UNSET = slack.Settings(bot_token=SecretStr(""))


def test_the_manifest_in_deploy_is_the_one_that_setup_prints() -> None:
    assert DEPLOYED.read_text(encoding="utf-8") == slack.setup(UNSET, SPECS), (
        "footnote setup slack > deploy/slack-manifest.yaml"
    )


@pytest.mark.parametrize("secret", [None, SecretStr("s")])
def test_the_yaml_equals_the_manifest(secret: SecretStr | None) -> None:
    settings_with_secret = UNSET.model_copy(
        update={"signing_secret": secret, "public_url": "https://bot.acme.example/"}
    )
    read = YAML(typ="safe").load(slack.setup(settings_with_secret, SPECS))
    address = "https://bot.acme.example/slack/events" if secret else ""
    assert read == manifest.manifest(SPECS, address=address)
    assert read["settings"]["socket_mode_enabled"] is not bool(secret)
    assert {command["command"] for command in read["features"]["slash_commands"]} == {
        "/about",
        "/ask",
        "/help",
        "/kb",
        "/mindmap",
        "/new",
        "/research",
        "/speak",
        "/table",
        "/why",
    }
    if secret:
        assert read["settings"]["event_subscriptions"]["request_url"] == address
        assert read["settings"]["interactivity"]["request_url"] == address


def test_only_handled_events_are_subscribed() -> None:
    read = YAML(typ="safe").load(DEPLOYED)
    kinds = {name.partition(".")[0] for name in read["settings"]["event_subscriptions"]["bot_events"]}
    assert kinds == {
        "app_home_opened",
        "app_mention",
        "member_joined_channel",
        "message",
        "app_uninstalled",
        "tokens_revoked",
    }


def test_slacks_own_command_names_are_left_out() -> None:
    specs = [CommandSpec(name="status", description="-"), CommandSpec(name="kb list", description="-")]
    assert [command.name for command in required_permissions.slash_commands(specs)] == ["kb"]


async def _findings(given: slack.Settings) -> dict[str, Finding]:
    return {finding.check: finding async for finding in slack.check(given, SPECS)}


async def test_a_good_installation_has_no_bad_finding(server: SlackServer) -> None:
    server.scopes.add("assistant:write")
    found = await _findings(settings(server))
    assert {finding.state for finding in found.values()} <= {"ok", "note"}
    assert "ACME" in found["Slack token"].detail
    assert found["Slack Socket Mode"].state == "ok"
    assert found["Slack permissions"].state == "ok"


async def test_each_missing_permission_is_named_with_its_fix(
    server: SlackServer,
) -> None:
    server.scopes -= {"files:read", "users:read", "assistant:write"}
    found = await _findings(settings(server))
    bad = {name for name, finding in found.items() if finding.state == "bad"}
    assert bad == {"Slack permission files:read", "Slack permission users:read"}
    finding = found["Slack permission files:read"]
    assert "read the files" in finding.detail
    assert "files:read" in finding.remedy
    assert "install the app again" in finding.remedy
    assert found["Slack permission assistant:write"].state == "note"


async def test_bad_tokens_are_named_with_their_fix(server: SlackServer) -> None:
    found = await _findings(settings(server, bot_token=SecretStr("xoxb-bad")))
    assert "SLACK_BOT_TOKEN" in found["Slack token"].detail
    assert list(found) == ["Slack token"]
    found = await _findings(settings(server, app_token=SecretStr("xapp-bad")))
    assert found["Slack Socket Mode"].state == "bad"
    assert "connections:write" in found["Slack Socket Mode"].remedy
    assert "SLACK_APP_TOKEN" in found["Slack Socket Mode"].detail
    assert "bot token" not in found["Slack Socket Mode"].detail


async def test_tokens_of_the_wrong_kind_are_named_before_any_call(server: SlackServer) -> None:
    given = settings(server)
    assert given.app_token is not None
    swapped = slack.Settings(
        bot_token=given.app_token, app_token=given.bot_token, api_base_url="http://127.0.0.1:9/api/"
    )
    found = await _findings(swapped)
    assert found["SLACK_BOT_TOKEN"].detail == "holds an app-level token, and needs a bot token (xoxb-…)"
    assert found["SLACK_APP_TOKEN"].detail == "holds a bot token, and needs an app-level token (xapp-…)"
    assert {finding.state for finding in found.values()} == {"bad"}
    user = await _findings(settings(server, bot_token=SecretStr("xoxp-1")))
    assert list(user) == ["SLACK_BOT_TOKEN"]


async def test_an_unreachable_slack_is_reported() -> None:
    nowhere = slack.Settings(bot_token=SecretStr("x"), api_base_url="http://127.0.0.1:9/api/")
    found = await _findings(nowhere)
    assert found["Slack token"].state == "bad"
    assert "reaches slack.com" in found["Slack token"].remedy


async def test_a_missing_app_token_is_named_with_its_fix(server: SlackServer) -> None:
    found = await _findings(settings(server, app_token=None))
    assert found["Slack events"].state == "bad"
    found = await _findings(settings(server, signing_secret=SecretStr("s")))
    assert found["Slack events"].state == "note"


def test_secrets_are_not_printed() -> None:
    settings_with_secret = slack.Settings(bot_token=SecretStr("xoxb-hush"), app_token=SecretStr("xapp-hush"))
    assert "hush" not in repr(settings_with_secret) + str(settings_with_secret)
