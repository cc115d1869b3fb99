"""The doubled Discord with the unmodified discord.py."""

from __future__ import annotations

import asyncio
import io
from typing import Any

import aiohttp
import discord
import pytest

from tests.doubles.chat_server import Upload
from tests.doubles.discord_double.world import (
    ATTACH_FILES,
    CREATE_PUBLIC_THREADS,
    SEND_MESSAGES,
    VIEW_CHANNEL,
)
from tests.unit.doubles.discord_bot import Bot, World


async def test_a_mention_is_answered_and_the_answer_grows_by_edits(world: World) -> None:
    server = world.server

    async def answer(message: discord.Message) -> None:
        answered = await message.reply("One")
        await answered.edit(content="One two")

    async with world.bot() as bot:
        bot.reply = answer
        await server.user_says(world.ada, server.general, f"{server.bot.mention} count")
        await server.wait_for(lambda: server.ours() and server.ours()[0].text == "One two")

    (seen,) = [each for each in server.visible(world.ada, server.general) if each.ours]
    assert [text.text for text in seen.texts] == ["One", "One two"]
    assert server.violations == []


# --- messages ------------------------------------------------------------------------------------------------------------


async def test_twelve_edits_take_two_windows_and_break_no_limit(world: World) -> None:
    server = world.server
    async with world.bot() as bot:
        channel = await bot.fetch_channel(int(server.general.id))
        message = await channel.send("0")
        began = server.now()
        edits = asyncio.create_task(edit_often(message, 6))
        # the client waits by its own clock, the double's clock jumps
        await server.wait_for(lambda: len(server.calls_of("edit_message")) == 5)
        await edits
    assert server.violations == []
    assert server.now() - began >= 5.0
    assert [text.text for text in server.shown(str(message.id)).texts] == [str(number) for number in range(7)]


async def edit_often(message: discord.Message, times: int) -> None:
    for number in range(times):
        await message.edit(content=str(number + 1))


async def test_calls_beyond_the_bucket_are_refused_and_counted(world: World) -> None:
    server = world.server
    headers = {"Authorization": f"Bot {server.token}"}
    address = f"{server.api_url}/channels/{server.general.id}/messages"
    async with aiohttp.ClientSession(headers=headers) as session:
        answers = [await session.post(address, json={"content": "again"}) for _ in range(6)]
        body = await answers[-1].json()
        assert [answer.status for answer in answers] == [200] * 5 + [429]
        assert answers[3].headers["X-RateLimit-Remaining"] == "1"
        assert 4 < body["retry_after"] <= 5
        assert answers[-1].headers["Via"]
        assert server.violations == [("create", server.general.id)]
        server.advance(5)
        again = await session.post(address, json={"content": "again"})
        assert again.status == 200


async def test_a_429_without_via_is_not_waited_for(world: World) -> None:
    async with world.bot() as bot:
        channel = await bot.fetch_channel(int(world.server.general.id))
        world.server.fail("create_message", status=429, retry_after=0.01)
        await channel.send("waited for")
        world.server.fail("create_message", status=429, body=b"<html>Cloudflare</html>")
        with pytest.raises(discord.HTTPException):
            await channel.send("given up")
    assert [message.text for message in world.server.ours()] == ["waited for"]


