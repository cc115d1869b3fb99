"""What is asked and not answered becomes gaps, once each, and goes with its question."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot import settings
from bot.conversation import retention
from bot.conversation.gaps.gap_intake import GapIntake
from bot.conversation.gaps.gap_list import GapList, Operator
from bot.maintenance.erasure import eraser
from bot.port import MessageDeleted
from bot.store import feedback
from bot.store.expert_requests import ExpertRequest
from rag_engine.errors import ModelUnavailable
from tests.unit.bot.chatting import ADMIN, ANN, BEN, CHANNEL, Everybody, Here, World, world

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from pathlib import Path

    from bot.conversation.gaps.gap_list import ShownGap
    from bot.port import IncomingMessage

KEY = "Where is the spare key of the archive?"
SECOND = replace(CHANNEL, channel="second")
OTHER = "Who feeds the cat of the lighthouse?"


@pytest.fixture
async def here(tmp_path: Path) -> AsyncGenerator[World]:
    async with world(tmp_path) as made:
        for place in (CHANNEL, SECOND):
            await made.file("leave.md", "# Leave\n\nThe leave is 28 days.", place=place)
        made.says("I do not know that.")
        yield made


def intake(here: World, name: object = None) -> GapIntake:
    database = here.stores.experts._database
    return GapIntake.over(database, here.history, here.service.runner.answers.engine.embedder, name)  # type: ignore[arg-type]


async def gaps(here: World, *, done: bool = False) -> list[ShownGap]:
    found = intake(here)
    await found.update()
    return await GapList(gaps=found.gaps, history=here.history).read(Operator(), done=done)


def told(shown: Sequence[ShownGap]) -> list[tuple[str, int]]:
    return [(each.title, each.count) for each in shown]


async def test_the_same_question_is_one_gap_and_another_is_another(here: World) -> None:
    await here.ask(KEY)
    assert told(await gaps(here)) == [(KEY, 1)]
    (first,) = await gaps(here)
    await here.ask(KEY, person=BEN, place=SECOND)
    await here.ask(OTHER)
    shown = await gaps(here)
    assert told(shown) == [(KEY, 2), (OTHER, 1)]
    assert shown[0].gap.id == first.gap.id, "its id stays"
    assert (shown[0].this_week, shown[0].last_week, dict(shown[0].reasons)) == (2, 0, {"not_found": 2})
    assert told(await gaps(here)) == [(KEY, 2), (OTHER, 1)], "nothing counts twice"


async def test_an_answered_question_is_none_and_stops_being_one(here: World) -> None:
    post = await here.ask("How long is the leave?")
    assert told(await gaps(here)) == [("How long is the leave?", 1)]
    here.says("The leave is 28 days [1].")
    await here.press(post, "regenerate")
    assert await gaps(here) == []
    await here.ask("How long is the leave of everybody?")
    assert await gaps(here) == []


async def test_a_reason_makes_a_rated_answer_a_gap_until_the_rating_changes(here: World) -> None:
    here.says("The leave is 28 days [1].")
    post = await here.ask("How long is the leave?")
    await here.press(post, "feedback", ends=":down")
    assert await gaps(here) == [], "nobody said why"
    turn = await here.turns.of_answer(post.place, post.id)
    assert turn is not None
    await here.turns.explain_rating(turn, ANN.id, "outdated")
    (shown,) = await gaps(here)
    assert (shown.title, dict(shown.reasons)) == ("How long is the leave?", {"outdated": 1})
    await here.press(post, "feedback", ends=":up")
    assert await gaps(here) == []


async def test_private_questions_count_without_their_words(here: World) -> None:
    await here.ask(KEY, private=True)
    assert told(await gaps(here)) == [("", 1)]
    await here.ask(KEY)
    assert told(await gaps(here)) == [(KEY, 2)]


async def test_a_deleted_question_goes_with_its_gap(here: World) -> None:
    message = here.chat.message(KEY)
    await here.send(message)
    assert told(await gaps(here)) == [(KEY, 1)]
    room = Here(here.chat, message.place, message)
    await here.service.on_message(MessageDeleted(id=message.id, place=message.place), room)
    assert await gaps(here) == []
    assert await intake(here).gaps.all() == {}


async def test_a_question_that_is_deleted_after_its_preview_goes_to_nobody(here: World) -> None:
    experts, own = replace(CHANNEL, channel="experts"), await here.town.own(CHANNEL)
    await here.stores.experts.name_experts(own.id, experts, experts.channel, add=True)
    message = here.chat.message(KEY)
    await here.send(message)
    post = here.last
    (shown,) = await gaps(here)
    await here.press(post, "gap_expert", person=ADMIN, value=shown.gap.id)
    preview = here.last
    assert KEY in preview.text
    room = Here(here.chat, message.place, message)
    await here.service.on_message(MessageDeleted(id=message.id, place=message.place), room)
    await here.press(preview, "gap_send", person=ADMIN)
    assert await here.stores.experts.due("test") == []
    assert "is with the experts" not in here.last.text


async def test_experts_of_a_place_that_only_hidden_questions_searched_are_not_named(here: World) -> None:
    experts = replace(CHANNEL, channel="experts")
    second = await here.town.own(SECOND)
    await here.stores.experts.name_experts(second.id, experts, experts.channel, add=True)
    await here.ask(KEY, person=BEN, place=SECOND, private=True)
    post = await here.ask(KEY)
    (shown,) = await gaps(here)
    assert shown.count == 2
    await here.press(post, "gap_expert", person=ADMIN, value=shown.gap.id)
    assert here.last.text.startswith("There are no experts who may read this question.")
    own = await here.town.own(CHANNEL)
    await here.stores.experts.name_experts(own.id, experts, experts.channel, add=True)
    await here.press(post, "gap_expert", person=ADMIN, value=shown.gap.id)
    assert KEY in here.last.text


async def test_what_experts_say_about_a_gap_is_saved_only_where_all_may_read_its_question(
    here: World,
) -> None:
    async def recall(message: IncomingMessage) -> tuple[IncomingMessage, Here]:
        return message, Here(here.chat, message.place)

    here.service.experts.outbound.recalls["test"] = recall
    await here.ask(KEY, place=SECOND)
    await gaps(here)
    ((question, *_),) = await here.stores.experts._database.fetch("SELECT question FROM gap_questions")
    base = await here.town.own(SECOND)
    request = ExpertRequest(
        knowledge_base=base.id,
        platform=CHANNEL.platform,
        workspace=CHANNEL.workspace,
        channel=CHANNEL.channel,
        thread=CHANNEL.thread,
        message="1",
        answer_id=f"gap:{question}",
        private=True,
        person=ADMIN.id,
        name=ADMIN.name,
        language="en",
        question=KEY,
        body="",
        state="answered",
        expert_channel="experts",
        expert=BEN.id,
        expert_name=BEN.name,
        said="In the drawer.",
        said_at=1.0,
    )
    await here.stores.experts.add(request)
    await here.service.experts.work()
    back = here.last
    assert "In the drawer." in back.text
    directory = Everybody()
    directory.closed.add(("", SECOND.channel))
    await here.press(back, "expert_verify", person=ADMIN, directory=directory)
    assert here.last.text.startswith("Not everyone here may read where this was asked.")
    await here.press(back, "expert_verify", person=ADMIN)
    assert here.last.text.startswith("Saved as a verified answer")


async def test_a_closed_gap_opens_when_it_is_asked_again(here: World) -> None:
    await here.ask(KEY)
    (shown,) = await gaps(here)
    assert await intake(here).gaps.close(shown.gap.id, at=time.time())
    assert await gaps(here) == []
    assert told(await gaps(here, done=True)) == [(KEY, 1)]
    await here.ask(KEY, person=BEN)
    assert told(await gaps(here)) == [(KEY, 2)]


async def test_two_processes_count_once(here: World) -> None:
    for number in range(6):
        await here.ask(f"{KEY} {number}" if number % 2 else KEY)
    await asyncio.gather(*(intake(here).update() for _ in range(4)))
    assert sum(count for _, count in told(await gaps(here))) == 6


async def test_an_unfinished_answer_is_waited_for(here: World) -> None:
    await here.ask(KEY)
    post = await here.ask(OTHER)
    turn = await here.turns.of_answer(post.place, post.id)
    assert turn is not None
    await here.turns.save(replace(turn, state="streaming"))
    assert told(await gaps(here)) == [(KEY, 1)]
    await here.turns.save(replace(turn, state="final"))
    assert told(await gaps(here)) == [(OTHER, 1), (KEY, 1)]


async def test_a_name_is_shown_to_who_may_read_all_that_it_was_made_from(here: World) -> None:
    await here.ask(KEY)
    await here.ask(KEY, person=BEN)
    await here.ask(KEY, private=True)
    given: list[Sequence[str]] = []

    async def name(questions: Sequence[str]) -> str:
        given.append(questions)
        return "Archive key"

    await intake(here, name).update()
    assert given == [[KEY, KEY]], "no private question"
    assert told(await gaps(here)) == [("Archive key", 3)]
    await intake(here, name).update()
    assert len(given) == 1

    class Nobody:
        def sees(self, question: object) -> bool:
            return True

        async def may_read(self, question: object) -> bool:
            return False

    (hidden,) = await GapList(gaps=intake(here).gaps, history=here.history).read(Nobody())
    assert (hidden.title, hidden.questions, hidden.count) == ("", (), 3)


async def test_without_the_model_a_gap_has_its_question(here: World) -> None:
    await here.ask(KEY)
    await here.ask(KEY, person=BEN)

    async def name(questions: Sequence[str]) -> str:
        raise ModelUnavailable("The model does not answer.")

    await intake(here, name).update()
    assert told(await gaps(here)) == [(KEY, 2)]


async def test_another_embedder_keeps_the_gaps(here: World) -> None:
    await here.ask(KEY)
    (shown,) = await gaps(here)
    database = here.stores.experts._database
    async with database.transaction() as transaction:
        await transaction.execute("UPDATE gap_questions SET model = 'old', vector = x'00000000'")
    await here.ask(KEY, person=BEN)
    (again,) = await gaps(here)
    assert (again.gap.id, again.count) == (shown.gap.id, 2)


async def test_gaps_expire_with_their_questions(here: World) -> None:
    await here.ask(KEY)
    assert len(await gaps(here)) == 1
    database = here.stores.experts._database
    await retention.prune(
        86_400.0, history=here.history, chat=database, clock=lambda: time.time() + 2 * 86_400.0
    )
    assert await database.fetch("SELECT question FROM gap_questions UNION SELECT id FROM gaps") == []


@pytest.mark.process
@pytest.mark.parametrize("what", ["person", "channel", "document"])
async def test_forgetting_takes_the_words_the_vectors_and_the_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    async with world(folder) as here:
        await here.file("zleavez.md", "# Leave\n\nThe leave is 28 days.")
        await here.file("other.md", "# Other\n\nIt is late.", place=SECOND)
        here.says("I do not know that.")
        await here.ask(f"{KEY} zwordz", person=BEN)
        await here.ask(f"{KEY} zwordz", person=BEN)
        await here.ask("What does zotherz say?", place=SECOND)

        async def name(questions: Sequence[str]) -> str:
            return "About zwordz and zleavez.md"

        await intake(here, name).update()
        base = await here.town.own(CHANNEL)
        named = await here.catalog.select(ids=[base.id])
    monkeypatch.setenv("FOOTNOTE_EMBEDDER__KIND", "hashing")
    chosen = settings.read().model_copy(update={"data_dir": folder})
    async with eraser.opened(chosen) as opened:
        finder = opened.finder
        marks = await {
            "person": lambda: finder.person(BEN.id, files=False),
            "channel": lambda: finder.channel(CHANNEL.channel),
            "document": lambda: finder.document(named[0].name, "zleavez.md"),
        }[what]()
        counts = {each.what: each.count for each in await opened.survey(marks)}
        assert counts["names of gaps"] == 1
        outcome = await opened.forget(marks)
        assert outcome.left == ()
        chat = opened.databases["chat.sqlite"]
        assert await chat.fetch("SELECT name FROM gaps WHERE name <> ''") == []
        left = await chat.fetch("SELECT count(*) FROM gap_questions")
        assert left == [(1,)]
    words = [b"About zwordz"] if what == "document" else [b"zwordz"]
    for path in folder.rglob("*"):
        if path.is_file():
            assert not any(word in path.read_bytes() for word in words), path


async def test_a_group_messages_words_are_not_the_operators(here: World) -> None:
    group = replace(CHANNEL, channel="group of three")
    await here.file("leave.md", "# Leave\n\nThe leave is 28 days.", place=group)
    post = await here.ask(KEY, place=replace(group, thread="t1"))
    assert told(await gaps(here)) == [("", 1)]
    await here.press(post, "feedback", ends=":down")
    (rated,) = await feedback.listed(here.stores.experts._database)
    assert (rated.place, rated.question) == ("test: private", "")
