"""Persons and groups as experts, questions back, corrections, and files of an answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.port import NO_WORKSPACE, MessageDeleted, MessageEdited
from tests.unit.bot.chatting import ADMIN, ANN, BEN, CHANNEL, Here, attachment
from tests.unit.bot.conversation.test_experts import (
    EXPERTS,
    OTHERS,
    QUESTION,
    Desk,
    last_in,
    opened,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from tests.unit.bot.chatting import Post

BEN_ALONE = replace(CHANNEL, channel="<@U2>")
SUPPORT = replace(CHANNEL, channel="<!subteam^S1>")
DM_BEN = replace(CHANNEL, channel="dm-U2")
DM_ADMIN = replace(CHANNEL, channel="dm-U9")


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncGenerator[Desk]:
    async with opened(tmp_path, EXPERTS) as made:
        yield made


def told(desk: Desk, post: Post) -> list[Post]:
    """What the asker sees of the experts."""
    return desk.posts(replace(CHANNEL, thread=post.place.thread))[1:]


def thread(desk: Desk) -> list[Post]:
    return desk.posts(replace(desk.root.place, thread=desk.root.id))


async def test_a_question_back_reaches_the_asker_and_the_reply_the_expert(desk: Desk) -> None:
    post = await desk.asked()
    await desk.answer("For which year?")
    (asks,) = told(desk, post)
    assert "Ben asks about" in asks.text
    assert asks.reply.notices == ("Your next message here goes to the experts.",)
    assert "Sent to Ann as your question" in thread(desk)[-1].text
    reply = desk.world.chat.message("2024", place=post.place, in_thread=True)
    await desk.world.send(reply)
    await desk.world.send(reply)
    await desk.work()
    assert thread(desk)[-1].text == "Ann replies:\n\n2024"
    assert asks.reply.notices == ("Your reply is with the experts.",)
    assert len(told(desk, post)) == 1, "it is no question to us"
    await desk.answer("In the drawer.")
    assert [each.text.endswith("In the drawer. [1]") for each in told(desk, post)] == [False, True]


async def test_a_wrong_guess_is_corrected_in_place(desk: Desk) -> None:
    post = await desk.asked()
    await desk.answer("In the drawer of room 4, isn't it?")
    receipt = thread(desk)[-1]
    await desk.world.press(receipt, "expert_reclassify", person=BEN, ends="answer")
    await desk.work()
    (back,) = told(desk, post)
    assert "Ben answers" in back.text
    assert "Sent to Ann as your answer." in receipt.text
    await desk.world.press(receipt, "expert_reclassify", person=BEN, ends="question")
    await desk.work()
    assert "Ben asks about" in back.text
    assert (await desk.request()).state == "asked"


async def test_what_was_no_answer_is_taken_back_and_the_next_message_counts(desk: Desk) -> None:
    post = await desk.asked()
    await desk.answer("Let me look.")
    await desk.world.press(thread(desk)[-1], "expert_reclassify", person=BEN, ends="nothing")
    await desk.work()
    assert told(desk, post)[0].text.endswith("The expert took this answer back.")
    await desk.answer("In the drawer.")
    assert told(desk, post)[1].text.endswith("In the drawer. [1]")
    await desk.world.press(thread(desk)[1], "expert_reclassify", person=BEN, value="x:0:answer")
    assert desk.world.last.text.startswith("This button belongs to an answer")


async def test_a_person_is_asked_directly(tmp_path: Path) -> None:
    async with opened(tmp_path, BEN_ALONE) as desk:
        post = await desk.asked()
        (asked,) = desk.posts(DM_BEN)
        assert QUESTION in asked.text
        await desk.answer("In the drawer.", root=asked)
        (back,) = told(desk, post)
        assert back.text.endswith("In the drawer. [1]")
        assert back.reply.sources[0].uri == "", "nobody else can open a link to a direct message"


async def test_without_threads_the_expert_replies_to_the_message(tmp_path: Path) -> None:
    async with opened(tmp_path, BEN_ALONE) as desk:
        desk.directory.direct_workspace = NO_WORKSPACE
        post = await desk.asked()
        place = replace(DM_BEN, workspace=NO_WORKSPACE)
        (asked,) = desk.posts(place)
        assert asked.reply.notices[0].startswith("Please reply to this message")
        await desk.work(hours=25)
        reminder = desk.posts(place)[-1]
        assert QUESTION in reminder.text
        for number, target in enumerate(("", reminder.id)):
            said = desk.world.chat.message("In 4.", place=place, person=BEN, replies_to=target)
            desk.world.says("I am a bot.")
            await desk.world.send(said)
            await desk.work()
            assert len(told(desk, post)) == number


async def test_each_of_a_group_is_asked_and_the_first_answer_counts(tmp_path: Path) -> None:
    async with opened(tmp_path, SUPPORT) as desk:
        desk.directory.groups["S1"] = (ANN.id, BEN.id, ADMIN.id)
        post = await desk.asked()
        assert desk.posts(replace(CHANNEL, channel="dm-U1")) == [], "not the asker"
        (ben,), (admin,) = desk.posts(DM_BEN), desk.posts(DM_ADMIN)
        await desk.answer("I cannot say.", person=ADMIN, root=ben)
        assert told(desk, post) == [], "only Ben writes there"
        await desk.answer("In the drawer.", root=ben)
        assert told(desk, post)[0].text.endswith("In the drawer. [1]")
        assert admin.reply.notices == ("This question is closed.",)
        await desk.answer("In the safe.", person=ADMIN, root=admin)
        assert len(told(desk, post)) == 1


async def test_a_group_is_given_up_when_all_decline(tmp_path: Path) -> None:
    async with opened(tmp_path, SUPPORT, EXPERTS) as desk:
        desk.directory.groups["S1"] = (BEN.id, ADMIN.id)
        await desk.asked()
        await desk.world.press(desk.posts(DM_BEN)[0], "expert_decline", person=BEN)
        await desk.work()
        assert desk.posts(EXPERTS) == []
        await desk.world.press(desk.posts(DM_ADMIN)[0], "expert_decline", person=ADMIN)
        await desk.work()
        assert len(desk.posts(EXPERTS)) == 1


async def test_a_group_that_nobody_is_in_any_more_passes_the_question_on(tmp_path: Path) -> None:
    async with opened(tmp_path, SUPPORT, EXPERTS) as desk:
        desk.directory.groups["S1"] = (BEN.id,)
        desk.world.says("Nothing.")
        post = await desk.world.ask(QUESTION)
        await desk.world.press(post, "ask_expert", directory=desk.directory)
        assert "@S1 → \\#experts" in desk.world.last.text
        await desk.world.press(desk.world.last, "expert_send", directory=desk.directory)
        desk.directory.groups.clear()
        await desk.work()
        await desk.work()
        assert len(desk.posts(EXPERTS)) == 1


async def test_quotes_are_checked_again_for_those_who_are_asked_next(tmp_path: Path) -> None:
    async with opened(tmp_path, CHANNEL, BEN_ALONE, OTHERS) as desk:
        await desk.world.file("keys.md", "# Keys\n\nThe archive has a secret spare key.\n")
        desk.directory.closed.add((BEN.id, "general"))
        desk.world.says("It has a spare key [1].")
        post = await desk.world.ask(QUESTION)
        await desk.world.press(post, "ask_expert", value=post.button("regenerate"), directory=desk.directory)
        await desk.world.press(desk.world.last, "expert_send", directory=desk.directory)
        await desk.work()
        first = desk.posts(CHANNEL)[-1]
        assert "secret" in first.text, "they can read the file"
        await desk.world.press(first, "expert_decline", person=ADMIN)
        await desk.work()
        (ben,) = desk.posts(DM_BEN)
        assert "secret" not in ben.text
        await desk.world.press(ben, "expert_decline", person=BEN)
        await desk.work()
        assert "secret" not in desk.posts(OTHERS)[-1].text


async def test_files_of_an_answer_are_documents_where_it_was_asked(desk: Desk) -> None:
    post = await desk.asked()
    plan = attachment("plan.md", "# Plan\n\nThe spare key lies under the mat.\n")
    said = await desk.answer("See the plan.", files=(plan,))
    (back,) = told(desk, post)
    assert back.text.endswith("See the plan. [1]\n\n📎 plan.md [2]")
    assert [each.title for each in back.reply.sources] == ["Ben", "plan.md"]
    own = await desk.world.town.own(post.place)
    (record,) = await desk.world.catalog.records(own.id)
    assert record.state == "ready"
    room = Here(desk.world.chat, said.place)
    await desk.world.service.on_message(MessageEdited(message=replace(said, text="See it.")), room)
    await desk.work()
    assert back.text.endswith("See it. [1]\n\n📎 plan.md [2]")
    await desk.world.service.on_message(MessageDeleted(id=said.id, place=EXPERTS), room)
    await desk.work()
    assert back.text.endswith("The expert took this answer back.")
    assert await desk.world.catalog.records(own.id) == []


async def test_a_file_that_cannot_be_read_is_named(desk: Desk) -> None:
    post = await desk.asked()
    await desk.answer("", files=(attachment("song.xyz", b"\0\1\2"),))
    (back,) = told(desk, post)
    assert back.text.endswith("[1]\n\n📎 song.xyz")
    assert len(back.reply.sources) == 1


async def test_private_questions_bring_no_files_and_no_reply(desk: Desk) -> None:
    desk.world.says("Nothing.")
    await desk.world.ask(QUESTION, place=CHANNEL, private=True)
    post = desk.world.last
    await desk.world.press(post, "ask_expert")
    await desk.world.press(desk.world.last, "expert_send")
    await desk.work()
    await desk.answer("Which one?")
    asks = [each for each in desk.world.chat.private if "asks about" in each.text]
    assert asks[0].reply.notices == ("Ask your question again with this detail.",)
    await desk.answer("Here.", files=(attachment("plan.md", "# Plan\n\nMat.\n"),))
    back = desk.world.chat.private[-1]
    assert back.private == ANN
    assert back.text.endswith("Here. [1]\n\n📎 plan.md")
    own = await desk.world.town.own(CHANNEL)
    assert await desk.world.catalog.records(own.id) == []


async def test_who_asked_the_same_sees_corrections_too(desk: Desk) -> None:
    first = await desk.asked()
    second = await desk.asked(ADMIN)
    await desk.answer("In the drawer.")
    await desk.world.press(thread(desk)[-1], "expert_reclassify", person=BEN, ends="nothing")
    await desk.work()
    for post in (first, second):
        assert last_in(desk, post.place.thread).text.endswith("The expert took this answer back.")
    await desk.answer("In the safe.")
    for post in (first, second):
        assert last_in(desk, post.place.thread).text.endswith("In the safe. [1]")
