"""Earlier messages, links, files, and who can read what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.port import ChatError, IncomingMessage
from tests.doubles.slack_double.server import Upload, User
from tests.unit.adapters.slack.conftest import Bot, bot, server

if TYPE_CHECKING:
    from bot.port import Room


__all__ = ["bot", "server"]


PDF = Upload(name="report.pdf", content=b"%PDF" + b"x" * 200_000, media_type="application/pdf")


async def _asked(
    bot: Bot, user: User, channel: object, text: str = "hi", **more: object
) -> tuple[IncomingMessage, Room]:
    ts = await bot.server.user_says(user, channel, text, **more)  # pyright: ignore[reportArgumentType]
    while True:
        event, room = await bot.next()
        if event.id == ts:
            return event, room


async def test_a_thread_is_read_from_its_beginning_and_ours_is_marked(bot: Bot) -> None:
    alice = bot.server.add_user("alice")
    general = bot.server.add_channel("general", [alice])
    root, _ = await _asked(bot, alice, general, "root")
    await bot.server.user_says(bot.server.world.bot, general, "our answer", thread=root.id)
    await bot.server.user_uploads(alice, general, PDF, text="a file", thread=root.id)
    _, room = await _asked(bot, alice, general, "and now?", thread=root.id)
    earlier = await room.earlier(limit=10)
    assert [(each.text, each.ours) for each in earlier] == [
        ("root", False),
        ("our answer", True),
        ("a file", False),
    ]
    assert [file.name for file in earlier[2].attachments] == ["report.pdf"]
    assert [each.text for each in await room.earlier(limit=2)] == ["our answer", "a file"]


async def test_outside_threads_the_channel_is_read(bot: Bot) -> None:
    alice = bot.server.add_user("alice")
    general = bot.server.add_channel("general", [alice])
    for text in ("one", "two", "three"):
        await _asked(bot, alice, general, text)
    _, room = await _asked(bot, alice, general, f"{bot.server.mention}")
    assert [each.text for each in await room.earlier(limit=2)] == ["two", "three"]


async def test_unreadable_history_is_an_error(bot: Bot) -> None:
    alice = bot.server.add_user("alice")
    general = bot.server.add_channel("general", [alice])
    _, room = await _asked(bot, alice, general)
    bot.server.scopes.discard("channels:history")
    with pytest.raises(ChatError, match="channels:history"):
        await room.earlier(limit=2)


async def test_a_permalink_is_fetched_with_its_files(bot: Bot) -> None:
    alice = bot.server.add_user("alice")
    general = bot.server.add_channel("general", [alice])
    root, room = await _asked(bot, alice, general, "root")
    ts = await bot.server.user_uploads(alice, general, PDF, thread=root.id)
    reply, _ = await bot.next()
    while reply.id != ts:
        reply, _ = await bot.next()
    for link in (root.uri, reply.uri, f"<{reply.uri}>"):
        found = await room.fetch(link)
        assert found is not None
        assert found.uri in link
    assert [file.name for file in found.attachments] == ["report.pdf"]


async def test_foreign_and_unreadable_permalinks_give_none(bot: Bot) -> None:
    alice = bot.server.add_user("alice")
    general = bot.server.add_channel("general", [alice])
    secret = bot.server.add_channel("secret", [alice], kind="private", bot=False)
    root, room = await _asked(bot, alice, general)
    hidden = await bot.server.user_says(alice, secret, "hidden")
    links = [
        root.uri.replace("acme.", "other."),
        root.uri.replace(root.id.replace(".", ""), "1" * 16),
        f"https://acme.slack.com/archives/{secret.id}/p{hidden.replace('.', '')}",
        "https://acme.slack.com/archives/",
        "hello",
    ]
    assert [await room.fetch(link) for link in links] == [None] * len(links)


async def test_a_forwarded_message_is_quoted_with_its_files(bot: Bot) -> None:
    alice = bot.server.add_user("alice")
    general = bot.server.add_channel("general", [alice])
    file = {"id": "F1", "name": "a.pdf", "mimetype": "application/pdf", "size": 3}
    event = {
        "type": "message",
        "channel": general.id,
        "channel_type": "channel",
        "user": alice.id,
        "team": "TACME",
    }
    shared = [{"is_share": True, "text": "*how* many?\nplease", "files": [file]}, {"text": "a preview"}]
    event |= {"ts": "1700000000.000100", "text": "this", "attachments": shared}
    bot.server.wire.send("events_api", {"type": "event_callback", "team_id": "TACME", "event": event})
    message, _ = await bot.next()
    assert message.text == "this\n\n> **how** many?\n> please"
    assert [each.name for each in message.attachments] == ["a.pdf"]
