"""The doubled Discord, driven by the unmodified discord.py."""

from __future__ import annotations

import asyncio
import io
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import aiohttp
import discord
import pytest
import yarl
from discord import app_commands

from tests.doubles.chat_server import Upload
from tests.doubles.discord_server import DiscordServer, serve
from tests.doubles.discord_world import ATTACH_FILES, CREATE_PUBLIC_THREADS, SEND_MESSAGES, VIEW_CHANNEL

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable


class Bot(discord.Client):
    """Keeps what arrives; does with messages and interactions what a test says."""

    def __init__(self, server: DiscordServer, **options: Any) -> None:
        intents = discord.Intents(guilds=True, messages=True, message_content=True)
        options.setdefault("intents", intents)
        super().__init__(allowed_mentions=discord.AllowedMentions.none(), guild_ready_timeout=0.01, **options)
        self.tree = app_commands.CommandTree(self)
        self.server = server
        self.heard: list[discord.Message] = []
        self.edits: list[discord.RawMessageUpdateEvent] = []
        self.deletes: list[discord.RawMessageDeleteEvent] = []
        self.interactions: list[discord.Interaction] = []
        self.reply: Callable[[discord.Message], Awaitable[None]] | None = None
        self.act: Callable[[discord.Interaction], Awaitable[None]] | None = None

    async def on_message(self, message: discord.Message) -> None:
        if message.author != self.user:
            self.heard.append(message)
            self.server.changed()
            if self.reply is not None:
                await self.reply(message)

    async def on_raw_message_edit(self, event: discord.RawMessageUpdateEvent) -> None:
        self.edits.append(event)
        self.server.changed()

    async def on_raw_message_delete(self, event: discord.RawMessageDeleteEvent) -> None:
        self.deletes.append(event)
        self.server.changed()

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        self.interactions.append(interaction)
        if self.act is not None:
            await self.act(interaction)


@dataclass
class World:
    server: DiscordServer
    ada: Any = None
    bots: list[Bot] = field(default_factory=list)

    @asynccontextmanager
    async def bot(self, **options: Any) -> AsyncIterator[Bot]:
        async with Bot(self.server, **options) as bot:
            running = asyncio.create_task(bot.start(self.server.token), name="discord.py")
            try:
                async with asyncio.timeout(5):
                    await bot.wait_until_ready() if not running.done() else None
                yield bot
            finally:
                await bot.close()
                await asyncio.gather(running, return_exceptions=True)


