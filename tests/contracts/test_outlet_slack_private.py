"""Slack's answers for one person's eyes: nobody else sees them, and they come whole."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from bot.port import Action, Button, Command, File, Page, Room, Throttled, Unreachable, Write, WriteRefused
from tests.unit.adapters.slack.conftest import Bot, bot, server

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.doubles.chat_server import Shown
    from tests.doubles.slack_double.server import SlackServer, User

__all__ = ["bot", "server"]
LIST = Page(text="3 knowledge bases", buttons=(Button(name="page", label="More", value="2"),))
PICTURE = File(
    name="p3.png", media_type="image/png", content=b"\x89PNG", description="Page 3 of handbook.pdf"
)


def with_picture(arguments: Mapping[str, Any]) -> bool:
    return any(block["type"] == "image" for block in arguments.get("blocks") or ())


def write(page: Page | None, *, part: int = 0, route: str = "respond", final: bool = True) -> Write:
    return Write(part=part, page=page, route=route, final=final)


async def commanded(bot: Bot, *, invited: bool = True) -> tuple[Command, Room]:
    alice = bot.server.add_user("alice")
    general = bot.server.add_channel("general", [alice], bot=invited)
    await bot.server.user_commands(alice, general, "/kb list")
    return await bot.next()


def seen(server: SlackServer, user: str, channel: str = "CGENERAL", thread: str = "") -> list[Shown]:
    return [each for each in server.visible(user, channel, thread) if each.ours]


async def test_a_command_is_answered_for_the_eyes_of_who_typed_it(bot: Bot) -> None:
    command, room = await commanded(bot)
    outlet = room.outlet(private=command.person)
    assert [route.name for route in outlet.routes] == ["respond", "ephemeral"]
    await outlet.write(write(LIST))
    (message,) = seen(bot.server, "UALICE")
    assert (message.text, message.only_for) == (LIST.text, "UALICE")
    assert seen(bot.server, bot.server.add_user("berta").id) == []
    assert not bot.server.calls_of("chat.postMessage")


async def test_a_command_is_answered_where_the_bot_was_not_invited(bot: Bot) -> None:
    command, room = await commanded(bot, invited=False)
    outlet = room.outlet(private=command.person)
    for part in range(3):
        await outlet.write(write(LIST, part=part, route="respond" if part == 0 else "ephemeral"))
    assert len(seen(bot.server, "UALICE")) == 3


async def test_the_person_sees_that_a_command_was_received_and_then_the_whole_answer(bot: Bot) -> None:
    command, room = await commanded(bot)
    outlet = room.outlet(private=command.person)
    for page in (
        Page(status="Searching…"),
        Page(status="Reading…"),
        Page(text="You "),
        Page(text="You have"),
    ):
        await outlet.write(write(page, final=False))
    await outlet.write(write(Page(text="You have 30 days")))
    (message,) = seen(bot.server, "UALICE")
    assert [each.text for each in message.texts] == ["Searching…", "You have 30 days"]
    assert len(bot.server.calls_of("response_url")) == 2


async def test_a_status_is_replaced_by_the_process_after_a_restart(bot: Bot) -> None:
    command, room = await commanded(bot)
    shown = await room.outlet(private=command.person).write(write(Page(status="Searching…"), final=False))
    await room.outlet(private=command.person, posted=(shown,)).write(write(Page(text="You have 30 days")))
    assert [each.text for each in seen(bot.server, "UALICE")] == ["You have 30 days"]


async def test_a_status_whose_answer_is_withdrawn_is_deleted(bot: Bot) -> None:
    command, room = await commanded(bot)
    outlet = room.outlet(private=command.person)
    await outlet.write(write(Page(status="Searching…"), final=False))
    await outlet.write(write(None))
    assert seen(bot.server, "UALICE") == []


async def test_only_the_status_is_replaced_by_an_answer_of_several_messages(bot: Bot) -> None:
    command, room = await commanded(bot)
    outlet = room.outlet(private=command.person)
    await outlet.write(write(Page(status="Searching…"), final=False))
    for part in range(2):
        await outlet.write(write(Page(text=f"part {part}"), part=part))
    assert [each.text for each in seen(bot.server, "UALICE")] == ["part 0", "part 1"]


async def test_the_budget_of_the_address_is_never_more_than_five(bot: Bot) -> None:
    command, room = await commanded(bot)
    routes = room.outlet(private=command.person).routes
    assert routes[0].create.calls + routes[0].finish.calls == 5
    assert routes[0].create.name != routes[0].finish.name
    assert room.outlet(private=command.person).routes[0].create.name != routes[0].create.name


async def test_more_messages_than_the_address_takes_come_as_private_messages(bot: Bot) -> None:
    command, room = await commanded(bot)
    outlet = room.outlet(private=command.person)
    for part in range(7):
        await outlet.write(write(Page(text=f"part {part}"), part=part))
    assert [each.text for each in seen(bot.server, "UALICE")] == [f"part {part}" for part in range(7)]
    assert len(bot.server.calls_of("response_url")) == 5


async def test_an_address_that_expired_is_no_reason_for_silence(bot: Bot) -> None:
    command, room = await commanded(bot)
    bot.server.advance(1801)
    await room.outlet(private=command.person).write(write(LIST))
    assert [each.text for each in seen(bot.server, "UALICE")] == [LIST.text]


async def test_faults_of_the_address_are_reported(bot: Bot) -> None:
    command, room = await commanded(bot)
    outlet = room.outlet(private=command.person)
    bot.server.fail("response_url", status=503)
    bot.server.fail("response_url", status=429, retry_after=2)
    with pytest.raises(Unreachable):
        await outlet.write(write(LIST))
    with pytest.raises(Throttled) as raised:
        await outlet.write(write(LIST))
    assert raised.value.seconds == 2
    await outlet.write(write(LIST))
    assert len(seen(bot.server, "UALICE")) == 1


async def test_a_public_answer_to_a_command_needs_an_invitation(bot: Bot) -> None:
    _, room = await commanded(bot, invited=False)
    with pytest.raises(WriteRefused, match="/invite @footnote"):
        await room.outlet().write(Write(part=0, page=LIST, route="edit", final=True))


async def test_a_private_answer_to_a_message_is_in_its_thread(bot: Bot) -> None:
    alice = bot.server.add_user("alice")
    general = bot.server.add_channel("general", [alice])
    await bot.server.user_says(alice, general, f"{bot.server.mention} hi")
    message, room = await bot.next()
    outlet = room.outlet(private=message.person)
    assert [route.name for route in outlet.routes] == ["ephemeral"]
    await outlet.write(write(Page(status="Searching…"), route="ephemeral", final=False))
    assert seen(bot.server, alice.id, thread=message.place.thread) == []
    await outlet.write(write(LIST, route="ephemeral"))
    (shown,) = seen(bot.server, alice.id, thread=message.place.thread)
    assert shown.only_for == alice.id


async def _clicked(bot: Bot, user: User, message: str, button: str) -> tuple[Action, Room]:
    await bot.server.user_clicks(user, message, button)
    while True:
        event, room = await bot.next()
        if isinstance(event, Action):
            return event, room


async def test_a_private_answer_to_a_button_of_a_public_message_replaces_nothing(bot: Bot) -> None:
    alice = bot.server.add_user("alice")
    general = bot.server.add_channel("general", [alice])
    await bot.server.user_says(alice, general, f"{bot.server.mention} hi")
    message, room = await bot.next()
    answer = await room.outlet().write(Write(part=0, page=LIST, route="edit", final=True))
    action, room = await _clicked(bot, alice, answer, "More")
    await room.outlet(private=action.person).write(write(Page(text="the passages"), route="ephemeral"))
    public, private = seen(bot.server, alice.id, thread=message.place.thread)
    assert (public.text, public.only_for) == (LIST.text, "")
    assert (private.text, private.only_for, private.thread) == (
        "the passages",
        alice.id,
        message.place.thread,
    )


async def test_a_button_of_a_private_message_changes_that_message(bot: Bot) -> None:
    command, room = await commanded(bot)
    await room.outlet(private=command.person).write(write(LIST))
    (shown,) = seen(bot.server, "UALICE")
    action, room = await _clicked(bot, bot.server.world.users["UALICE"], shown.id, "More")
    assert action.message == shown.id
    await room.outlet(private=action.person, posted=(action.message,)).write(write(Page(text="page 2")))
    assert [each.text for each in seen(bot.server, "UALICE")] == ["page 2"]
    assert bot.server.shown(shown.id).buttons == ()


async def test_a_private_message_can_be_taken_away(bot: Bot) -> None:
    command, room = await commanded(bot)
    await room.outlet(private=command.person).write(write(LIST))
    (shown,) = seen(bot.server, "UALICE")
    action, room = await _clicked(bot, bot.server.world.users["UALICE"], shown.id, "More")
    await room.outlet(private=action.person, posted=(action.message,)).write(write(None))
    assert seen(bot.server, "UALICE") == []


async def test_a_picture_is_shown_to_one_person_and_uploaded_into_no_channel(bot: Bot) -> None:
    command, room = await commanded(bot)
    await room.outlet(private=command.person).write(write(Page(text="Page 3", files=(PICTURE,))))
    message, _ = seen(bot.server, "UALICE")
    sent = bot.server.calls_of("response_url")[1].arguments["blocks"]
    (image,) = [block for block in sent if block["type"] == "image"]  # pyright: ignore[reportGeneralTypeIssues]
    assert bot.server.world.files[image["slack_file"]["id"]].content == PICTURE.content
    assert image["alt_text"] == PICTURE.description
    assert message.text.startswith("Page 3")
    (completed,) = bot.server.calls_of("files.completeUploadExternal")
    assert "channel_id" not in completed.arguments
    assert all(not file.channels for file in bot.server.world.files.values())


async def test_a_picture_that_slack_does_not_show_comes_as_a_direct_message(bot: Bot) -> None:
    command, room = await commanded(bot)
    refused = b'{"ok": false, "error": "invalid_blocks"}'
    bot.server.fail("response_url", status=400, body=refused, when=with_picture)
    await room.outlet(private=command.person).write(write(Page(text="Page 3", files=(PICTURE,))))
    text, note = seen(bot.server, "UALICE")
    assert text.text == "Page 3"
    assert "direct messages" in note.text
    (direct,) = seen(bot.server, "UALICE", channel="DDMALICE")
    assert [file.name for file in direct.files] == ["p3.png"]


def refusal(code: str) -> dict[str, Any]:
    body = json.dumps({"ok": False, "error": code}).encode()
    return {"status": 200, "body": body, "headers": {"Content-Type": "application/json"}}


LISTED = {"status": 200, "body": b"[]", "headers": {"Content-Type": "application/json"}}


@pytest.mark.parametrize(
    ("method", "fault", "calls"),
    [
        ("files.getUploadURLExternal", refusal("file_uploads_disabled"), 1),
        ("files.getUploadURLExternal", refusal("missing_scope"), 1),
        ("files.completeUploadExternal", refusal("missing_scope"), 1),
        ("files.completeUploadExternal", LISTED, 2),
        ("upload", {"status": 503}, 2),
        ("upload", {"lost": True}, 2),
    ],
)
async def test_a_picture_that_cannot_be_uploaded_costs_the_picture_only(
    bot: Bot, method: str, fault: dict[str, Any], calls: int
) -> None:
    command, room = await commanded(bot)
    bot.server.fail(method, times=-1, **fault)
    await room.outlet(private=command.person).write(write(Page(text="The quotes", files=(PICTURE,))))
    assert [(each.text, each.files) for each in seen(bot.server, "UALICE")] == [("The quotes", ())]
    assert len(bot.server.calls_of(method)) == calls


async def test_the_text_does_not_wait_for_its_picture(bot: Bot) -> None:
    command, room = await commanded(bot)
    uploaded = bot.server.silence("upload")
    outlet = room.outlet(private=command.person)
    writing = asyncio.create_task(outlet.write(write(Page(text="The quotes", files=(PICTURE,)))))
    await bot.server.wait_for(lambda: bot.server.calls_of("upload"))
    assert [each.text for each in seen(bot.server, "UALICE")] == ["The quotes"]
    uploaded.set()
    await writing
    assert [len(each.files) for each in seen(bot.server, "UALICE")] == [0, 1]


async def test_a_picture_is_added_to_a_text_that_is_shown(bot: Bot) -> None:
    command, room = await commanded(bot)
    outlet = room.outlet(private=command.person)
    await outlet.write(write(Page(text="The quotes")))
    await outlet.write(write(Page(text="The quotes", files=(PICTURE,))))
    assert [(each.text, len(each.files)) for each in seen(bot.server, "UALICE")] == [
        ("The quotes", 0),
        (PICTURE.description, 1),
    ]


async def test_other_files_come_as_a_direct_message_only(bot: Bot) -> None:
    command, room = await commanded(bot)
    export = File(name="kb.zip", media_type="application/zip", content=b"PK", description="All of it")
    await room.outlet(private=command.person).write(write(Page(text="Here", files=(export,))))
    (direct,) = seen(bot.server, "UALICE", channel="DDMALICE")
    assert [file.name for file in direct.files] == ["kb.zip"]
    assert [each.files for each in seen(bot.server, "UALICE")] == [()]