async def test_a_message_whose_answer_was_lost_is_not_posted_twice(world: World) -> None:
    async with world.bot() as bot:
        channel = await bot.fetch_channel(int(world.server.general.id))
        world.server.fail("create_message", status=502, applied=True)
        message = await channel.send("once", nonce="42:0")
        assert [shown.id for shown in world.server.ours()] == [str(message.id)]
        await channel.send("another", nonce="42:1")
    assert [shown.text for shown in world.server.ours()] == ["once", "another"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"content": "x" * 2001}, 50035),
        ({"content": ""}, 50006),
        ({"content": "x", "nonce": "n" * 26}, 50035),
        ({"content": "x", "components": [{"type": 1, "components": []}]}, 50035),
        ({"content": "x", "allowed_mentions": {"parse": ["users"], "users": ["1"]}}, 50035),
        ({"content": "x", "message_reference": {"message_id": "1"}}, 50035),
        ({"content": "x", "flags": 1 << 15, "components": [{"type": 10, "content": "y"}]}, 50035),
        ({"flags": 1 << 15, "components": [{"type": 10, "content": "y" * 4001}]}, 50035),
        ({"flags": 1 << 15, "components": [{"type": 10, "content": "y"}] * 41}, 50035),
        ({"embeds": [{"description": "x" * 4096}, {"description": "y" * 2000}]}, 50035),
    ],
)
async def test_invalid_messages_are_refused(world: World, body: dict[str, Any], code: int) -> None:
    async with world.bot() as bot:
        route = discord.http.Route(
            "POST", "/channels/{channel_id}/messages", channel_id=world.server.general.id
        )
        with pytest.raises(discord.HTTPException) as refused:
            await bot.http.request(route, json=body)
    assert (refused.value.status, refused.value.code) == (400, code)
    assert world.server.ours() == []


@pytest.mark.parametrize(
    "button",
    [
        {"label": "x" * 81, "custom_id": "a"},
        {"label": "x", "custom_id": "a" * 101},
        {"label": "x"},
        {"label": "x", "style": 5},
        {"custom_id": "a"},
    ],
)
async def test_invalid_buttons_are_refused(world: World, button: dict[str, Any]) -> None:
    row = {"type": 1, "components": [{"type": 2, "style": 2} | button]}
    async with world.bot() as bot:
        route = discord.http.Route(
            "POST", "/channels/{channel_id}/messages", channel_id=world.server.general.id
        )
        with pytest.raises(discord.HTTPException) as refused:
            await bot.http.request(route, json={"content": "x", "components": [row]})
    assert refused.value.code == 50035


async def test_deleted_messages_are_unknown_and_old_edits_are_limited(world: World) -> None:
    server = world.server
    async with world.bot() as bot:
        channel = await bot.fetch_channel(int(server.general.id))
        gone, old = await channel.send("gone"), await channel.send("old")
        await server.user_deletes(str(gone.id))
        with pytest.raises(discord.NotFound) as refused:
            await gone.edit(content="still there?")
        assert refused.value.code == 10008
        server.advance(3700)
        server.old_edits = (1, 0.05)
        await old.edit(content="older")
        await old.edit(content="oldest")
    assert [violated[0] for violated in server.violations] == ["old edits"]
    assert server.shown(str(old.id)).text == "oldest"


async def test_history_is_listed_in_every_direction(world: World) -> None:
    server = world.server
    ids = [await server.user_says(world.ada, server.general, f"{number}") for number in range(9)]
    async with world.bot() as bot:
        channel = await bot.fetch_channel(int(server.general.id))

        async def listed(**wanted: Any) -> list[str]:
            return sorted([message.content async for message in channel.history(**wanted)])

        middle = discord.Object(int(ids[4]))
        assert await listed(limit=3) == ["6", "7", "8"]
        assert await listed(limit=2, before=middle) == ["2", "3"]
        assert await listed(limit=2, after=middle) == ["5", "6"]
        assert await listed(limit=3, around=middle) == ["3", "4", "5"]


# --- what a text does ----------------------------------------------------------------------------------------------------


async def test_pings_and_links_are_seen(world: World) -> None:
    server = world.server
    text = (
        f"@everyone {world.ada.mention} `@here` [label](https://masked.example/a_(b)) <https://angled.example> "
        "see HTTPS://bare.example/x. `https://code.example` \\[no](no)"
    )
    async with world.bot() as bot:
        channel = await bot.fetch_channel(int(server.general.id))
        await channel.send(text)
        assert server.pings == []
        await channel.send(text, allowed_mentions=discord.AllowedMentions(users=True, everyone=False))
        assert [ping.target for ping in server.pings] == [world.ada.mention]
        await channel.send("@everyone", allowed_mentions=discord.AllowedMentions.all())
        assert [ping.target for ping in server.pings] == [world.ada.mention, "@everyone"]
    first = server.ours()[0].id
    assert [(link.url, link.label) for link in server.links if link.message == first] == [
        ("https://masked.example/a_(b)", "label"),
        ("https://angled.example", ""),
        ("HTTPS://bare.example/x", ""),
    ]


