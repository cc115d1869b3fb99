"""Pure: the manifest that an app is made from."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, TypeAlias

from adapters.slack import needs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from adapters.slack.settings import Settings
    from bot.port import CommandSpec

Tree: TypeAlias = "str | bool | int | Sequence[Tree] | Mapping[str, Tree]"

_PLAIN = re.compile(r"[A-Za-z/][\w/.:-]*")
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
_EXAMPLE = "https://bot.example.org"
_HEADER = """# Footnote in Slack. Made by `footnote setup slack`; do not edit.
# 1. api.slack.com/apps > Create New App > From a manifest: paste this.
# 2. Install the app; OAuth & Permissions > Bot User OAuth Token (xoxb-…) is SLACK_BOT_TOKEN.
"""
_SOCKET = """# 3. Basic Information > App-Level Tokens > Generate, with the scope connections:write (xapp-…): SLACK_APP_TOKEN.
# 4. footnote doctor, then footnote run; in Slack: /invite @footnote
"""
_HTTP = """# 3. Basic Information > Signing Secret is SLACK_SIGNING_SECRET.
# 4. footnote doctor, then footnote run; in Slack: /invite @footnote
"""


def setup(settings: Settings, commands: Sequence[CommandSpec]) -> str:
    """The manifest as YAML, with the steps around it."""
    http = settings.app_token is None and settings.signing_secret is not None
    address = (settings.public_url.rstrip("/") or _EXAMPLE) + settings.http_path if http else ""
    lines = [*_lines(manifest(commands, address=address), 0)]
    return _HEADER + (_HTTP if http else _SOCKET) + "\n".join(lines) + "\n"


def manifest(commands: Sequence[CommandSpec], *, address: str = "") -> dict[str, Tree]:
    """The manifest; with an address events come there by HTTP, without one by Socket Mode."""
    request: dict[str, Tree] = {"request_url": address} if address else {}
    return {
        "_metadata": {"major_version": 2, "minor_version": 1},
        "display_information": {
            "name": "Footnote",
            "description": "Answers from your team's files, with citations anyone can check",
        },
        "features": _features(commands, address),
        "oauth_config": {"scopes": {"bot": [scope.name for scope in needs.SCOPES]}},
        "settings": {
            "event_subscriptions": {**request, "bot_events": list(needs.EVENTS)},
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
        for command in needs.slash_commands(commands)
    ]
    return {
        "app_home": {
            "home_tab_enabled": False,
            "messages_tab_enabled": True,
            "messages_tab_read_only_enabled": False,
        },
        "agent_view": {"agent_description": "Answers from your team's files, with citations"},
        "bot_user": {"display_name": "footnote", "always_online": True},
        "shortcuts": [
            {
                "name": "Ask about this",
                "type": "message",
                "callback_id": needs.ASK_SHORTCUT,
                "description": "Only you see the answer",
            }
        ],
        "slash_commands": slash,
    }


def _lines(tree: Mapping[str, Tree] | Sequence[Tree], depth: int) -> Iterator[str]:
    """YAML of what stands at that depth."""
    space = "  " * depth
    if isinstance(tree, dict):
        for name, value in tree.items():
            if isinstance(value, (dict, list)):
                yield f"{space}{name}:"
                yield from _lines(value, depth + 1)
            else:
                yield f"{space}{name}: {_scalar(value)}"
        return
    for value in tree:
        if isinstance(value, dict):
            first, *rest = _lines(value, depth + 1)
            yield f"{space}- {first.strip()}"
            yield from rest
        else:
            yield f"{space}- {_scalar(value)}"


def _scalar(value: Tree) -> str:
    if isinstance(value, str) and _PLAIN.fullmatch(value) and not value.endswith(":") and value not in _WORDS:
        return value
    return json.dumps(value, ensure_ascii=False)
