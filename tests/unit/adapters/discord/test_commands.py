"""Commands as Discord's JSON, and when they differ."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.discord.installation.commands import ASK_ABOUT_THIS, SAVE_AS_VERIFIED, differences, payloads
from adapters.discord.outlets import buttons
from adapters.discord.outlets.page_content import nonce
from bot.commands import SPECS as OURS
from bot.port import Button, CommandSpec, Option
from tests.unit.adapters.discord.conftest import SPECS


def _by_name(specs: Any) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in payloads(specs)}


def test_commands_groups_and_the_menu() -> None:
    made = _by_name(SPECS)
    assert list(made) == ["ask", "kb", ASK_ABOUT_THIS, SAVE_AS_VERIFIED]
    assert made["ask"]["options"][1]["choices"][1] == {"name": "channel", "value": "channel"}
    assert made["ask"]["default_member_permissions"] is None
    assert made["ask"]["contexts"] == [0, 1]
    assert made["kb"]["contexts"] == [0]
    assert made["kb"]["default_member_permissions"] == str(1 << 5)
    listed, add = made["kb"]["options"]
    assert (listed["name"], listed["type"]) == ("list", 1)
    assert [(option["name"], option["type"]) for option in add["options"]] == [("file", 11), ("into", 7)]
    assert (made[ASK_ABOUT_THIS]["type"], made[ASK_ABOUT_THIS]["description"]) == (3, "")


def test_our_own_commands_keep_to_the_limits_of_discord() -> None:
    for command in payloads(OURS):
        assert len(command["name"]) <= 32
        assert len(command["description"]) <= 100
        assert len(command["options"]) <= 25
        for option in command["options"]:
            assert 0 < len(option["description"]) <= 100
            for inner in option.get("options", ()):
                assert len(inner.get("choices", ())) <= 25
                assert 0 < len(inner["description"]) <= 100


def test_a_workspace_is_called_a_server() -> None:
    (create,) = [each for each in _by_name(OURS)["kb"]["options"] if each["name"] == "create"]
    (readers,) = [each for each in create["options"] if each["name"] == "readers"]
    assert readers["choices"] == [
        {"name": "channel", "value": "channel"},
        {"name": "server", "value": "server"},
    ]
    assert "workspace" not in str(payloads(OURS))


def test_a_group_is_only_hidden_when_all_of_it_is_for_admins() -> None:
    mixed = (
        CommandSpec(name="kb list", description="x"),
        CommandSpec(name="kb drop", description="y", admin=True),
    )
    assert _by_name(mixed)["kb"]["default_member_permissions"] is None


def test_defaults_of_discord_are_no_difference() -> None:
    wanted = payloads(SPECS)
    registered: list[dict[str, Any]] = [
        {**each, "id": "1", "version": "2", "application_id": "3", "nsfw": False, "name_localizations": None}
        for each in wanted
    ]
    for each in registered:
        if not each["options"]:
            del each["options"]
        for option in each.get("options", ()):
            if option.get("required") is False:
                option.pop("required")
    entry_point = {"name": "launch", "type": 4}
    assert differences(payloads(SPECS), [*registered, entry_point]) == []


@pytest.mark.parametrize(
    "change",
    [
        {"description": "Other"},
        {"default_member_permissions": "8"},
        {"contexts": [0]},
        {"options": []},
    ],
)
def test_differences(change: dict[str, Any]) -> None:
    registered = [{**each, **change} if each["name"] == "ask" else each for each in payloads(SPECS)]
    assert differences(payloads(SPECS), registered) == ["ask"]


def test_more_and_fewer_commands_are_differences() -> None:
    assert differences(payloads(SPECS), []) == ["ask", "kb", ASK_ABOUT_THIS, SAVE_AS_VERIFIED]
    assert differences(payloads(SPECS[:1]), payloads(SPECS)) == ["kb"]
    optional = CommandSpec(name="ask", description="x", options=(Option(name="q", description="q"),))
    required = CommandSpec(
        name="ask", description="x", options=(Option(name="q", description="q", required=True),)
    )
    assert differences(payloads([optional]), payloads([required])) == ["ask"]


def test_custom_ids_carry_name_and_value() -> None:
    longest = Button(name="promote", label="Promote", value="v" * 83)
    made = buttons.custom_id(longest.name, longest.value)
    assert len(made) == 100
    assert buttons.parse_custom_id(made) == (longest.name, longest.value)
    assert buttons.parse_custom_id(buttons.custom_id("a", "b:c")) == ("a", "b:c")
    assert buttons.parse_custom_id(buttons.custom_id("a", "")) == ("a", "")
    assert buttons.parse_custom_id("other:a:b") is None
    with pytest.raises(ValueError, match="100 characters"):
        buttons.custom_id("promote", "v" * 84)
    with pytest.raises(ValueError, match="does not fit"):
        buttons.custom_id("a:b", "c")


def test_nonces_are_short_and_unique() -> None:
    made = {
        nonce(key, part, attempt) for key in ("1:0", "1:1", "2:0") for part in range(12) for attempt in (0, 1)
    }
    assert len(made) == 72
    assert all(len(each) <= 25 for each in made)
    assert nonce("1:0", 0, 0) == nonce("1:0", 0, 0)
