"""Everything that Slack must grant, in one place: `check` asks for it and `setup` writes it into the manifest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.port import CommandSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """A permission of the bot token, and what does not work without it."""

    name: str
    why: str
    wanted_only: bool = False
    """Nothing breaks without it."""


ASK_SHORTCUT = "ask_about_this"

SCOPES = (
    Scope(name="app_mentions:read", why="hear that it is mentioned"),
    Scope(name="assistant:write", why="stand among Slack's agents", wanted_only=True),
    Scope(name="channels:history", why="read the thread it was asked in, in public channels"),
    Scope(name="channels:read", why="know who can read a public channel"),
    Scope(name="chat:write", why="answer"),
    Scope(name="commands", why="offer slash commands and the shortcut of messages"),
    Scope(name="files:read", why="read the files that people drop"),
    Scope(name="files:write", why="send pictures of pages, and exports"),
    Scope(name="groups:history", why="read the thread it was asked in, in private channels"),
    Scope(name="groups:read", why="know who can read a private channel"),
    Scope(name="im:history", why="read direct messages with it"),
    Scope(name="im:read", why="know direct messages from channels"),
    Scope(name="im:write", why="send a file to one person alone"),
    Scope(name="mpim:history", why="read the thread it was asked in, in group messages"),
    Scope(name="mpim:read", why="know who can read a group message"),
    Scope(name="usergroups:read", why="let user groups administer"),
    Scope(name="users:read", why="know names, guests and administrators"),
)

EVENTS = (
    "app_mention",
    "app_uninstalled",
    "message.channels",
    "message.groups",
    "message.im",
    "message.mpim",
    "tokens_revoked",
)
"""What `Intake.event` deals with; nothing else is asked for."""

BUILT_IN = frozenset(
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
"""Slack's own commands: an app that asks for one of these names cannot be set up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlashCommand:
    """A command as Slack lists it: one word, and a hint at what may follow."""

    name: str
    description: str
    hint: str = ""


def slash_commands(specs: Sequence[CommandSpec]) -> list[SlashCommand]:
    """One for each first word; subcommands become its hint. Names that are Slack's own are left out."""
    words: dict[str, list[CommandSpec]] = {}
    for spec in specs:
        words.setdefault(spec.name.split()[0], []).append(spec)
    return [_slash_command(word, each) for word, each in words.items() if word not in BUILT_IN]


def _slash_command(word: str, specs: Sequence[CommandSpec]) -> SlashCommand:
    subcommands = [spec.name.partition(" ")[2] for spec in specs]
    if any(subcommands):
        return SlashCommand(
            name=word,
            description="Knowledge bases: look, add, administer",
            hint=" | ".join(filter(None, subcommands)),
        )
    choices = [f"[{option.choices[-1]}:]" for option in specs[0].options if option.choices]
    words = [
        option.name if option.required else f"[{option.name}]"
        for option in specs[0].options
        if not option.choices
    ]
    return SlashCommand(name=word, description=specs[0].description, hint=" ".join([*choices, *words]))
