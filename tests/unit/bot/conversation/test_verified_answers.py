"""*Save as verified*, the answer that is shown then, and what makes it outdated."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.conversation.verified_reviews import VerifiedReviews
from bot.port import Action
from rag_engine.types import DocumentId
from tests.unit.bot.chatting import ADMIN, ANN, BEN, CHANNEL, Here, Post, World, world
from tests.unit.bot.conversation.leave import LEAVE, QUESTION

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from bot.port import IncomingMessage


@pytest.fixture
async def here(tmp_path: Path) -> AsyncGenerator[World]:
    async with world(tmp_path) as made:
        await made.file("leave.md", LEAVE)
        yield made


async def save(here: World) -> None:
    here.says("28 days [1].")
    post = await here.ask(QUESTION)
    await here.press(post, "feedback", ends="up", person=ADMIN)
    await here.press(here.last, "verify", person=ADMIN)


async def test_a_saved_answer_answers_the_next_who_asks(here: World) -> None:
    await save(here)
    assert here.last.text == "Saved as a verified answer in this channel."
    assert here.last.private == ADMIN
    asked = len(here.model.prompts)
    post = await here.ask(f"  {QUESTION.upper()} ", person=BEN)
    assert post.text == "28 days. [1]"
    assert "✓ Verified by Ada, " in shown(post)
    assert QUESTION in shown(post)
    assert len(here.model.prompts) == asked, "no language model writes it again"


async def test_another_question_does_not_get_it(here: World) -> None:
    await save(here)
    here.says("No idea.")
    post = await here.ask("How many days of leave do we have in 2031?")
    assert "Verified" not in shown(post)


async def test_it_is_outdated_when_its_source_changes(here: World) -> None:
    await save(here)
    await here.file("leave.md", LEAVE.replace("28", "30"))
    post = await here.ask(QUESTION)
    assert "Possibly outdated: leave.md changed or was removed since." in shown(post)


async def test_only_administrators_are_offered_to_save(here: World) -> None:
    here.says("28 days [1].")
    post = await here.ask(QUESTION)
    await here.press(post, "feedback", ends="up", person=BEN)
    assert not here.last.buttons
    await here.press(post, "verify", value=post.button("regenerate"), person=BEN)
    assert here.last.text == "Only an admin may administer here."
    base = await here.town.own(CHANNEL)
    assert await here.catalog.verified.read({base.id}) == []


async def test_sources_that_are_gone_are_not_saved(here: World) -> None:
    here.says("28 days [1].")
    post = await here.ask(QUESTION)
    await here.press(post, "feedback", ends="up", person=ADMIN)
    base = await here.town.own(CHANNEL)
    for record in await here.catalog.records(base.id):
        await here.ingestion.forget(base.id, record.document.id)
    await here.press(here.last, "verify", person=ADMIN)
    assert "quotes files that not everyone" in here.last.text
    assert await here.catalog.verified.read({base.id}) == []


@pytest.mark.parametrize("private", [False, True])
async def test_messages_that_only_the_asker_may_read_are_not_saved(here: World, private: bool) -> None:
    """A public answer quotes only what everyone in its place may read."""
    here.says("28 days [1].")
    post = await here.ask(QUESTION, person=ADMIN, private=private)
    turn = await here.turns.find(post.button("sources").partition(":")[0])
    assert turn is not None
    cited = tuple(replace(each, document=DocumentId("message:1")) for each in turn.citations)
    assert cited
    await here.turns.save(replace(turn, citations=cited))
    await here.press(post, "verify", value=turn.id, person=ADMIN)
    base = await here.town.own(CHANNEL)
    assert len(await here.catalog.verified.read({base.id})) == (0 if private else 1)
    assert ("not everyone who reads" in here.last.text) == private


async def test_a_message_in_a_thread_answers_its_first(here: World) -> None:
    thread = replace(CHANNEL, thread="t1")
    asked = here.chat.message("Where is the spare key?", place=thread, person=ANN, addressed=False)
    said = here.chat.message("In the drawer of room 4.", place=thread, person=BEN, addressed=False)
    here.chat.said += [replace(asked, in_thread=True), replace(said, in_thread=True, uri="https://chat/2")]
    action = Action(
        id="s1", name="save_verified", value="https://chat/2", place=thread, person=ADMIN, message=said.id
    )
    await here.service.on_action(action, Here(here.chat, thread))
    base = await here.town.own(CHANNEL)
    (saved,) = await here.catalog.verified.read({base.id})
    assert (saved.question, saved.answer, saved.uri) == (asked.text, said.text, "https://chat/2")


async def test_a_message_without_a_question_is_not_saved(here: World) -> None:
    said = here.chat.message("In the drawer of room 4.", person=BEN, addressed=False)
    action = Action(id="s1", name="save_verified", value="x", place=CHANNEL, person=ADMIN, message=said.id)
    await here.service.on_action(action, Here(here.chat, CHANNEL))
    assert "/kb verified add QUESTION = ANSWER" in here.last.text


def shown(post: Post) -> str:
    """What is under the text."""
    reply = post.reply
    return "\n".join((*reply.notices, *(source.title for source in reply.sources)))


async def test_the_author_of_an_outdated_answer_is_asked_once(here: World) -> None:
    await save(here)

    async def recall(message: IncomingMessage) -> tuple[IncomingMessage, Here]:
        return message, Here(here.chat, message.place)

    await here.service.resume("test", recall)
    reviews = VerifiedReviews(
        answers=here.catalog.verified,
        outbound=here.service.outbound,
        scheduler=here.service.runner.scheduler,
    )
    posts = len(here.chat.posts)
    await reviews.ask_due()
    assert len(here.chat.posts) == posts
    await here.file("leave.md", LEAVE.replace("28", "30"))
    await reviews.ask_due()
    await reviews.ask_due()
    assert len(here.chat.posts) == posts + 1
    assert "Is it still right" in here.last.text or "still right?" in here.last.text
    assert here.last.private is not None
    assert here.last.private.id == ADMIN.id
    assert [one.label for one in here.last.reply.buttons] == ["Still right", "Edit", "Revoke"]
