"""Files in messages: whose they are, what is said of each, and how one reaches the whole channel."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

from bot.port import MessageDeleted, MessageEdited, Unreachable, WriteRefused
from bot.store.places import PlaceSettings
from tests.unit.bot.chatting import ADMIN, ANN, BEN, CHANNEL, DIRECT, Here, attachment
from tests.unit.bot.conversation.leave import IN_THREAD, LEAVE, QUESTION, documents

if TYPE_CHECKING:
    from tests.unit.bot.chatting import World


async def test_a_file_in_a_thread_is_the_threads_and_can_be_asked_about(here: World) -> None:
    post = await here.ask("", attachment("leave.md", LEAVE), **IN_THREAD)
    assert post.text == "- leave.md: 1 passage, searchable"
    assert "leave.md: received" in post.statuses
    assert "leave.md: reading…" in "\n".join(post.statuses)
    assert await documents(here) == {"general t1": ["leave.md"]}
    here.says("28 days [1].")
    assert (await here.ask(QUESTION, **IN_THREAD)).text == "28 days [1]."
    elsewhere = await here.ask(QUESTION, place=replace(CHANNEL, thread="t2"), in_thread=True)
    assert "28 days" not in elsewhere.text


async def test_a_file_with_a_question_is_taken_in_first_and_its_outcome_stays(here: World) -> None:
    here.says("28 days [1].")
    post = await here.ask(QUESTION, attachment("leave.md", LEAVE), **IN_THREAD)
    assert len(here.chat.posts) == 1
    assert post.text == "28 days [1]."
    assert post.reply.notices == ("leave.md: 1 passage, searchable",)
    assert post.buttons == ["sources", "regenerate", "dig_deeper", "why", "feedback", "feedback", "promote"]


async def test_every_file_of_a_message_goes_in_also_where_another_cannot(here: World) -> None:
    post = await here.ask(
        "",
        attachment("leave.md", LEAVE, uri="chat://m"),
        attachment("film.mp4", b"\x00\x00\x00\x18ftypmp42", uri="chat://m"),
        attachment(
            "gone.md", WriteRefused("The link to gone.md has expired: send it again."), uri="chat://m"
        ),
        attachment("notice.md", "# Notice\n\nFour weeks.\n", uri="chat://m"),
        attachment("canvas", b"x", uri="chat://m", refusal="Canvases cannot be read."),
        **IN_THREAD,
    )
    lines = post.text.splitlines()
    assert lines[0] == "- leave.md: 1 passage, searchable"
    assert lines[1].startswith("- film.mp4: this kind of file cannot be read; I read PDF")
    assert lines[2] == "- gone.md: The link to gone.md has expired: send it again."
    assert lines[3] == "- notice.md: 1 passage, searchable"
    assert lines[4] == "- canvas: Canvases cannot be read."
    assert await documents(here) == {"general t1": ["leave.md", "notice.md"]}
    growing = [page.text.splitlines() for page in post.pages if page.text]
    assert {len(shown) for shown in growing} == {5}, "each has its line from the beginning to the end"
    assert growing[0][0] == "- leave.md: received"


async def test_a_file_in_a_direct_message_is_of_that_conversation(here: World) -> None:
    await here.ask("", attachment("leave.md", LEAVE), place=DIRECT)
    assert await documents(here) == {"dm-ann": ["leave.md"]}
    assert "promote" not in here.last.buttons


async def test_a_file_at_the_top_level_is_the_channels_or_without_leave_the_threads(here: World) -> None:
    post = await here.ask("", attachment("leave.md", LEAVE))
    assert post.text == "- leave.md: 1 passage, searchable"
    (where,) = await documents(here)
    assert where.startswith("general ")  # the thread that the answer opened
    here.says("28 days [1].")
    thread = replace(CHANNEL, thread=where.split()[1])
    assert (await here.ask(QUESTION, place=thread, in_thread=True)).text == "28 days [1]."
    await here.ask("", attachment("leave.md", LEAVE), person=ADMIN)
    assert (await documents(here))["general"] == ["leave.md"]


async def test_a_file_for_the_whole_channel_needs_permission_and_only_its_sender_is_notified(
    here: World,
) -> None:
    await here.ask("", attachment("leave.md", LEAVE), place=CHANNEL)
    assert not here.chat.public
    assert here.last.private == ANN
    assert here.last.text == "leave.md: Only an admin may add here."
    assert await documents(here) == {}
    await here.ask("", attachment("leave.md", LEAVE), person=ADMIN, place=CHANNEL)
    assert here.last.text == "- leave.md: 1 passage, searchable"
    assert await documents(here) == {"general": ["leave.md"]}


async def test_where_no_thread_can_be_opened_a_file_is_the_channels_or_nobodys(here: World) -> None:
    """The thread that the message came with is not there: nothing may be kept under it."""
    message = here.chat.message("", attachment("leave.md", LEAVE))
    room = Here(here.chat, message.place, message, threads=False)
    await here.send(message, into=room)
    assert not here.chat.public
    assert here.last.private == ANN
    assert here.last.text == "leave.md: Only an admin may add here."
    assert await documents(here) == {}
    message = here.chat.message("", attachment("leave.md", LEAVE), person=ADMIN)
    await here.send(message, into=Here(here.chat, message.place, message, threads=False))
    assert await documents(here) == {"general": ["leave.md"]}
    turn = await here.turns.of_message(message.place, message.id)
    assert turn is not None
    assert turn.place == CHANNEL


async def test_no_thread_is_opened_for_a_file_that_nobody_may_add_or_in_private(here: World) -> None:
    here.town.closed = True
    message = here.chat.message("", attachment("leave.md", LEAVE))
    room = Here(here.chat, message.place, message)
    await here.send(message, into=room)
    assert here.last.text == "leave.md: Only an admin may add here."
    private = here.chat.message(QUESTION, private=True)
    alone = Here(here.chat, private.place, private)
    await here.send(private, into=alone)
    assert (room.opened, alone.opened) == (0, 0)


async def test_a_question_is_answered_also_where_its_file_was_refused(here: World) -> None:
    await here.file("leave.md", LEAVE)
    here.says("28 days [1].")
    await here.ask(QUESTION, attachment("other.md", "# Other\n"), place=CHANNEL)
    assert [post.text for post in here.chat.public] == ["28 days [1]."]
    assert [post.text for post in here.chat.private] == ["other.md: Only an admin may add here."]


async def test_a_mention_adds_the_files_of_its_thread_once(here: World) -> None:
    here.chat.message("", attachment("leave.md", LEAVE), person=BEN, addressed=False, **IN_THREAD)
    here.says("28 days [1].")
    post = await here.ask(QUESTION, **IN_THREAD)
    assert post.text == "28 days [1]."
    assert post.reply.notices == ("leave.md: 1 passage, searchable",)
    again = await here.ask("And next year?", **IN_THREAD)
    assert again.reply.notices == ()


async def test_a_file_of_the_channel_is_not_added_once_more_in_the_thread_under_it(here: World) -> None:
    post = await here.ask("", attachment("leave.md", LEAVE), person=ADMIN)
    assert await documents(here) == {"general": ["leave.md"]}
    here.says("28 days [1].")
    asked = await here.ask(QUESTION, person=ADMIN, place=here.chat.said[-1].place, in_thread=True)
    assert asked.text == "28 days [1]."
    assert "promote" not in asked.buttons
    assert await documents(here) == {"general": ["leave.md"]}
    assert post.text == "- leave.md: 1 passage, searchable"


async def test_files_of_a_thread_are_not_taken_in_for_who_did_not_ask_for_it(here: World) -> None:
    here.says("28 days [1].")
    await here.ask("Hello there, anybody?", **IN_THREAD)
    here.chat.message("", attachment("leave.md", LEAVE), by_bot=True, addressed=False, **IN_THREAD)
    await here.send(here.chat.message("So what?", addressed=False, **IN_THREAD))
    assert await documents(here) == {}


async def test_what_failed_for_no_fault_of_the_file_is_tried_again(here: World) -> None:
    faulty = attachment("leave.md", Unreachable("no answer"))
    message = here.chat.message("", faulty, person=BEN, addressed=False, **IN_THREAD)
    await here.ask(QUESTION, **IN_THREAD)
    assert here.last.reply.notices[0] == "leave.md: it could not be fetched; send it again."
    here.chat.said[here.chat.said.index(message)] = replace(
        message, attachments=(attachment("leave.md", LEAVE),)
    )
    here.says("28 days [1].")
    assert (await here.ask(QUESTION, **IN_THREAD)).text == "28 days [1]."


async def test_files_are_enough_where_everything_is_answered(here: World) -> None:
    here.town.settings_of["general"] = PlaceSettings(mode="auto")
    message = here.chat.message("fyi", attachment("leave.md", LEAVE), person=ADMIN, addressed=False)
    await here.send(message)
    assert await documents(here) == {"general": ["leave.md"]}


async def test_a_bare_mention_takes_in_the_file_before_it(here: World) -> None:
    here.chat.message("", attachment("leave.md", LEAVE), addressed=False, **IN_THREAD)
    post = await here.ask("", **IN_THREAD)
    assert post.text == "- leave.md: 1 passage, searchable"


async def test_the_same_file_twice_is_said_to_be_there(here: World) -> None:
    await here.ask("", attachment("leave.md", LEAVE), **IN_THREAD)
    post = await here.ask("", attachment("leave.md", LEAVE, id="F2", uri="chat://2"), **IN_THREAD)
    assert post.text == "- leave.md: already added, searchable"


async def test_an_administrator_promotes_a_threads_file_to_the_channel(here: World) -> None:
    message = here.chat.message("", attachment("leave.md", LEAVE, uri="chat://general/m1"), **IN_THREAD)
    message = replace(message, uri="chat://general/m1")
    here.chat.said[-1] = message
    await here.send(message)
    post = here.last
    assert post.buttons == ["promote"]
    await here.press(post, "promote")
    assert here.last.private == ANN
    assert here.last.text == "Only an admin may administer here."
    await here.press(post, "promote", person=ADMIN)
    assert here.last.private == ADMIN
    assert here.last.text.startswith("leave.md is in the knowledge base of this channel now")
    assert await documents(here) == {"general": ["leave.md"], "general t1": []}
    here.says("28 days [1].")
    assert (await here.ask(QUESTION)).text == "28 days [1]."
    await here.press(post, "promote", person=ADMIN)
    assert here.last.text == "leave.md is already in the channel's knowledge base."


async def test_a_file_whose_message_is_gone_cannot_be_promoted(here: World) -> None:
    await here.ask("", attachment("leave.md", LEAVE), **IN_THREAD)
    post = here.last
    here.chat.said.clear()
    await here.press(post, "promote", person=ADMIN)
    assert "can no longer be read" in here.last.text
    await here.press(
        post, "promote", person=ADMIN, value=post.button("promote").partition(":")[0] + ":nonsense"
    )
    assert "no longer stored" in here.last.text


async def test_a_message_of_files_that_failed_is_read_again_by_its_button(here: World) -> None:
    real = here.town.own

    async def broken(place: object) -> NoReturn:
        raise ValueError("a bug")

    here.town.own = broken
    post = await here.ask("", attachment("leave.md", LEAVE), **IN_THREAD)
    assert post.text.startswith("Something broke")
    here.town.own = real
    await here.press(post, "regenerate")
    assert post.text == "- leave.md: 1 passage, searchable"


async def test_uploads_wait_for_each_other_in_a_conversation(here: World) -> None:
    """A question that comes while the file before it is read is answered from it."""
    gate = asyncio.Event()
    slow = attachment("leave.md", LEAVE)

    async def pieces() -> object:
        await gate.wait()
        yield LEAVE.encode()

    first = here.chat.message("", replace(slow, open=pieces), **IN_THREAD)
    taking = asyncio.create_task(here.send(first))
    await here.chat.until(lambda: bool(here.chat.posts))
    here.says("28 days [1].")
    asking = asyncio.create_task(here.send(here.chat.message(QUESTION, **IN_THREAD)))
    await here.chat.until(lambda: len(here.chat.posts) == 2)
    gate.set()
    await asyncio.gather(taking, asking)
    assert here.last.text == "28 days [1]."


async def test_promote_stays_after_regenerate(here: World) -> None:
    here.says("28 days [1].")
    post = await here.ask(QUESTION, attachment("leave.md", LEAVE, uri="chat://general/m1"), **IN_THREAD)
    here.says("It is 28 days [1].")
    await here.press(post, "regenerate")
    assert post.text == "It is 28 days [1]."
    assert post.buttons == [
        "sources",
        "regenerate",
        "previous_version",
        "dig_deeper",
        "why",
        "feedback",
        "feedback",
        "promote",
    ]
    await here.press(post, "promote", person=ADMIN)
    assert (await documents(here))["general"] == ["leave.md"]


async def test_promote_stays_after_an_edit(here: World) -> None:
    message = here.chat.message("How many days?", attachment("leave.md", LEAVE), **IN_THREAD)
    await here.send(message)
    here.says("It is 28 days [1].")
    edited = MessageEdited(message=replace(message, text=QUESTION))
    await here.service.on_message(edited, Here(here.chat, message.place, message))
    assert here.last.text == "It is 28 days [1]."
    assert here.last.buttons[-1] == "promote"


async def test_regenerate_reads_again_what_could_not_be_fetched_and_only_that(here: World) -> None:
    uri = "chat://general/m1"
    there = attachment("notice.md", "# Notice\n\nFour weeks.\n", uri=uri)
    faulty = attachment("leave.md", Unreachable("no answer"), uri=uri)
    here.says("I do not know.")
    message = here.chat.message(QUESTION, there, faulty, **IN_THREAD)
    await here.send(message)
    post = here.last
    again = replace(message, attachments=(there, attachment("leave.md", LEAVE, uri=uri)))
    here.chat.said[here.chat.said.index(message)] = again
    here.says("28 days [1].")
    await here.press(post, "regenerate")
    assert post.text == "28 days [1]."
    assert post.reply.notices == ("leave.md: 1 passage, searchable", "Consulted, not cited: notice.md")
    assert post.buttons[-2:] == ["promote", "promote"]
    assert await documents(here) == {"general t1": ["leave.md", "notice.md"]}


async def test_asking_about_a_message_reads_its_file_first(here: World) -> None:
    here.says("28 days [1].")
    about = {"private": True, "about": "m0", "person": BEN}
    post = await here.ask(QUESTION, attachment("leave.md", LEAVE), **about)
    assert post.private == BEN
    assert post.text == "28 days [1]."
    assert post.reply.notices == ("leave.md: 1 passage, searchable",)
    assert not here.chat.public
    again = await here.ask(QUESTION, attachment("leave.md", LEAVE), **{**about, "place": post.place})
    assert again.reply.notices == ()


async def test_asking_about_a_message_of_files_reports_their_outcome(here: World) -> None:
    about = {"private": True, "about": "m0", "person": BEN, **IN_THREAD}
    post = await here.ask("", attachment("leave.md", LEAVE), **about)
    assert post.text == "- leave.md: 1 passage, searchable"
    again = await here.ask("", attachment("leave.md", LEAVE), **about)
    assert again.text == "- leave.md: already added, searchable"
    assert again.private == BEN
    gone = MessageDeleted(id="m0", place=CHANNEL)
    await here.service.on_message(gone, Here(here.chat, CHANNEL))
    assert await documents(here) == {"general t1": []}


async def test_asking_about_a_message_takes_in_no_other_file_of_its_thread(here: World) -> None:
    other = attachment("other.md", "# Other\n\nNothing.\n")
    here.chat.message("", other, person=BEN, addressed=False, **IN_THREAD)
    await here.ask(QUESTION, attachment("leave.md", LEAVE), private=True, about="m0", **IN_THREAD)
    assert await documents(here) == {"general t1": ["leave.md"]}
