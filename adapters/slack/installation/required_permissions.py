from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.port import CommandSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthScope:
    """`why` completes "without it the bot cannot …"."""

    name: str
    why: str
    optional: bool = False


ASK_SHORTCUT = "ask_about_this"
SAVE_SHORTCUT = "save_as_verified"

SCOPES = (
    OAuthScope(name="app_mentions:read", why="receive mentions"),
    OAuthScope(
        name="assistant:write", why="appear among Slack's agents and suggest questions", optional=True
    ),
    OAuthScope(name="channels:history", why="read the thread it was asked in, in public channels"),
    OAuthScope(name="channels:read", why="know who can read a public channel"),
    OAuthScope(name="chat:write", why="answer"),
    OAuthScope(name="commands", why="offer slash commands and the shortcut of messages"),
    OAuthScope(name="files:read", why="read the files that people drop"),
    OAuthScope(name="files:write", why="send pictures of pages, and exports"),
    OAuthScope(name="groups:history", why="read the thread it was asked in, in private channels"),
    OAuthScope(name="groups:read", why="know who can read a private channel"),
    OAuthScope(name="im:history", why="read direct messages with it"),
    OAuthScope(name="im:read", why="tell direct messages from channels"),
    OAuthScope(name="im:write", why="send a file to one person alone"),
    OAuthScope(name="mpim:history", why="read the thread it was asked in, in group messages"),
    OAuthScope(name="mpim:read", why="know who can read a group message"),
    OAuthScope(name="reactions:write", why="mark messages whose files it has read", optional=True),
    OAuthScope(
        name="search:read.public",
        why="search the messages of public channels where `/kb settings messages:on` allows it",
        optional=True,
    ),
    OAuthScope(name="usergroups:read", why="let user groups administer"),
    OAuthScope(name="users:read", why="know names, guests and administrators"),
)

EVENTS = (
    "app_home_opened",
    "app_mention",
    "app_uninstalled",
    "member_joined_channel",
    "message.channels",
    "message.groups",
    "message.im",
    "message.mpim",
    "tokens_revoked",
)

BUILT_IN_COMMANDS = frozenset(
    {
        "apps",
        "archive",
        "away",
        "call",
        "collapse",
        "dm",
        "dnd",
        "expand",
        "feed",
        "feedback",
        "invite",
        "join",
        "leave",
        "me",
        "msg",
        "mute",
        "open",
        "prefs",
        "pro",
        "remind",
        "remove",
        "rename",
        "search",
        "shortcuts",
        "shrug",
        "star",
        "status",
        "topic",
        "who",
    }
)
"""Slack refuses manifests with these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestCommand:
    name: str
    description: str
    hint: str = ""


def slash_commands(specs: Sequence[CommandSpec]) -> list[ManifestCommand]:
    """Subcommands become the hint."""
    words: dict[str, list[CommandSpec]] = {}
    for spec in specs:
        words.setdefault(spec.name.split()[0], []).append(spec)
    return [_slash_command(word, each) for word, each in words.items() if word not in BUILT_IN_COMMANDS]


def _slash_command(word: str, specs: Sequence[CommandSpec]) -> ManifestCommand:
    subcommands = [spec.name.partition(" ")[2] for spec in specs]
    if any(subcommands):
        return ManifestCommand(
            name=word,
            description="Knowledge bases: view, add, administer",
            hint=" | ".join(filter(None, subcommands)),
        )
    choices = [
        f"[{option.choices[-1]}:]" for option in specs[0].options if option.choices and not option.named
    ]
    words = [
        option.name if option.required else f"[{option.name}]"
        for option in specs[0].options
        if option.named or not option.choices
    ]
    return ManifestCommand(name=word, description=specs[0].description, hint=" ".join([*choices, *words]))
