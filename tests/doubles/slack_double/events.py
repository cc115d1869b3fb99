"""The events that Slack sends to the bot, in Slack's format."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Final

from tests.doubles.slack_double.routes import SlackRoutes
from tests.doubles.slack_double.world import Channel, Message, User

if TYPE_CHECKING:
    from collections.abc import Mapping

KINDS: Final = {"public": "channel", "private": "group", "im": "im", "mpim": "mpim"}
MESSAGES: Final = {
    "public": "message.channels",
    "private": "message.groups",
    "im": "message.im",
    "mpim": "message.mpim",
}


class SlackEvents(SlackRoutes):
    def __init__(self, *, team: str = "ACME") -> None:
        super().__init__(team=team)
        self.subscriptions = {"app_mention", "file_shared", "app_home_opened", "member_joined_channel"}
        self.subscriptions |= set(MESSAGES.values())
        self.action_tokens: dict[str, str] = {}
        """Of events, with the person who may search by it."""
        self.gives_action_tokens = False
        """The app is among Slack's agents."""
        self.searched: set[str] = set()
        """Channels that the search finds although they are not public: as a fault of the platform."""
        self.mention_first = True
        """Which of the two events of a mention is sent first."""

    @property
    def mention(self) -> str:
        """How a person addresses the bot."""
        return f"<@{self.world.bot.id}>"

    def announce(self, message: Message) -> None:
        if message.only_for or message.streaming:
            return
        place = self.channel(message.channel)
        event = self.world.message_json(message) | {"channel": place.id, "event_ts": message.ts}
        if self.gives_action_tokens and not self.world.users[message.user].bot:
            token = f"{self.world.number()}.double.action"
            self.action_tokens[token] = message.user
            event["action_token"] = token
        spoken = event | {"channel_type": KINDS[place.kind]}
        mentioned = {**event, "type": "app_mention"}
        # a mention has no files, as documented
        for absent in ("files", "subtype"):
            mentioned.pop(absent, None)
        addressed = self.mention in message.text and place.kind != "im" and message.user != self.world.bot.id
        events = [mentioned, spoken] if addressed else [spoken]
        for each in events if self.mention_first else reversed(events):
            self.tell(place, each)
        for file in message.files if not self.world.users[message.user].bot else ():
            shared = {"type": "file_shared", "file_id": file, "user_id": message.user, "channel_id": place.id}
            self.tell(place, shared | {"file": {"id": file}, "event_ts": message.ts})

    def announce_change(self, message: Message) -> None:
        self.tell_change(message, self.world.message_json(message))

    def tell_change(
        self, message: Message, previous: Mapping[str, Any], more: Mapping[str, Any] | None = None
    ) -> None:
        now = self.world.message_json(message) | dict(more or {})
        event = {"subtype": "message_changed", "message": now, "previous_message": previous}
        self.tell(self.channel(message.channel), self.hidden(message, event))

    def hidden(self, message: Message, event: Mapping[str, Any]) -> dict[str, Any]:
        stamp, kind = self.world.stamp(), KINDS[self.channel(message.channel).kind]
        common = {"type": "message", "hidden": True, "channel": message.channel, "channel_type": kind}
        return common | {"ts": stamp, "event_ts": stamp, **event}

    def tell(self, channel: Channel, event: Mapping[str, Any]) -> None:
        """Send an event if the app is subscribed and the bot in the channel."""
        kind = MESSAGES[channel.kind] if event["type"] == "message" else event["type"]
        if kind not in self.subscriptions or self.world.bot.id not in channel.members:
            return
        who = {"enterprise_id": None, "team_id": f"T{self.world.team}", "user_id": self.world.bot.id}
        self.wire.send(
            "events_api",
            {
                "token": "token",
                "team_id": f"T{self.world.team}",
                "api_app_id": "AFOOTNOTE",
                "type": "event_callback",
                "event": copy.deepcopy(dict(event)),
                "event_id": f"Ev{self.world.number():08d}",
                "event_time": int(self.world.time()),
                "event_context": f"4-{channel.id}",
                "is_ext_shared_channel": channel.external,
                "authorizations": [who | {"is_bot": True, "is_enterprise_install": False}],
            },
        )

    def actor(self, user: User) -> dict[str, Any]:
        return {
            "user": {
                "id": user.id,
                "username": user.name,
                "name": user.name,
                "team_id": f"T{self.world.team}",
            },
            "team": {"id": f"T{self.world.team}", "domain": self.world.domain},
            "api_app_id": "AFOOTNOTE",
            "token": "token",
            "enterprise": None,
            "is_enterprise_install": False,
            "trigger_id": self.views.trigger(user.id),
        }

    def interaction(self, user: User, message: Message) -> dict[str, Any]:
        place = self.channel(message.channel)
        threaded = {"thread_ts": message.thread} if message.thread else {}
        # A program replaces only its own messages: of a person's, its first response is the original.
        original = message.ts if message.user == self.world.bot.id else ""
        url = self.response_url(place.id, user.id, message=original, thread=message.thread)
        held = {"type": "message", "message_ts": message.ts, "channel_id": place.id} | threaded
        return self.actor(user) | {
            "container": held | {"is_ephemeral": bool(message.only_for)},
            "channel": {"id": place.id, "name": place.name},
            "message": self.world.message_json(message),
            "response_url": url,
        }

    def user(self, user: User | str) -> User:
        return user if isinstance(user, User) else self.world.users[user]

    def channel(self, channel: Channel | str) -> Channel:
        return channel if isinstance(channel, Channel) else self.world.channels[channel]
