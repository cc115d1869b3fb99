"""A Slack workspace: people, channels, messages and files, and their JSON."""

from __future__ import annotations

import itertools
import mimetypes
import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from tests.doubles.slack_double.text import flat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tests.doubles.chat_server import Text

Kind = Literal["public", "private", "im", "mpim"]


class SlackError(Exception):
    """`{"ok": false, "error": ...}`."""

    def __init__(self, error: str, **more: object) -> None:
        super().__init__(error)
        self.error = error
        self.more = more


@dataclass(slots=True, kw_only=True)
class User:
    id: str
    name: str
    admin: bool = False
    guest: bool = False
    bot: str = ""
    """The bot id; empty for people."""
    stranger: bool = False
    """A person of another organisation, in a shared channel."""
    locale: str = "en-US"


@dataclass(slots=True, kw_only=True)
class Channel:
    id: str
    name: str
    kind: Kind = "public"
    external: bool = False
    facts: dict[str, Any] = field(default_factory=dict[str, Any])
    """More fields of its JSON, such as `is_org_shared`."""
    archived: bool = False
    members: set[str] = field(default_factory=set)


@dataclass(slots=True, kw_only=True)
class SlackFile:
    id: str
    name: str
    content: bytes
    media_type: str
    user: str
    channels: list[str] = field(default_factory=list)
    deleted: bool = False
    url: str = ""
    subtype: str = ""


