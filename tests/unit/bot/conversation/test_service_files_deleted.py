"""Files whose messages are deleted."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from bot.port import MessageDeleted
from tests.unit.bot.chatting import ADMIN, BEN, THREAD, Here, attachment
from tests.unit.bot.conversation.leave import IN_THREAD, LEAVE, QUESTION, documents

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bot.port import IncomingMessage
    from tests.unit.bot.chatting import World


async def delete(here: World, message: IncomingMessage) -> None:
    async with asyncio.timeout(10):
        here.chat.said.remove(message)
        gone = MessageDeleted(id=message.id, place=message.place.parent)
        await here.service.on_message(gone, Here(here.chat, message.place))


async def test_what_a_file_said_goes_with_its_message(here: World) -> None:
    other = attachment("notice.md", "# Notice\n\nFour weeks.\n", uri="chat://m")
    message = here.chat.message("", attachment("leave.md", LEAVE, uri="chat://m"), other, **IN_THREAD)
    await here.send(message)
    await delete(here, message)
    assert await documents(here) == {"general t1": []}
    assert "28 days" not in (await here.ask(QUESTION, **IN_THREAD)).text
    assert await here.stores.files.brought_by(THREAD, message.id) == []


async def test_a_file_of_the_thread_goes_with_the_message_that_brought_it_not_with_the_question(
    here: World,
) -> None:
    brought = here.chat.message(
        "", attachment("leave.md", LEAVE), person=BEN, addressed=False, at=time.time() - 5, **IN_THREAD
    )
    question = here.chat.message(QUESTION, **IN_THREAD)
    await here.send(question)
    await delete(here, question)
    assert await documents(here) == {"general t1": ["leave.md"]}
    await delete(here, brought)
    assert await documents(here) == {"general t1": []}


async def test_what_two_messages_brought_goes_with_the_second_of_them(here: World) -> None:
    first = here.chat.message("", attachment("leave.md", LEAVE, id="F1", uri="chat://1"), **IN_THREAD)
    second = here.chat.message("", attachment("leave.md", LEAVE, id="F2", uri="chat://2"), **IN_THREAD)
    await here.send(first)
    await here.send(second)
    await delete(here, first)
    (base,) = await here.catalog.knowledge_bases()
    (record,) = await here.catalog.records(base.id)
    assert record.document.uri == "chat://2"
    assert record.state == "ready"
    here.says("28 days [1].")
    assert (await here.ask(QUESTION, **IN_THREAD)).text == "28 days [1]."
    await delete(here, second)
    assert await documents(here) == {"general t1": []}


async def test_a_promoted_file_stays_with_the_channel(here: World) -> None:
    message = here.chat.message("", attachment("leave.md", LEAVE, uri="chat://general/m1"), **IN_THREAD)
    await here.send(message)
    await here.press(here.last, "promote", person=ADMIN)
    await delete(here, message)
    assert await documents(here) == {"general": ["leave.md"], "general t1": []}


async def test_two_files_of_a_message_are_promoted_beside_each_other(here: World) -> None:
    uri = "chat://general/m1"
    other = attachment("notice.md", "# Notice\n\nFour weeks.\n", uri=uri)
    await here.send(here.chat.message("", attachment("leave.md", LEAVE, uri=uri), other, **IN_THREAD))
    post = here.last
    values = [button.value for button in post.reply.buttons]
    for value in values:
        await here.press(post, "promote", person=ADMIN, value=value)
    assert await documents(here) == {"general": ["leave.md", "notice.md"], "general t1": []}


async def test_a_message_that_is_deleted_while_its_files_are_read_leaves_nothing(here: World) -> None:
    gate = asyncio.Event()

    async def pieces() -> AsyncIterator[bytes]:
        await gate.wait()
        yield LEAVE.encode()

    slow = replace(attachment("slow.md", "slow", uri="chat://m"), open=pieces)
    message = here.chat.message("", attachment("leave.md", LEAVE, uri="chat://m"), slow, **IN_THREAD)
    taking = asyncio.create_task(here.send(message))
    await here.chat.until(lambda: bool(here.chat.posts) and "searchable" in here.last.text)
    await delete(here, message)
    await taking
    assert await documents(here) == {"general t1": []}
