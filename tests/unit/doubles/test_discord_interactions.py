"""Interactions of the doubled Discord, with the unmodified discord.py."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import discord
import pytest
from discord import app_commands

from tests.doubles.chat_server import Upload

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from tests.unit.doubles.discord_bot import Bot, World


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