async def test_an_edit_without_allowed_mentions_pings(world: World) -> None:
    async with world.bot() as bot:
        channel = await bot.fetch_channel(int(world.server.general.id))
        message = await channel.send("quiet")
        await bot.http.edit_message(
            message.channel.id,
            message.id,
            params=discord.http.handle_message_parameters(content=world.ada.mention),
        )
    assert [ping.target for ping in world.server.pings] == [world.ada.mention]


async def test_without_the_intent_only_mentions_have_content(world: World) -> None:
    server = world.server
    server.privileged_intents = 0
    file = Upload(name="a.txt", content=b"a")
    async with world.bot(intents=discord.Intents(guilds=True, messages=True)) as bot:
        await server.user_says(world.ada, server.general, "for others", files=[file])
        await server.user_says(world.ada, server.general, f"{server.bot.mention} for us", files=[file])
        await server.user_says(world.ada, world.ada.id, "between us")
        await server.wait_for(lambda: len(bot.heard) == 3)
    heard = [(message.content, len(message.attachments)) for message in bot.heard]
    assert heard == [("", 0), (f"<@{server.bot.id}> for us", 1), ("between us", 0)]


async def test_wrong_tokens_and_disallowed_intents_are_refused(world: World) -> None:
    world.server.privileged_intents = 0
    async with Bot(world.server) as bot:
        with pytest.raises(discord.LoginFailure):
            await bot.start("wrong")
    async with Bot(world.server) as bot:
        with pytest.raises(discord.PrivilegedIntentsRequired):
            await bot.start(world.server.token)


# --- threads and rights --------------------------------------------------------------------------------------------------


async def test_a_thread_has_the_id_of_its_message_and_is_made_once(world: World) -> None:
    server = world.server
    async with world.bot() as bot:
        asked = await server.user_says(world.ada, server.general, f"{server.bot.mention} why?")
        await server.wait_for(lambda: bot.heard)
        thread = await bot.heard[0].create_thread(name="why?")
        await thread.send("because")
        with pytest.raises(discord.HTTPException) as refused:
            await bot.http.start_thread_with_message(
                int(server.general.id), int(asked), name="again", auto_archive_duration=1440
            )
        await server.user_says(world.ada, server.general, "and then?", thread=asked)
        await server.wait_for(lambda: len(bot.heard) == 2)
    assert (str(thread.id), refused.value.code) == (asked, 160004)
    assert [each.text for each in server.visible(world.ada, server.general, asked)] == [
        "because",
        "and then?",
    ]
    assert server.shown(asked).replies_in == asked
    assert isinstance(bot.heard[1].channel, discord.Thread)


async def test_permissions_are_enforced_and_computable(world: World) -> None:
    server = world.server
    board = server.add_channel("board", only=[world.ada], bot=False)
    mute = server.add_channel("mute")
    server.set_rights(mute, server.bot, deny=SEND_MESSAGES | CREATE_PUBLIC_THREADS | ATTACH_FILES)
    async with world.bot() as bot:
        with pytest.raises(discord.Forbidden) as unseen:
            await bot.fetch_channel(int(board.id))
        channel = await bot.fetch_channel(int(mute.id))
        with pytest.raises(discord.Forbidden) as unsent:
            await channel.send("hello")
        await server.user_says(world.ada, mute, f"{server.bot.mention} hello?")
        await server.wait_for(lambda: bot.heard)
        with pytest.raises(discord.Forbidden) as unopened:
            await bot.heard[0].create_thread(name="hello?")
        guild = bot.get_guild(int(server.guild.id))
        assert not guild.get_channel(int(board.id)).permissions_for(guild.me).view_channel
        assert not guild.get_channel(int(mute.id)).permissions_for(guild.me).send_messages
        assert guild.get_channel(int(server.general.id)).permissions_for(guild.me).send_messages
        await server.user_says(world.ada, board, "secret")
        server.set_rights(board, server.bot, allow=VIEW_CHANNEL)
        await server.user_says(world.ada, board, "told")
        await server.wait_for(lambda: len(bot.heard) == 2)
    assert (unseen.value.code, unsent.value.code, unopened.value.code) == (50001, 50013, 50013)
    assert [message.content for message in bot.heard] == [f"{server.bot.mention} hello?", "told"]