@dataclass(slots=True, kw_only=True)
class Stream:
    """The state of a streamed message; `open` until it is stopped or too old."""

    started: float
    open: bool = True
    stopped_by_user: bool = False
    tasks: dict[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Message:
    ts: str
    channel: str
    user: str
    text: str = ""
    markdown: str = ""
    blocks: Sequence[Mapping[str, Any]] = ()
    thread: str = ""
    files: list[str] = field(default_factory=list)
    subtype: str = ""
    metadata: Mapping[str, Any] | None = None
    only_for: str = ""
    edited: str = ""
    stream: Stream | None = None
    reactions: dict[str, set[str]] = field(default_factory=dict)
    texts: list[Text] = field(default_factory=list)
    statuses: list[Text] = field(default_factory=list)

    @property
    def shown(self) -> str:
        parts = [self.markdown, flat(self.blocks)] if self.markdown or self.blocks else [self.text]
        return "\n".join(part for part in parts if part)

    @property
    def streaming(self) -> bool:
        return self.stream is not None and self.stream.open


class World:
    def __init__(self, *, now: Callable[[], float], base_url: Callable[[], str], team: str) -> None:
        self.team = team
        self.domain = team.lower()
        self.users: dict[str, User] = {}
        self.channels: dict[str, Channel] = {}
        self.messages: dict[str, Message] = {}
        self.files: dict[str, SlackFile] = {}
        self.groups: dict[str, tuple[str, list[str]]] = {}
        """User groups: id -> (handle, members)."""
        self._base_url = base_url
        self._epoch = time.time() - now()
        self._now = now
        self._numbers = itertools.count(1)
        self.bot = self.add_user("footnote", bot="BFOOTNOTE")

    # making

    def number(self) -> int:
        return next(self._numbers)

    def time(self) -> float:
        return self._epoch + self._now()

    def stamp(self) -> str:
        """A new `ts`, later than all others."""
        return f"{int(self.time())}.{self.number():06d}"

    def add_user(self, name: str, **facts: Any) -> User:
        user = User(id="U" + _letters(name), name=name, **facts)
        self.users[user.id] = user
        return user

    def add_channel(
        self,
        name: str,
        kind: Kind = "public",
        members: Iterable[User] = (),
        *,
        bot: bool = True,
        **facts: Any,
    ) -> Channel:
        """A channel with these people, and the bot unless it was not invited."""
        letter = "D" if kind == "im" else "C"
        channel = Channel(id=letter + _letters(name), name=name, kind=kind, **facts)
        channel.members = {user.id for user in members} | ({self.bot.id} if bot else set())
        self.channels[channel.id] = channel
        return channel

    def direct(self, user: User) -> Channel:
        name = f"dm {user.name}"
        return self.channels.get("D" + _letters(name)) or self.add_channel(name, "im", [user])

    def add_file(self, user: str, name: str, content: bytes, media_type: str = "") -> SlackFile:
        kind = media_type or mimetypes.guess_type(name)[0] or "application/octet-stream"
        file = SlackFile(id=f"F{self.number():08d}", name=name, content=content, media_type=kind, user=user)
        file.url = f"{self._base_url()}/files-pri/T{self.team}-{file.id}"
        self.files[file.id] = file
        return file

    # looking

    def thread_of(self, root: str) -> list[Message]:
        """The message and its replies, oldest first."""
        return [
            each
            for each in sorted(self.messages.values(), key=lambda each: each.ts)
            if not each.only_for and root in (each.ts, each.thread)
        ]

    def permalink(self, message: Message) -> str:
        path = f"https://{self.domain}.slack.com/archives/{message.channel}/p{message.ts.replace('.', '')}"
        return f"{path}?thread_ts={message.thread}&cid={message.channel}" if message.thread else path

    # wording

    def user_json(self, user: User) -> dict[str, Any]:
        return {
            "id": user.id,
            "team_id": "TOTHER" if user.stranger else f"T{self.team}",
            "name": user.name,
            "real_name": user.name.title(),
            "deleted": False,
            "is_admin": user.admin,
            "is_owner": False,
            "is_primary_owner": False,
            "is_restricted": user.guest,
            "is_ultra_restricted": False,
            "is_stranger": user.stranger,
            "is_bot": bool(user.bot),
            "locale": user.locale,
            "tz": "Europe/Berlin",
            "profile": {"display_name": user.name, "real_name": user.name.title(), "bot_id": user.bot},
        }

    def channel_json(self, channel: Channel) -> dict[str, Any]:
        made: dict[str, Any] = {
            "id": channel.id,
            "is_channel": channel.kind in ("public", "private"),
            "is_group": channel.kind == "private",
            "is_im": channel.kind == "im",
            "is_mpim": channel.kind == "mpim",
            "is_private": channel.kind != "public",
            "is_archived": channel.archived,
            "is_ext_shared": channel.external,
            "is_org_shared": False,
            "is_shared": channel.external,
            "is_pending_ext_shared": False,
            "is_member": self.bot.id in channel.members,
            "is_general": channel.name == "general",
            "context_team_id": f"T{self.team}",
            "num_members": len(channel.members),
            **channel.facts,
        }
        if channel.kind == "im":
            return made | {"user": next(iter(channel.members - {self.bot.id}), "")}
        return made | {"name": channel.name, "name_normalized": channel.name}

    def file_json(self, file: SlackFile) -> dict[str, Any]:
        if file.deleted:
            return {"id": file.id, "mode": "tombstone"}
        return {
            "id": file.id,
            "created": int(time.time()),
            "timestamp": int(time.time()),
            "name": file.name,
            "title": file.name,
            "mimetype": file.media_type,
            "filetype": file.name.rpartition(".")[2],
            "pretty_type": file.media_type,
            "user": file.user,
            "user_team": f"T{self.team}",
            "mode": "hosted",
            "editable": False,
            "size": len(file.content),
            "is_external": False,
            "external_type": "",
            "is_public": True,
            "file_access": "visible",
            "url_private": f"{file.url}/{file.name}",
            "url_private_download": f"{file.url}/download/{file.name}",
            "permalink": f"https://{self.domain}.slack.com/files/{file.user}/{file.id}/{file.name}",
            "channels": file.channels,
            **({"subtype": file.subtype} if file.subtype else {}),
        }

    def files_json(self, message: Message) -> list[dict[str, Any]]:
        """In a channel shared with another organisation it is a stub."""
        if self.channels[message.channel].external:
            stub = {"mode": "file_access", "file_access": "check_file_info"}
            return [{"id": file} | stub for file in message.files]
        return [self.file_json(self.files[file]) for file in message.files]

    def replies(self, channel: str) -> dict[str, list[Message]]:
        """Of all threads of a channel, oldest first, by their first message."""
        found: dict[str, list[Message]] = {}
        for each in self.messages.values():
            if each.channel == channel and each.thread and not each.only_for:
                found.setdefault(each.thread, []).append(each)
        for listed in found.values():
            listed.sort(key=lambda each: each.ts)
        return found

    def message_json(
        self,
        message: Message,
        *,
        metadata: bool = False,
        replies: Mapping[str, list[Message]] | None = None,
    ) -> dict[str, Any]:
        """`replies`: of its channel, if known."""
        user = self.users[message.user]
        made: dict[str, Any] = {
            "type": "message",
            "user": user.id,
            "ts": message.ts,
            "text": message.markdown or message.text,
            "team": f"T{self.team}",
        }
        if user.bot:
            made |= {"bot_id": user.bot, "app_id": "A" + user.bot[1:], "bot_profile": {"id": user.bot}}
        else:
            made["client_msg_id"] = f"client-{message.ts}"
        if message.blocks:
            made["blocks"] = message.blocks
        if message.files:
            made["files"] = self.files_json(message)
        if message.subtype:
            made["subtype"] = message.subtype
        if message.edited and not message.blocks:
            made["edited"] = {"user": user.id, "ts": message.edited}
        if metadata and message.metadata:
            made["metadata"] = message.metadata
        if message.thread:
            made |= {"thread_ts": message.thread, "parent_user_id": self._author(message.thread)}
        else:
            below = self.thread_of(message.ts)[1:] if replies is None else replies.get(message.ts, [])
            if below:
                made |= {"thread_ts": message.ts, "reply_count": len(below), "latest_reply": below[-1].ts}
        return made

    def _author(self, ts: str) -> str:
        return self.messages[ts].user if ts in self.messages else ""


def _letters(name: str) -> str:
    return re.sub(r"[^A-Z0-9]", "", name.upper())
