from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import yaml

from adapters.slack.installation import required_permissions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from adapters.slack.settings import Settings
    from bot.port import CommandSpec

Tree: TypeAlias = "str | bool | int | Sequence[Tree] | Mapping[str, Tree]"

_WIDTH = 1000
_EXAMPLE = "https://bot.example.org"
_HEADER = """# Footnote in Slack. Made by `footnote setup slack`; do not edit.
# 1. api.slack.com/apps > Create New App > From a manifest: paste this.
# 2. Install the app; OAuth & Permissions > Bot User OAuth Token (xoxb-…) is SLACK_BOT_TOKEN.
#    Knowledge bases made with `footnote add` are seen in this workspace alone: FOOTNOTE_ACCESS__WORKSPACES names others.
"""
_SOCKET = """# 3. Basic Information > App-Level Tokens > Generate, with the scope connections:write (xapp-…): SLACK_APP_TOKEN.
# 4. footnote doctor, then footnote run; in Slack: /invite @footnote
"""
_HTTP = """# 3. Basic Information > Signing Secret is SLACK_SIGNING_SECRET.
# 4. footnote doctor, then footnote run; in Slack: /invite @footnote
"""


def setup(settings: Settings, commands: Sequence[CommandSpec]) -> str:
    http = settings.app_token is None and settings.signing_secret is not None
    address = (settings.public_url.rstrip("/") or _EXAMPLE) + settings.http_path if http else ""
    text = yaml.safe_dump(
        manifest(commands, address=address), sort_keys=False, allow_unicode=True, width=_WIDTH
    )
    return _HEADER + (_HTTP if http else _SOCKET) + text


def manifest(commands: Sequence[CommandSpec], *, address: str = "") -> dict[str, Tree]:
    """With an address by HTTP, else by Socket Mode."""
    request: dict[str, Tree] = {"request_url": address} if address else {}
    return {
        "_metadata": {"major_version": 2, "minor_version": 1},
        "display_information": {
            "name": "Footnote",
            "description": "Answers from your team's files, with citations anyone can check",
        },
        "features": _features(commands, address),
        "oauth_config": {"scopes": {"bot": [scope.name for scope in required_permissions.SCOPES]}},
        "settings": {
            "event_subscriptions": {**request, "bot_events": list(required_permissions.EVENTS)},
            "interactivity": {"is_enabled": True, **request},
            "org_deploy_enabled": False,
            "socket_mode_enabled": not address,
            "token_rotation_enabled": False,
        },
    }


def _features(commands: Sequence[CommandSpec], address: str) -> dict[str, Tree]:
    url: dict[str, Tree] = {"url": address} if address else {}
    slash: list[Tree] = [
        {
            "command": f"/{command.name}",
            **url,
            "description": command.description,
            **({"usage_hint": command.hint} if command.hint else {}),
            "should_escape": True,
        }
        for command in required_permissions.slash_commands(commands)
    ]
    return {
        "app_home": {
            "home_tab_enabled": True,
            "messages_tab_enabled": True,
            "messages_tab_read_only_enabled": False,
        },
        "agent_view": {"agent_description": "Answers from your team's files, with citations"},
        "bot_user": {"display_name": "footnote", "always_online": True},
        "shortcuts": [
            {
                "name": "Ask about this",
                "type": "message",
                "callback_id": required_permissions.ASK_SHORTCUT,
                "description": "Only you see the answer",
            },
            {
                "name": "Save as verified",
                "type": "message",
                "callback_id": required_permissions.SAVE_SHORTCUT,
                "description": "The answer to the first message of its thread",
            },
        ],
        "slash_commands": slash,
    }
