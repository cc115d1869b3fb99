"""What Discord must grant, in one table: the invite link, the steps of a setup and the checks of `doctor` come from here."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import TYPE_CHECKING

import discord

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adapters.discord.settings import Settings
    from bot.port import CommandSpec

SCOPES = ("bot", "applications.commands")
PORTAL = "https://discord.com/developers/applications"


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """A permission of the bot's role: discord.py's name, Discord's label, and what it is for."""

    name: str
    label: str
    purpose: str


PERMISSIONS = (
    Permission(name="view_channel", label="View Channels", purpose="see the channels it is asked in"),
    Permission(name="send_messages", label="Send Messages", purpose="answer"),
    Permission(
        name="create_public_threads",
        label="Create Public Threads",
        purpose="answer in a thread under the question",
    ),
    Permission(
        name="send_messages_in_threads", label="Send Messages in Threads", purpose="answer in threads"
    ),
    Permission(
        name="read_message_history", label="Read Message History", purpose="know what a follow-up refers to"
    ),
    Permission(name="attach_files", label="Attach Files", purpose="show pages of cited files"),
)


def intents(settings: Settings) -> discord.Intents:
    """The least that the settings need: servers and their channels, messages, and what stands in them."""
    wanted = discord.Intents.none()
    wanted.guilds = wanted.guild_messages = wanted.dm_messages = True
    wanted.message_content = settings.message_content
    return wanted


def permissions() -> discord.Permissions:
    """All of the table, as Discord counts it."""
    return discord.Permissions(**{permission.name: True for permission in PERMISSIONS})


def missing(granted: discord.Permissions) -> list[Permission]:
    """What of the table is not granted; an administrator has all."""
    if granted.administrator:
        return []
    return [permission for permission in PERMISSIONS if not getattr(granted, permission.name)]


def invite(application: str) -> str:
    """The link by which somebody who manages a server lets the bot in."""
    return f"https://discord.com/oauth2/authorize?client_id={application}&scope={'+'.join(SCOPES)}&permissions={permissions().value}"


def application_of(token: str) -> str:
    """The application a bot token belongs to: its first part is that id. Empty when it does not look like one."""
    first = token.partition(".")[0]
    try:
        decoded = base64.b64decode(first + "=" * (-len(first) % 4), validate=True).decode()
    except (binascii.Error, ValueError):
        return ""
    return decoded if decoded.isdecimal() else ""


def setup(settings: Settings, commands: Sequence[CommandSpec]) -> str:
    """The steps from nothing to a bot that answers, as text for a terminal."""
    application = application_of(settings.token.get_secret_value())
    page = f"{PORTAL}/{application}" if application else PORTAL
    steps = [
        f"Open {page} (there, New Application makes one) and copy the bot's token (Bot, Reset Token) into DISCORD_TOKEN.",
        *_intent_steps(settings, page),
        "Open this link and choose your server:\n   " + invite(application or "YOUR_APPLICATION_ID"),
        f"Start the bot with `footnote run`: it registers its commands itself ({_names(commands)}, and Apps > Ask about this).",
        "In a channel, mention the bot with a question, or drop a file and ask about it.",
    ]
    rights = [f"   - {permission.label}: to {permission.purpose}" for permission in PERMISSIONS]
    numbered = [f"{number}. {step}" for number, step in enumerate(steps, start=1)]
    return "\n".join([*numbered, "", "The link asks for these permissions and no others:", *rights, ""])


def _intent_steps(settings: Settings, page: str) -> list[str]:
    if not settings.message_content:
        return []
    where = f"{page}/bot" if page != PORTAL else "the page Bot"
    return [f"On {where}, switch on Message Content Intent and save: without it only mentions are readable."]


def _names(commands: Sequence[CommandSpec]) -> str:
    return ", ".join(dict.fromkeys("/" + command.name.split()[0] for command in commands)) or "none yet"