async def test_archived_and_locked_threads(world: World) -> None:
    server = world.server
    asked = await server.user_says(world.ada, server.general, "why?")
    thread = server.add_thread(world.ada, asked)
    async with world.bot() as bot:
        channel = await bot.fetch_channel(int(thread.id))
        message = await channel.send("because")
        server.set_thread(thread, archived=True)
        with pytest.raises(discord.HTTPException) as archived:
            await message.edit(content="because of it")
        await channel.send("opened again")
        assert not thread.archived
        server.set_thread(thread, archived=True, locked=True)
        with pytest.raises(discord.HTTPException) as locked:
            await channel.send("no more")
    assert (archived.value.code, locked.value.code) == (50083, 50083)


# --- files ---------------------------------------------------------------------------------------------------------------


async def test_files_are_stored_and_their_links_expire(world: World) -> None:
    server = world.server
    async with world.bot() as bot:
        await server.user_uploads(
            world.ada, server.general, Upload(name="note.txt", content=b"a note"), text=server.bot.mention
        )
        await server.wait_for(lambda: bot.heard)
        (attachment,) = bot.heard[0].attachments
        assert (await attachment.read(), attachment.content_type) == (b"a note", "text/plain")
        server.advance(25 * 3600)
        with pytest.raises(discord.NotFound):
            await attachment.read()
        again = await bot.heard[0].fetch()
        assert await again.attachments[0].read() == b"a note"
        picture = discord.File(io.BytesIO(b"\x89PNG"), "page.png", description="page 3")
        await bot.heard[0].channel.send("Here it is.", file=picture)
    (file,) = server.ours()[0].files
    assert (file.name, file.media_type, file.size) == ("page.png", "image/png", 4)


async def test_a_voice_message_says_that_it_is_one(world: World) -> None:
    async with world.bot() as bot:
        await world.server.user_speaks(world.ada, world.ada.id)
        await world.server.wait_for(lambda: bot.heard)
    assert bot.heard[0].flags.voice
    assert bot.heard[0].attachments[0].is_voice_message()


# --- the Gateway ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compressed", [False, True])
async def test_events_during_a_gap_are_replayed_after_resuming(world: World, compressed: bool) -> None:
    server = world.server
    server.gateway.compresses = compressed
    async with world.bot() as bot:
        await server.user_says(world.ada, server.general, "before")
        await server.wait_for(lambda: bot.heard)
        await server.reconnect_requested()
        await server.user_says(world.ada, server.general, "in the gap")
        await server.wait_for(lambda: len(bot.heard) == 2)
        await server.redeliver(str(bot.heard[1].id))
        await server.wait_for(lambda: len(bot.heard) == 3)
    assert [message.content for message in bot.heard] == ["before", "in the gap", "in the gap"]
    assert (server.gateway.identified, server.gateway.resumed) == (1, 1)


async def test_edits_and_deletions_are_sent(world: World) -> None:
    server = world.server
    message = await server.user_says(world.ada, server.general, "one")
    async with world.bot() as bot:
        await server.user_edits(message, "two")
        await server.unfolds(message)
        await server.user_deletes(message)
        await server.wait_for(lambda: bot.deletes)
    assert [event.data["content"] for event in bot.edits] == ["two", "two"]
    assert bot.deletes[0].message_id == int(message)


async def test_an_event_that_cannot_be_parsed_ends_the_client(world: World) -> None:
    async with Bot(world.server) as bot:
        running = asyncio.create_task(bot.start(world.server.token))
        await world.server.connected()
        await world.server.unparsable_dispatch()
        with pytest.raises((KeyError, AttributeError, TypeError)):
            await asyncio.wait_for(running, 5)
