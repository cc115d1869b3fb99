from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from adapters.slack import locations, markdown
from adapters.slack.api import call_api, next_cursor
from adapters.slack.incoming import downloads
from adapters.slack.incoming.block_text import blocks_text, forwarded, forwarded_text, message_text
from adapters.slack.locations import is_direct
from bot.port import Gone, IncomingMessage, Person, Unreadable, WriteRefused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adapters.slack.context import SlackContext
    from adapters.slack.directory import SlackDirectory
    from bot.port import Fields, Place

_log = logging.getLogger(__name__)
_WRITTEN_SUBTYPES = frozenset({"", "file_share", "thread_broadcast", "bot_message"})
_PAGE_SIZE = 200
_MOST_PAGES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageReader:
    context: SlackContext
    directory: SlackDirectory
    workspace: str = ""
    """Of the events it reads; empty: the one the token was made for."""

    async def read(self, raw: Fields, *, channel: str, direct: bool) -> IncomingMessage | None:
        """None for joins, topics, tombstones. Raises `Unreadable`."""
        if not is_written(raw):
            return None
        workspace = self.context.workspace
        ts, root = raw.need_text("ts"), raw.text("thread_ts")
        uri = workspace.permalink(channel, ts, root)
        text, quoted = message_text(raw), forwarded_text(raw)
        everything = "\n".join((text, raw.text("text"), blocks_text(raw.objects("blocks"))))
        mentioned = markdown.mentioned_people(everything + quoted)
        ours = is_ours(raw, workspace.user, workspace.bot)
        person, names, attachments = await asyncio.gather(
            self._author(raw),
            self._names(mentioned),
            downloads.attachments(self.context, _files(raw), uri=uri),
        )
        own_text = markdown.to_commonmark(text, bot_user=workspace.user, names=names)
        quote = _as_quote(markdown.to_commonmark(quoted, bot_user=workspace.user, names=names))
        return IncomingMessage(
            id=ts,
            place=self.place(channel, ts=ts, root=root, direct=direct),
            person=person,
            text="\n\n".join(part for part in (own_text, quote) if part),
            attachments=attachments,
            addressed=direct or workspace.user in mentioned or raw.text("parent_user_id") == workspace.user,
            to_others=markdown.mentions_others(everything, workspace.user),
            by_bot=bool(raw.text("bot_id")) and not ours,
            in_thread=bool(root) and root != ts,
            uri=uri,
            at=_seconds(raw, ts),
            ours=ours,
        )

    def place(self, channel: str, *, ts: str, root: str, direct: bool) -> Place:
        team = self.workspace or self.context.workspace.team
        return locations.answer_place(team, channel, ts=ts, root=root, direct=direct)

    async def for_event(self, team: str, channel: str) -> MessageReader:
        workspace = await self.directory.workspace_of(team, channel)
        return replace(self, workspace=workspace)

    async def find(self, channel: str, ts: str, thread: str = "") -> Fields | None:
        """Raises `ChatError`."""
        self.context.history_pace.note()
        client = self.context.read_client
        window = {"channel": channel, "latest": ts, "oldest": ts, "inclusive": True, "limit": 2}
        if thread and thread != ts:
            page = await call_api("conversations.replies", client.conversations_replies(ts=thread, **window))
        else:
            page = await call_api("conversations.history", client.conversations_history(**window))
        return next((each for each in page.need_objects("messages") if each.text("ts") == ts), None)

    async def before(self, channel: str, *, ts: str, thread: str, limit: int) -> list[IncomingMessage]:
        raw = await (
            self._thread_before(channel, thread, ts) if thread else self._channel_before(channel, ts, limit)
        )
        direct = is_direct(channel)
        messages = await asyncio.gather(
            *(self.read_if_readable(message, channel=channel, direct=direct) for message in raw[-limit:])
        )
        return [message for message in messages if message is not None]

    async def fetch(self, address: str) -> IncomingMessage | None:
        link = locations.parse_link(address, self.context.workspace.url)
        if link is None:
            return None
        try:
            raw = await self.find(link.channel, link.ts, link.thread)
        except (Gone, WriteRefused):
            return None
        if raw is None:
            return None
        return await self.read(raw, channel=link.channel, direct=is_direct(link.channel))

    async def read_if_readable(self, raw: Fields, *, channel: str, direct: bool) -> IncomingMessage | None:
        try:
            return await self.read(raw, channel=channel, direct=direct)
        except Unreadable as error:
            _log.warning("An earlier message is left out: %s", error)
            return None

    async def _author(self, raw: Fields) -> Person:
        user, bot = raw.text("user"), raw.text("bot_id")
        if bot or not user:
            return Person(id=user or bot, name=raw.object("bot_profile").text("name") or raw.text("username"))
        return await self.directory.person(user)

    async def _names(self, users: Sequence[str]) -> dict[str, str]:
        people = await asyncio.gather(*(self.directory.person(user) for user in users))
        return {person.id: person.name for person in people}

    async def _thread_before(self, channel: str, thread: str, ts: str) -> list[Fields]:
        messages: dict[str, Fields] = {}
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            self.context.history_pace.note()
            page = await call_api(
                "conversations.replies",
                self.context.read_client.conversations_replies(
                    channel=channel, ts=thread, latest=ts or None, limit=_PAGE_SIZE, cursor=cursor
                ),
            )
            messages |= {each.text("ts"): each for each in page.need_objects("messages")}
            cursor = next_cursor(page)
            if not cursor:
                break
        return [messages[each] for each in sorted(messages) if each and (not ts or each < ts)]

    async def _channel_before(self, channel: str, ts: str, limit: int) -> list[Fields]:
        self.context.history_pace.note()
        page = await call_api(
            "conversations.history",
            self.context.read_client.conversations_history(channel=channel, latest=ts or None, limit=limit),
        )
        return list(reversed(page.need_objects("messages")))


def is_written(raw: Fields) -> bool:
    return raw.text("subtype") in _WRITTEN_SUBTYPES and bool(raw.text("ts"))


def is_ours(raw: Fields, user: str, bot: str) -> bool:
    return raw.text("user") == user or bool(bot and raw.text("bot_id") == bot)


def recipient_team(raw: Fields) -> str:
    return raw.text("user_team") or raw.text("team")


def _seconds(raw: Fields, ts: str) -> float:
    try:
        return float(ts)
    except ValueError as error:
        raise Unreadable(f"{raw.source}: the field ts is no time.") from error


def _as_quote(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _files(raw: Fields) -> list[Fields]:
    shared = [file for each in forwarded(raw) for file in each.objects("files")]
    files = [*raw.objects("files"), *shared]
    return list({file.text("id"): file for file in files if file.text("id")}.values())
