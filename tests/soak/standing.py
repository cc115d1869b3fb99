"""The messages under many questions, looked up in one pass: people's eyes (`Chat.visible`) would be too slow for thousands."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.doubles.discord_double import messages as discord_messages
from tests.doubles.discord_double.server import DiscordServer
from tests.doubles.slack_double.server import SlackServer

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from tests.doubles.chats import Chat


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A message of the bot as it is now."""

    id: str
    text: str
    whole: bool
    """Nothing is being written to it any more: it can be asked for again."""


def under(chat: Chat, questions: Collection[str]) -> Mapping[str, list[Standing]]:
    """The bot's messages in the threads of these questions, for everybody to see."""
    found: dict[str, list[Standing]] = defaultdict(list)
    for question, message in _of_the_bot(chat):
        if question in questions:
            shown = chat.shown(message)
            whole = not shown.streaming and any(each.label.startswith("Regenerate") for each in shown.buttons)
            found[question].append(Standing(id=shown.id, text=shown.text, whole=whole))
    return found


def _of_the_bot(chat: Chat) -> list[tuple[str, str]]:
    """The thread and id of each message."""
    server = chat.server
    if isinstance(server, SlackServer):
        bot = server.world.bot.id
        return [
            (each.thread, each.ts)
            for each in server.world.messages.values()
            if each.user == bot and not each.only_for
        ]
    if isinstance(server, DiscordServer):
        return [
            (each.channel.id, each.id)
            for each in server.world.messages.values()
            if each.author is server.bot
            and not (each.deleted or each.only_for)
            and each.kind != discord_messages.THREAD_STARTER
        ]
    raise TypeError(f"nothing is known of {type(server).__name__}")


def forget(chat: Chat, questions: Collection[str]) -> None:
    """Take what is settled off the platform's books: a platform that keeps everything would use the memory that is measured."""
    server = chat.server
    if isinstance(server, SlackServer):
        for message in [each for each in server.world.messages.values() if each.thread in questions]:
            del server.world.messages[message.ts]
        for question in questions:
            server.world.messages.pop(question, None)
        del server.wire.deliveries[:-500]
    elif isinstance(server, DiscordServer):
        for message in [each for each in server.world.messages.values() if each.channel.id in questions]:
            del server.world.messages[message.id]
            message.channel.messages.remove(message.id)
        for question in questions:
            if thread := server.world.channels.get(question):
                server.set_thread(
                    thread, archived=True
                )  # Discord has a thousand active threads in a server at most
    del server.calls[:-2000]
