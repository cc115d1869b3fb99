"""A server that speaks Slack's Web API and Socket Mode to the unmodified slack_bolt and slack_sdk, with the people of a workspace.

Limits are sliding windows: `chat.update` 50 a minute, `chat.appendStream` 100, starting and stopping a stream 20,
`chat.postMessage` 10 in 10 seconds per channel. `windows.violations` lists what was refused. A stream takes 12,000 characters
(`stream_characters`) and lives 300 seconds (`stream_lifetime`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.doubles.chat_server import Shown, ShownFile, Text, Upload
from tests.doubles.slack_double import text as slack_text
from tests.doubles.slack_double.events import SlackEvents
from tests.doubles.slack_double.world import Channel, Message, SlackError, User

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.doubles.slack_double.wire import Delivery


class SlackServer(SlackEvents):
    """What people can do, and what they see."""

    def __init__(self, *, team: str = "ACME") -> None:
        super().__init__(team=team)
        self.submissions: list[Delivery] = []

    # making the workspace

    def add_user(self, name: str, **facts: Any) -> User:
        """Options: `admin`, `guest`, `stranger` (of another organisation), `locale`."""
        return self.world.add_user(name, **facts)

    def add_bot(self, name: str) -> User:
        return self.world.add_user(name, bot="B" + name.upper())

    def add_channel(self, name: str, members: Sequence[User] = (), **facts: Any) -> Channel:
        """A channel with these people and the bot; options `kind`, `bot=False`, `external=True`."""
        return self.world.add_channel(name, members=members, **facts)

    def direct(self, user: User | str) -> Channel:
        """The person's direct messages with the bot."""
        return self.world.direct(self.user(user))

    def user_joins(self, user: User | str, channel: Channel | str) -> None:
        place, who = self.channel(channel), self.user(user)
        place.members.add(who.id)
        joined = {"type": "member_joined_channel", "user": who.id, "channel": place.id}
        self.tell(place, joined | {"channel_type": place.id[0], "event_ts": self.world.stamp()})

    def user_leaves(self, user: User | str, channel: Channel | str) -> None:
        self.channel(channel).members.discard(self.user(user).id)
        self.changed()

    # what people do

    async def user_says(
        self,
        user: User | str,
        channel: Channel | str,
        text: str,
        *,
        thread: str = "",
        files: Sequence[Upload] = (),
        subtype: str = "",
    ) -> str:
        """Post a message; returns its ts. A mention is sent to the bot twice, as Slack does."""
        who, place = self.user(user), self.channel(channel)
        shared = [self._share(who, place, file) for file in files]
        message = Message(
            ts=self.world.stamp(),
            channel=place.id,
            user=who.id,
            text=text,
            thread=thread,
            files=shared,
            subtype=subtype or ("file_share" if files else "bot_message" if who.bot else ""),
        )
        message.texts.append(Text(text=text, at=self.now()))
        self.put(message)
        return message.ts

    async def user_uploads(
        self, user: User | str, channel: Channel | str, *files: Upload, text: str = "", thread: str = ""
    ) -> str:
        """Drop files; returns the ts of their message."""
        return await self.user_says(user, channel, text, thread=thread, files=files)

    async def bot_says(self, bot: User, channel: Channel | str, text: str, *, thread: str = "") -> str:
        return await self.user_says(bot, channel, text, thread=thread)

    async def user_edits(self, message: str, text: str) -> None:
        changed = self.world.messages[message]
        previous = self.world.message_json(changed)
        changed.text = text
        changed.edited = self.world.stamp()
        changed.texts.append(Text(text=text, at=self.now()))
        self.tell_change(changed, previous)
        self.changed()

    async def unfurl(self, message: str, url: str = "https://example.org/") -> None:
        """Add a link preview: a change without a new text."""
        changed = self.world.messages[message]
        previous = self.world.message_json(changed)
        preview = {"attachments": [{"from_url": url, "id": 1, "title": "Preview"}]}
        self.tell_change(changed, previous, preview)

    async def user_deletes(self, message: str) -> None:
        """Delete a message; the root of a thread leaves a tombstone."""
        gone = self.world.messages[message]
        previous = self.world.message_json(gone)
        if len(self.world.thread_of(gone.ts)) > 1:
            gone.text, gone.subtype, gone.files = "This message was deleted.", "tombstone", []
            gone.texts.append(Text(text=gone.text, at=self.now()))
            self.tell_change(gone, previous)
            self.changed()
            return
        self.remove(gone)
        event = {"subtype": "message_deleted", "deleted_ts": gone.ts, "previous_message": previous}
        self.tell(self.channel(gone.channel), self.hidden(gone, event))

    async def user_clicks(self, user: User | str, message: str, button: str) -> Delivery:
        """Press the button with that label, start of a label, or action."""
        who, on = self.user(user), self.world.messages[message]
        shown = self.shown(message).button(button)
        block, element = slack_text.element(on.blocks, shown.action)
        action = {
            "action_id": element["action_id"],
            "block_id": block.get("block_id", "b"),
            "type": element["type"],
            "value": shown.value,
            "action_ts": self.world.stamp(),
            "text": {"type": "plain_text", "text": shown.label},
        }
        payload = self.interaction(who, on) | {
            "type": "block_actions",
            "actions": [action],
            "state": {"values": {}},
        }
        if on.only_for:
            payload.pop("message")
        return self.wire.send("interactive", payload)

    async def user_shortcut(self, user: User | str, message: str, callback: str) -> Delivery:
        on = self.world.messages[message]
        payload = self.interaction(self.user(user), on) | {
            "type": "message_action",
            "callback_id": callback,
        }
        return self.wire.send("interactive", payload | {"message_ts": on.ts})

    async def user_commands(self, user: User | str, channel: Channel | str, line: str) -> Delivery:
        """Type a slash command. The body of the acknowledgement is shown; without one Slack reports a failure."""
        who, place = self.user(user), self.channel(channel)
        name, _, text = line.partition(" ")
        url = self.response_url(place.id, who.id)
        names = {"im": "directmessage", "mpim": "mpdm", "private": "privategroup"}
        delivery = self.wire.send(
            "slash_commands",
            {
                "token": "token",
                "team_id": f"T{self.world.team}",
                "team_domain": self.world.domain,
                "channel_id": place.id,
                "channel_name": names.get(place.kind, place.name),
                "user_id": who.id,
                "user_name": who.name,
                "command": name,
                "text": text,
                "api_app_id": "AFOOTNOTE",
                "is_enterprise_install": "false",
                "response_url": url,
                "trigger_id": self.views.trigger(who.id),
            },
        )
        await self._acknowledged(delivery, who, place, name, url)
        return delivery

    async def _acknowledged(self, delivery: Delivery, who: User, place: Channel, name: str, url: str) -> None:
        try:
            await self.wait_for(delivery.done.is_set, seconds=self.wire.ack_seconds)
        except TimeoutError:
            text = f"{name} failed with the error “operation_timeout”"
            self.put(
                Message(ts=self.world.stamp(), channel=place.id, user=who.id, text=text, only_for=who.id)
            )
            return
        if delivery.answer.get("text") or delivery.answer.get("blocks"):
            self.respond(self.responses[url.rpartition("/")[2]], delivery.answer)

    async def user_submits(self, view: str, values: Mapping[str, Mapping[str, Any]]) -> Delivery:
        """Submit a modal; `values` by block and action."""
        modal = self.views.modals[view]
        content = {"id": view, "team_id": f"T{self.world.team}", **modal.content, "state": {"values": values}}
        payload = self.actor(self.world.users[modal.user]) | {"type": "view_submission", "view": content}
        delivery = self.wire.send("interactive", payload | {"response_urls": []})
        await self.wait_for(delivery.done.is_set)
        modal.open = delivery.answer.get("response_action") in ("errors", "update", "push")
        self.submissions.append(delivery)
        self.changed()
        return delivery

    async def user_opens_home(self, user: User | str, tab: str = "home") -> None:
        who = self.user(user)
        place = self.world.direct(who)
        opened = {"type": "app_home_opened", "user": who.id, "channel": place.id, "tab": tab}
        self.tell(place, opened | {"event_ts": self.world.stamp()})

    async def user_stops_stream(self, message: str) -> None:
        """Press Slack's own stop button."""
        stream = self.world.messages[message].stream
        if stream is not None:
            stream.open, stream.stopped_by_user = False, True
        self.changed()

    # what people see

    def visible(self, user: User | str, channel: Channel | str, thread: str = "") -> list[Shown]:
        """What the person sees in the channel or thread, top to bottom."""
        who, place = self.user(user), self.channel(channel)
        if place.kind != "public" and who.id not in place.members:
            return []
        messages = sorted(self.world.messages.values(), key=lambda each: each.ts)
        return [
            self.shown(each.ts)
            for each in messages
            if each.channel == place.id
            and each.only_for in ("", who.id)
            and (thread in (each.ts, each.thread) if thread else not each.thread)
        ]

    def shown(self, message: str) -> Shown:
        found = self.world.messages[message]
        files = [self.world.files[file] for file in (*found.files, *slack_text.pictures(found.blocks))]
        tasks = found.stream.tasks.values() if found.stream else ()
        author = self.world.users[found.user]
        replies = len(self.world.thread_of(found.ts)) - 1
        return Shown(
            id=found.ts,
            channel=found.channel,
            author=author.id,
            name=author.name,
            text=found.shown,
            buttons=slack_text.buttons(found.blocks),
            files=tuple(
                ShownFile(name=file.name, media_type=file.media_type, size=len(file.content), url=file.url)
                for file in files
            ),
            thread=found.thread,
            replies=max(replies, 0),
            replies_in=found.ts if replies > 0 else "",
            only_for=found.only_for,
            ours=author is self.world.bot,
            edited=bool(found.edited) and not found.blocks,
            streaming=found.streaming,
            texts=tuple(found.texts),
            tasks=tuple(str(task["title"]) for task in tasks),
            statuses=tuple(found.statuses),
        )

    def status(self, channel: Channel | str, thread: str) -> str:
        """The line under the thread that says what the bot does."""
        said = self.statuses.get((self.channel(channel).id, thread))
        return said[-1].text if said and self.now() - said[-1].at < 120 else ""

    def _share(self, user: User, channel: Channel, upload: Upload) -> str:
        file = self.world.add_file(user.id, upload.name, upload.content, upload.media_type)
        file.channels.append(channel.id)
        file.subtype = "slack_audio" if upload.voice else ""
        return file.id

    # the connection in trouble

    async def redeliver(self, message: str) -> None:
        """Send every event about a message again, with the same event ids."""
        for delivery in list(self.wire.deliveries):
            event = delivery.payload.get("event", {})
            if event.get("ts") == message and delivery.kind == "events_api":
                self.wire.repeat(delivery, reason="timeout")

    def drop_connection(self) -> None:
        self.wire.drop()

    async def disconnect(self, reason: str = "refresh_requested") -> None:
        """Renew a connection."""
        await self.wire.disconnect(reason)

    async def connected(self, connections: int = 1) -> None:
        await self.wait_for(lambda: len(self.wire.connections) >= connections, seconds=60)


__all__ = ["Message", "SlackError", "SlackServer", "Upload", "User"]
