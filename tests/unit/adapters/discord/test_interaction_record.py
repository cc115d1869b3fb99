"""Unfinished commands and buttons are continued by the next process, while Discord accepts a response."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.doubles.chat_server import Upload
from tests.unit.adapters.discord.conftest import write
from tests.unit.adapters.discord.interrupted import (
    AGAIN,
    ASK,
    ASK_ALL,
    TOKEN_SECONDS,
    Inbox,
    died_over,
    half,
    killed_in,
    nothing,
    question,
    recalled,
    seen,
)

if TYPE_CHECKING:
    from tests.doubles.discord_double.server import DiscordServer
    from tests.doubles.discord_double.world import User


@pytest.fixture
def inbox() -> Inbox:
    """What the next process finds."""
    return Inbox()


async def test_thinking_is_replaced_by_the_answer_after_a_restart(
    server: DiscordServer, inbox: Inbox, anna: User
) -> None:
    command = await died_over(server, inbox, anna, ASK, nothing)
    async with recalled(server, question(command)) as (now, room):
        assert now == question(command)
        outlet = room.outlet(private=now.person)
        await write(outlet, "Half")
        await write(outlet, "Whole.", final=True)
        assert seen(server, anna) == ["Whole."]
        assert {each.only_for for each in server.visible(anna, server.general)} == {anna.id}


@pytest.mark.parametrize("recorded", [True, False])
async def test_an_existing_response_is_continued(
    server: DiscordServer, inbox: Inbox, anna: User, recorded: bool
) -> None:
    command = await died_over(server, inbox, anna, ASK, half)
    (standing,) = server.visible(anna, server.general)
    async with recalled(server, question(command)) as (now, room):
        outlet = room.outlet(private=now.person, posted=[standing.id] if recorded else [])
        assert await write(outlet, "Whole.", final=True, buttons=[AGAIN]) == standing.id
        await write(outlet, "The rest.", part=1, final=True)
        assert seen(server, anna) == ["Whole.", "The rest."]


@pytest.mark.parametrize("recorded", [True, False])
async def test_a_public_response_is_continued(
    server: DiscordServer, inbox: Inbox, anna: User, recorded: bool
) -> None:
    command = await died_over(server, inbox, anna, ASK_ALL, half)
    (standing,) = server.visible(anna, server.general)
    async with recalled(server, question(command)) as (_, room):
        outlet = room.outlet(posted=[standing.id] if recorded else [])
        assert await write(outlet, "Whole.", final=True, buttons=[AGAIN]) == standing.id
        assert seen(server, server.add_user("ben")) == ["Whole."]


async def test_a_private_sentence_replaces_no_public_message(
    server: DiscordServer, inbox: Inbox, anna: User
) -> None:
    command = await died_over(server, inbox, anna, ASK_ALL, half)
    async with recalled(server, question(command)) as (now, room):
        await write(room.outlet(private=now.person), "That file is not taken.")
        assert seen(server, anna) == ["Half", "That file is not taken."]
        assert seen(server, server.add_user("ben")) == ["Half"]


async def test_a_private_answer_after_the_token_expired_is_a_direct_message(
    server: DiscordServer, inbox: Inbox, anna: User
) -> None:
    command = await died_over(server, inbox, anna, ASK, half)
    server.advance(TOKEN_SECONDS + 1)
    async with recalled(server, question(command)) as (now, room):
        await write(room.outlet(private=now.person), "Whole.", final=True)
        assert seen(server, anna, anna.id) == ["Whole."]


async def test_a_public_answer_after_the_token_expired_is_edited_in_the_channel(
    server: DiscordServer, inbox: Inbox, anna: User
) -> None:
    command = await died_over(server, inbox, anna, ASK_ALL, half)
    server.advance(TOKEN_SECONDS + 1)
    async with recalled(server, question(command)) as (_, room):
        await write(room.outlet(), "Whole.", final=True, buttons=[AGAIN])
        assert seen(server, anna) == ["Whole."]


async def test_regenerating_a_command_answer_without_its_token(
    server: DiscordServer, inbox: Inbox, anna: User
) -> None:
    command = await died_over(server, inbox, anna, ASK, half)
    async with recalled(server, replace(question(command), handle="")) as (now, room):
        assert now is not None
        await write(room.outlet(private=now.person), "Whole.", final=True)
        assert seen(server, anna, anna.id) == ["Whole."]


async def test_a_question_about_a_message_is_recalled(
    server: DiscordServer, inbox: Inbox, anna: User
) -> None:
    file = Upload(name="contract.pdf", content=b"%PDF", media_type="application/pdf")
    async with killed_in(server, inbox, nothing) as service:
        message = await server.user_uploads(anna, server.general, file, text="Is this allowed?")
        await server.user_shortcut(anna, message, "Ask about this")
        events = [(await service.next())[0] for _ in range(2)]
        (asked,) = [each for each in events if each.private]
    async with recalled(server, replace(asked, attachments=())) as (now, room):
        assert (now.text, now.about) == ("Is this allowed?", message)
        assert b"".join([block async for block in now.attachments[0].open()]) == b"%PDF"
        await write(room.outlet(private=now.person), "It says no.", final=True)
        assert seen(server, anna) == ["It says no."]
    await server.user_deletes(message)
    async with recalled(server, replace(asked, attachments=())) as (now, _):
        assert (now.text, now.attachments) == ("Is this allowed?", ())