@pytest.fixture
async def world(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[World]:
    async with serve() as server:
        monkeypatch.setattr(discord.http.Route, "BASE", server.api_url)
        monkeypatch.setattr(discord.gateway.DiscordWebSocket, "DEFAULT_GATEWAY", yarl.URL(server.gateway_url))
        yield World(server=server, ada=server.add_user("ada"))


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
        # The client waits by its own clock, the double jumps.
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
async def test_what_discord_does_not_take_is_refused(world: World, body: dict[str, Any], code: int) -> None:
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
async def test_buttons_that_discord_does_not_take(world: World, button: dict[str, Any]) -> None:
    row = {"type": 1, "components": [{"type": 2, "style": 2} | button]}
    async with world.bot() as bot:
        route = discord.http.Route(
            "POST", "/channels/{channel_id}/messages", channel_id=world.server.general.id
        )
        with pytest.raises(discord.HTTPException) as refused:
            await bot.http.request(route, json={"content": "x", "components": [row]})
    assert refused.value.code == 50035


async def test_what_was_deleted_is_unknown_and_old_messages_have_a_hidden_limit(world: World) -> None:
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


async def test_without_the_intent_only_what_concerns_us_can_be_read(world: World) -> None:
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


async def test_a_wrong_token_and_an_intent_that_is_not_switched_on(world: World) -> None:
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


async def test_rights_are_asked_and_clients_can_compute_them(world: World) -> None:
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


async def test_files_go_up_and_come_down_and_their_links_expire(world: World) -> None:
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


# --- interactions --------------------------------------------------------------------------------------------------------


def with_commands(bot: Bot) -> None:
    @bot.tree.command(name="ask", description="Ask a question")
    @app_commands.describe(question="What to ask")
    async def ask(interaction: discord.Interaction, question: str) -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        await interaction.edit_original_response(content=f"You asked: {question}")
        await interaction.followup.send("And more", ephemeral=True)

    group = app_commands.Group(name="kb", description="Knowledge bases")

    @group.command(name="add", description="Add a file")
    async def add(
        interaction: discord.Interaction, file: discord.Attachment, channel: discord.TextChannel | None = None
    ) -> None:
        text = (await file.read()).decode()
        await interaction.response.send_message(f"{file.filename}: {text} {channel}", ephemeral=True)

    bot.tree.add_command(group)

    @bot.tree.context_menu(name="Ask about this")
    async def about(interaction: discord.Interaction, message: discord.Message) -> None:
        await interaction.response.send_message(f"About: {message.content}", ephemeral=True)


async def test_slash_commands_are_deferred_and_answered_privately(world: World) -> None:
    server = world.server
    bea = server.add_user("bea")
    async with world.bot() as bot:
        with_commands(bot)
        await bot.tree.sync()
        used = await server.user_commands(world.ada, server.general, "/ask why is that")
        await server.wait_for(lambda: used.follow_ups)
    assert used.response == 5
    assert used.seconds < 1
    assert [each.text for each in server.visible(world.ada, server.general)] == [
        "You asked: why is that",
        "And more",
    ]
    assert {each.only_for for each in server.visible(world.ada, server.general)} == {world.ada.id}
    assert server.visible(bea, server.general) == []


async def test_commands_take_files_and_channels_and_messages(world: World) -> None:
    server = world.server
    secret = await server.user_says(world.ada, server.general, "a remark")
    async with world.bot(intents=discord.Intents(guilds=True)) as bot:
        with_commands(bot)
        await bot.tree.sync()
        upload = Upload(name="a.txt", content=b"text")
        added = await server.user_commands(
            world.ada, server.general, "/kb add", files=[upload], options={"channel": server.general.id}
        )
        asked = await server.user_shortcut(world.ada, secret, "Ask about this")
        await server.wait_for(lambda: added.original and asked.original)
        with pytest.raises(LookupError):
            await server.user_commands(world.ada, server.general, "/kb remove")
    seen = [each.text for each in server.visible(world.ada, server.general) if each.ours]
    assert sorted(seen) == ["About: a remark", "a.txt: text general"]
    assert server.command_creates == 3


async def test_commands_that_are_put_again_are_not_created_again(world: World) -> None:
    async with world.bot() as bot:
        with_commands(bot)
        await bot.tree.sync()
        await bot.tree.sync()
        assert world.server.command_creates == 3
        assert {command.name for command in await bot.tree.fetch_commands()} == {
            "ask",
            "kb",
            "Ask about this",
        }
        world.server.command_creates = 200
        await bot.tree.sync(guild=discord.Object(int(world.server.guild.id)))
        bot.tree.copy_global_to(guild=discord.Object(int(world.server.guild.id)))
        with pytest.raises(discord.HTTPException) as refused:
            await bot.tree.sync(guild=discord.Object(int(world.server.guild.id)))
    assert refused.value.code == 30034


async def test_buttons_update_their_message_and_open_modals(world: World) -> None:
    server = world.server
    view = discord.ui.View(timeout=None)
    view.add_item(discord.ui.Button(label="More", custom_id="more:1"))
    view.add_item(discord.ui.Button(label="Rename", custom_id="rename"))

    async def act(interaction: discord.Interaction) -> None:
        if interaction.type is discord.InteractionType.modal_submit:
            value = interaction.data["components"][0]["components"][0]["value"]
            await interaction.response.send_message(f"Now {value}", ephemeral=True)
        elif interaction.data["custom_id"] == "rename":
            modal = discord.ui.Modal(title="Rename", custom_id="rename:form")
            modal.add_item(discord.ui.TextInput(label="Name", custom_id="name"))
            await interaction.response.send_modal(modal)
        else:
            await interaction.response.edit_message(content="Page 2")

    async with world.bot() as bot:
        bot.act = act
        channel = await bot.fetch_channel(int(server.general.id))
        message = str((await channel.send("Page 1", view=view)).id)
        pressed = await server.user_clicks(world.ada, message, "More")
        await server.wait_for(lambda: pressed.acknowledged)
        assert server.shown(message).text == "Page 2"
        renaming = await server.user_clicks(world.ada, message, "rename")
        await server.wait_for(lambda: renaming.modal)
        submitted = await server.user_submits(renaming, {"name": "Handbook"})
        await server.wait_for(lambda: submitted.original)
    assert server.visible(world.ada, server.general)[-1].text == "Now Handbook"
    assert [button.label for button in server.shown(message).buttons] == ["More", "Rename"]


async def test_an_interaction_must_be_answered_soon_and_once(world: World) -> None:
    server = world.server
    refusals: list[int] = []
    may_answer = asyncio.Event()

    async def attempt(call: Awaitable[Any]) -> None:
        try:
            await call
        except discord.HTTPException as refused:
            refusals.append(refused.code)
            server.changed()

    async def act(interaction: discord.Interaction) -> None:
        await may_answer.wait()
        await attempt(interaction.response.defer())
        interaction.response._response_type = None
        await attempt(interaction.response.send_message("again"))
        server.advance(1000)
        await attempt(interaction.edit_original_response(content="too late"))

    async with world.bot() as bot:
        with_commands(bot)
        await bot.tree.sync()
        bot.tree.clear_commands(guild=None)
        bot.tree.on_error = lambda *_: asyncio.sleep(0)
        bot.act = act
        late = await server.user_commands(world.ada, server.general, "/ask one")
        server.advance(4)
        may_answer.set()
        await server.wait_for(lambda: len(refusals) == 3)
        refused_late, refusals[:] = list(refusals), []
        assert late.acknowledged is None
        await server.user_commands(world.ada, server.general, "/ask two")
        await server.wait_for(lambda: len(refusals) == 2)
    assert refused_late == [10062, 10062, 50027]
    assert refusals == [40060, 50027]


async def test_suggestions_while_an_option_is_written(world: World) -> None:
    async with world.bot() as bot:

        @bot.tree.command(name="show", description="Show a document")
        async def show(interaction: discord.Interaction, name: str) -> None:
            await interaction.response.send_message(name)

        @show.autocomplete("name")
        async def names(_interaction: discord.Interaction, current: str) -> list[app_commands.Choice[str]]:
            return [
                app_commands.Choice(name=each, value=each)
                for each in ("a", "ab", "b")
                if each.startswith(current)
            ]

        await bot.tree.sync()
        writing = await world.server.user_types(world.ada, world.server.general, "/show name:a", "name")
        await world.server.wait_for(lambda: writing.choices)
    assert [choice["name"] for choice in writing.choices] == ["a", "ab"]


# --- the Gateway ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compressed", [False, True])
async def test_what_happens_during_a_gap_is_told_after_resuming(world: World, compressed: bool) -> None:
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


async def test_edits_and_deletes_are_told(world: World) -> None:
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
