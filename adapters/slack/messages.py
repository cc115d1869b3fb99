"""Slack's messages as ours: from events, from histories, from links."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from adapters.slack import files, mrkdwn
from adapters.slack.wire import ask
from bot.port import Gone, IncomingMessage, Person, Place, Refused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from adapters.slack.people import People
    from adapters.slack.wire import Wire

PLATFORM = "slack"
_KINDS = frozenset({None, "", "file_share", "thread_broadcast", "bot_message"})
_PATH = re.compile(r"/archives/([A-Z0-9]+)/p(\d{10})(\d{6})/?")
_PAGE = 200
_PAGES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Where a permalink leads."""

    channel: str
    ts: str
    thread: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Messages:
    """Reads messages; everything that has to be asked for on the way is kept a while."""

    wire: Wire
    people: People

    async def read(self, raw: Mapping[str, Any], *, channel: str, direct: bool) -> IncomingMessage | None:
        """The message, or None for what nobody wrote: joins, topics, tombstones."""
        if not is_written(raw):
            return None
        workspace = self.wire.workspace
        ts, root = str(raw["ts"]), str(raw.get("thread_ts") or "")
        uri = workspace.permalink(channel, ts, root)
        text = str(raw.get("text") or "")
        quoted = _quoted(raw)
        mentioned = mrkdwn.people(text + quoted)
        ours = is_ours(raw, workspace.user, workspace.bot)
        person, names, attachments = await asyncio.gather(
            self._author(raw),
            self._names(mentioned),
            files.attachments(self.wire, _files(raw), uri=uri),
        )
        written = mrkdwn.commonmark(text, own=workspace.user, names=names)
        shared = mrkdwn.commonmark(quoted, own=workspace.user, names=names)
        return IncomingMessage(
            id=ts,
            place=self.place(channel, ts=ts, root=root, direct=direct),
            person=person,
            text="\n\n".join(part for part in (written, _as_quote(shared)) if part),
            attachments=attachments,
            addressed=direct or workspace.user in mentioned or raw.get("parent_user_id") == workspace.user,
            to_others=mrkdwn.for_others(text, workspace.user),
            by_bot=bool(raw.get("bot_id")) and not ours,
            in_thread=bool(root) and root != ts,
            uri=uri,
            at=float(ts),
            ours=ours,
        )

    def place(self, channel: str, *, ts: str, root: str, direct: bool) -> Place:
        """Where the message is answered: in its thread, or in the one that the answer opens; direct messages need none."""
        return Place(
            platform=PLATFORM,
            workspace=self.wire.workspace.team,
            channel=channel,
            thread=root or ("" if direct else ts),
        )

    async def find(self, channel: str, ts: str, thread: str = "") -> Mapping[str, Any] | None:
        """The message as Slack has it; None when it is not there."""
        about = {"channel": channel, "latest": ts, "oldest": ts, "inclusive": True, "limit": 2}
        if thread and thread != ts:
            told = await ask(
                "conversations.replies", self.wire.reader.conversations_replies(ts=thread, **about)
            )
        else:
            told = await ask("conversations.history", self.wire.reader.conversations_history(**about))
        return next((message for message in told.get("messages", ()) if message.get("ts") == ts), None)

    async def before(self, channel: str, *, ts: str, thread: str, limit: int) -> list[IncomingMessage]:
        """The last messages before that one, in its thread or in the channel, oldest first."""
        raw = await (
            self._thread_before(channel, thread, ts) if thread else self._channel_before(channel, ts, limit)
        )
        direct = is_direct(channel)
        read = await asyncio.gather(
            *(self.read(message, channel=channel, direct=direct) for message in raw[-limit:])
        )
        return [message for message in read if message is not None]

    async def fetch(self, address: str) -> IncomingMessage | None:
        """The message that a permalink of this workspace leads to; None when it cannot be read."""
        link = parse_link(address, self.wire.workspace.url)
        if link is None:
            return None
        try:
            raw = await self.find(link.channel, link.ts, link.thread)
        except (Gone, Refused):
            return None
        if raw is None:
            return None
        return await self.read(raw, channel=link.channel, direct=is_direct(link.channel))

    async def _author(self, raw: Mapping[str, Any]) -> Person:
        if raw.get("bot_id") or not raw.get("user"):
            name = str((raw.get("bot_profile") or {}).get("name") or raw.get("username") or "")
            return Person(id=str(raw.get("user") or raw.get("bot_id") or ""), name=name)
        return await self.people.person(str(raw["user"]))

    async def _names(self, users: Sequence[str]) -> dict[str, str]:
        known = await asyncio.gather(*(self.people.person(user) for user in users))
        return {person.id: person.name for person in known}

    async def _thread_before(self, channel: str, thread: str, ts: str) -> list[Mapping[str, Any]]:
        """Slack tells a thread from its beginning, its first message on every page."""
        found: dict[str, Mapping[str, Any]] = {}
        cursor: str | None = None
        for _ in range(_PAGES):
            told = await ask(
                "conversations.replies",
                self.wire.reader.conversations_replies(
                    channel=channel, ts=thread, latest=ts or None, limit=_PAGE, cursor=cursor
                ),
            )
            found |= {message["ts"]: message for message in told["messages"]}
            cursor = (told.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                break
        return [found[each] for each in sorted(found) if not ts or each < ts]

    async def _channel_before(self, channel: str, ts: str, limit: int) -> list[Mapping[str, Any]]:
        told = await ask(
            "conversations.history",
            self.wire.reader.conversations_history(channel=channel, latest=ts or None, limit=limit),
        )
        return list(reversed(told["messages"]))


def is_written(raw: Mapping[str, Any]) -> bool:
    """Whether somebody wrote it: no join, no topic, no change of another message."""
    return raw.get("subtype") in _KINDS and bool(raw.get("ts"))


def is_direct(channel: str) -> bool:
    """Whether it is the direct messages of one person and the bot."""
    return channel.startswith("D")


def is_ours(raw: Mapping[str, Any], user: str, bot: str) -> bool:
    """Whether we wrote it."""
    return raw.get("user") == user or bool(bot and raw.get("bot_id") == bot)


def parse_link(address: str, workspace: str) -> Link | None:
    """What a permalink says; None when it is none, or of another workspace."""
    parts = urlsplit(address.strip().strip("<>").partition("|")[0])
    found = _PATH.fullmatch(parts.path)
    if found is None or parts.hostname != urlsplit(workspace).hostname:
        return None
    thread = parse_qs(parts.query).get("thread_ts", [""])[0]
    return Link(channel=found[1], ts=f"{found[2]}.{found[3]}", thread=thread)


def _shared(raw: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Messages that were forwarded in this one; previews of links are none."""
    return [each for each in raw.get("attachments") or () if each.get("is_share")]


def _quoted(raw: Mapping[str, Any]) -> str:
    return "\n\n".join(str(each["text"]) for each in _shared(raw) if each.get("text"))


def _as_quote(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _files(raw: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The files of the message and of what was forwarded in it, each once."""
    listed = [*(raw.get("files") or ()), *(file for each in _shared(raw) for file in each.get("files") or ())]
    return list({file["id"]: file for file in listed if file.get("id")}.values())
