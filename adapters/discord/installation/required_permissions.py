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
    """`name` is discord.py's, `label` is Discord's."""

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
    Permission(name="add_reactions", label="Add Reactions", purpose="mark messages whose files it has read"),
    Permission(name="attach_files", label="Attach Files", purpose="show pages of cited files"),
)


def intents(settings: Settings) -> discord.Intents:
    needed = discord.Intents.none()
    needed.guilds = needed.guild_messages = needed.dm_messages = True
    needed.message_content = settings.message_content
    return needed


def permissions() -> discord.Permissions:
    return discord.Permissions(**{permission.name: True for permission in PERMISSIONS})


def missing(granted: discord.Permissions) -> list[Permission]:
    if granted.administrator:
        return []
    return [permission for permission in PERMISSIONS if not getattr(granted, permission.name)]


def invite(application: str) -> str:
    return f"https://discord.com/oauth2/authorize?client_id={application}&scope={'+'.join(SCOPES)}&permissions={permissions().value}"


def application_of(token: str) -> str:
    first = token.partition(".")[0]
    try:
        decoded = base64.b64decode(first + "=" * (-len(first) % 4), validate=True).decode()
    except (binascii.Error, ValueError):
        return ""
    return decoded if decoded.isdecimal() else ""


def setup(settings: Settings, commands: Sequence[CommandSpec]) -> str:
    application = application_of(settings.token.get_secret_value())
    page = f"{PORTAL}/{application}" if application else PORTAL
    steps = [
        f"Open {page} (there, New Application makes one) and copy the bot's token (Bot, Reset Token) into DISCORD_TOKEN.",
        *_intent_steps(settings, page),
        "Open this link and choose your server:\n   " + invite(application or "YOUR_APPLICATION_ID"),
        f"{_page_of_bot(page)}, switch off Public Bot and save: else anyone can invite the bot to their server.",
        "Put your server's id into FOOTNOTE_ACCESS__WORKSPACES (in Discord: Settings, Advanced, Developer Mode; then right-click the "
        "server, Copy Server ID). A server that is not listed there sees no knowledge base made by `footnote add`.",
        f"Start the bot with `footnote run`: it registers its commands itself ({_names(commands)}, and Apps > Ask about this, Save as verified).",
        "In a channel, mention the bot with a question, or drop a file and ask about it.",
    ]
    rights = [f"   - {permission.label}: to {permission.purpose}" for permission in PERMISSIONS]
    numbered = [f"{number}. {step}" for number, step in enumerate(steps, start=1)]
    return "\n".join([*numbered, "", "The link asks for these permissions and no others:", *rights, ""])


def _intent_steps(settings: Settings, page: str) -> list[str]:
    if not settings.message_content:
        return []
    return [
        f"{_page_of_bot(page)}, switch on Message Content Intent and save: without it only mentions are readable."
    ]


def _page_of_bot(page: str) -> str:
    return f"On {page}/bot" if page != PORTAL else "On the page Bot"


def _names(commands: Sequence[CommandSpec]) -> str:
    return ", ".join(dict.fromkeys("/" + command.name.split()[0] for command in commands)) or "none yet"
