"""The permissions table and the setup text."""

from __future__ import annotations

import discord
from pydantic import SecretStr

from adapters.discord import Settings, setup
from adapters.discord.installation import required_permissions
from tests.unit.adapters.discord.conftest import SPECS

TOKEN = SecretStr("MTIzNDU2Nzg5MDEyMzQ1Njc4.Gabc.secret")


def test_setup_names_every_step() -> None:
    text = setup(Settings(token=TOKEN), SPECS)
    link = "https://discord.com/oauth2/authorize?client_id=123456789012345678&scope=bot+applications.commands&permissions="
    assert link + str(required_permissions.permissions().value) in text
    assert "Message Content Intent" in text
    assert "/ask, /kb" in text
    assert "secret" not in text
    assert "switch off Public Bot" in text
    assert "FOOTNOTE_ACCESS__WORKSPACES" in text
    for permission in required_permissions.PERMISSIONS:
        assert permission.label in text


def test_setup_without_the_intent_does_not_ask_for_it() -> None:
    assert "Message Content" not in setup(Settings(token=TOKEN, message_content=False), SPECS)


def test_the_application_of_a_token() -> None:
    assert required_permissions.application_of(TOKEN.get_secret_value()) == "123456789012345678"
    for other in ("", "no", "====", "bm8.x.y", "\u00e9.x"):
        assert required_permissions.application_of(other) == ""
    assert "YOUR_APPLICATION_ID" in setup(Settings(token=SecretStr("no")), SPECS)


def test_the_link_asks_for_the_table_and_nothing_else() -> None:
    granted = {name for name, given in required_permissions.permissions() if given}
    assert {discord.Permissions(**{each.name: True}).value for each in required_permissions.PERMISSIONS} == {
        discord.Permissions(**{name: True}).value for name in granted
    }
    assert not required_permissions.permissions().administrator
    assert required_permissions.missing(required_permissions.permissions()) == []
    assert required_permissions.missing(discord.Permissions(administrator=True)) == []
    assert required_permissions.missing(discord.Permissions.none()) == list(required_permissions.PERMISSIONS)
