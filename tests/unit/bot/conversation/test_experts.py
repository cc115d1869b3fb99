"""A question that the files do not answer goes to people and comes back: what both sides see, in every turn that it can take."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest

from bot.port import MessageDeleted, MessageEdited, Unreachable
from tests.unit.bot.chatting import ADMIN, ANN, BEN, CHANNEL, Everybody, Here, Post, World, world

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from bot.port import Attachment, IncomingMessage, Person, Place
    from bot.store.expert_requests import ExpertRequest

EXPERTS = replace(CHANNEL, channel="experts")
OTHERS = replace(CHANNEL, channel="others")
QUESTION = "Where is the spare key of the archive?"


@dataclass
class Desk:
    """A world with experts, and a clock for reminders."""

    world: World
    now: float = 0.0
    directory: Everybody = field(default_factory=Everybody)

    def __post_init__(self) -> None:
        self.connect()

    def connect(self) -> None:
        desk = self.world.service.experts
        object.__setattr__(desk, "monotonic", lambda: self.now)
        desk.outbound.recalls["test"] = self._recall

    async def _recall(self, message: IncomingMessage) -> tuple[IncomingMessage, Here]:
        return message, Here(self.world.chat, message.place, directory=self.directory)

    def restart(self) -> None:
        self.world.service = self.world.assemble()
        self.connect()

    async def work(self, *, hours: float = 0.0) -> None:
        self.now += hours * 3600
        await self.world.service.experts.work()

    async def asked(self, person: Person = ANN, text: str = QUESTION, **values: object) -> Post:
        """Sent to the experts with consent; returns our answer in the asker's thread."""
        self.world.says("Nothing.")
        post = await self.world.ask(text, person=person, **values)
        await self.world.press(post, "ask_expert", person=person, directory=self.directory)
        await self.world.press(self.world.last, "expert_send", person=person, directory=self.directory)
        self.sent = self.world.last
        await self.work()
        return post

    def posts(self, place: Place) -> list[Post]:
        return [post for post in self.world.chat.public if post.place == place]

    @property
    def root(self) -> Post:
        return self.posts(EXPERTS)[-1]

    async def answer(
        self,
        text: str,
        *,
        person: Person = BEN,
        root: Post | None = None,
        files: tuple[Attachment, ...] = (),
        **values: object,
    ) -> IncomingMessage:
        root = root or self.root
        place = replace(root.place, thread=root.id)
        message = self.world.chat.message(
            text, *files, place=place, person=person, addressed=False, in_thread=True, **values
        )
        room = Here(self.world.chat, place, message, directory=self.directory)
        await self.world.send(message, into=room)
        await self.work()
        return message

    async def request(self) -> ExpertRequest:
        rows = await self.world.stores.experts._many("1 = 1 ORDER BY rowid")
        return rows[0]


@asynccontextmanager
async def opened(folder: Path, *channels: Place) -> AsyncGenerator[Desk]:
    async with world(folder) as made:
        base = await made.town.own(CHANNEL)
        for place in channels:
            await made.stores.experts.name_experts(base.id, place, place.channel, add=True)
        yield Desk(made)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncGenerator[Desk]:
    async with opened(tmp_path, EXPERTS, OTHERS) as made:
        yield made


def last_in(desk: Desk, thread: str) -> Post:
    return desk.posts(replace(CHANNEL, thread=thread))[-1]


async def test_an_answer_comes_back_with_name_date_and_link(desk: Desk) -> None:
    post = await desk.asked()
    assert desk.sent.text == "Your question is with the experts. Their answer comes here."
    assert desk.root.text.startswith(f"**Ann asks the experts:**\n> {QUESTION}")
    (hint,) = desk.posts(replace(EXPERTS, thread=desk.root.id))
    assert "Please answer in this thread" in hint.text
    await desk.answer("In the drawer of room 4.")
    back = last_in(desk, post.place.thread)
    assert back.text.endswith("In the drawer of room 4. [1]")
    assert "Ben answers" in back.text
    (source,) = back.reply.sources
    assert (source.number, source.title) == (1, "Ben")
    assert source.uri.startswith("chat://")
    await desk.work(hours=100)
    assert len(desk.posts(replace(CHANNEL, thread=post.place.thread))) == 2, "told once"
    await desk.answer("You are welcome.")
    assert len(desk.posts(replace(CHANNEL, thread=post.place.thread))) == 2


async def test_nothing_leaves_without_consent_and_only_for_the_asker(desk: Desk) -> None:
    desk.world.says("Nothing.")
    post = await desk.world.ask(QUESTION)
    await desk.world.press(post, "ask_expert", person=BEN)
    assert desk.world.last.text.startswith("Only the person who asked")
    await desk.world.press(post, "ask_expert")
    preview = desk.world.last
    assert preview.private == ANN
    assert QUESTION in preview.text
    assert "#experts" in preview.text
    await desk.work()
    assert desk.posts(EXPERTS) == []
    await desk.world.press(preview, "expert_withdraw")
    assert desk.world.last.text == "Nothing was done."
    await desk.world.press(preview, "expert_send")
    await desk.work()
    assert desk.posts(EXPERTS) == []


async def test_quotes_go_only_to_experts_who_may_read_them(tmp_path: Path) -> None:
    async with opened(tmp_path, EXPERTS) as desk:
        await desk.world.file("keys.md", "# Keys\n\nThe archive has a secret spare key.\n")
        desk.world.says("It has a spare key [1].")
        post = await desk.world.ask(QUESTION)
        await desk.world.press(post, "feedback", ends="down")
        assert desk.world.last.reply.buttons[-1].label == "Ask an expert"
        await desk.world.press(desk.world.last, "ask_expert")
        assert "secret" not in desk.world.last.text, "the experts' channel has other knowledge"
        base = await desk.world.town.own(CHANNEL)
        await desk.world.stores.experts.name_experts(base.id, EXPERTS, "experts", add=False)
        await desk.world.stores.experts.name_experts(base.id, CHANNEL, "general", add=True)
        await desk.world.press(post, "ask_expert", value=post.button("regenerate"))
        assert "keys.md: The archive has a secret spare key." in desk.world.last.text


async def test_who_cannot_answer_hands_over_and_the_last_declines(desk: Desk) -> None:
    post = await desk.asked()
    await desk.world.press(desk.root, "expert_decline", person=BEN)
    assert desk.world.last.text.startswith("Thank you: the question goes on")
    await desk.work()
    assert desk.root.reply.notices == ("Thank you: the question goes on to others.",)
    (second,) = desk.posts(OTHERS)
    assert QUESTION in second.text
    await desk.world.press(second, "expert_decline", person=BEN)
    await desk.work()
    assert last_in(desk, post.place.thread).text.endswith("The experts could not answer this question.")
    assert second.reply.notices == ("This question is closed.",)


async def test_silence_is_reminded_once_then_handed_over(desk: Desk) -> None:
    await desk.asked()
    thread = replace(EXPERTS, thread=desk.root.id)
    await desk.work(hours=23)
    assert len(desk.posts(thread)) == 1
    await desk.work(hours=2)
    await desk.work(hours=2)
    assert [each.text for each in desk.posts(thread)][1:] == ["This question still waits for an answer."]
    await desk.work(hours=24)
    assert len(desk.posts(OTHERS)) == 1


async def test_the_asker_withdraws(desk: Desk) -> None:
    post = await desk.asked()
    await desk.world.press(desk.sent, "expert_withdraw")
    assert desk.world.last.text == "The question is withdrawn."
    await desk.work()
    assert desk.root.reply.notices == ("The question is withdrawn.",)
    await desk.answer("In the drawer.")
    assert len(desk.posts(replace(CHANNEL, thread=post.place.thread))) == 1


async def test_a_deleted_question_is_withdrawn(desk: Desk) -> None:
    post = await desk.asked()
    deleted = MessageDeleted(id=post.place.thread, place=CHANNEL)
    await desk.world.service.on_message(deleted, Here(desk.world.chat, post.place))
    await desk.work()
    assert desk.root.reply.notices == ("The question is withdrawn.",)


async def test_the_same_question_waits_with_the_first(desk: Desk) -> None:
    first = await desk.asked()
    second = await desk.asked(ADMIN)
    assert desk.sent.text.startswith("The experts are already on this question.")
    assert len(desk.posts(EXPERTS)) == 1
    await desk.answer("In the drawer.")
    for post in (first, second):
        assert last_in(desk, post.place.thread).text.endswith("In the drawer. [1]")


async def test_what_experts_say_to_one_person_privately_goes_to_no_others(desk: Desk) -> None:
    desk.world.says("Nothing.")
    await desk.world.ask(QUESTION, place=CHANNEL, private=True)
    await desk.world.press(desk.world.last, "ask_expert")
    await desk.world.press(desk.world.last, "expert_send")
    await desk.work()
    first = desk.root
    post = await desk.asked(ADMIN)
    assert len(desk.posts(EXPERTS)) == 2
    await desk.answer("For you, Ann, in the drawer.", root=first)
    assert desk.world.chat.private[-1].private == ANN
    assert "drawer" in desk.world.chat.private[-1].text
    assert not [
        each for each in desk.posts(replace(CHANNEL, thread=post.place.thread)) if "drawer" in each.text
    ]
    await desk.answer("In the safe.")
    assert last_in(desk, post.place.thread).text.endswith("In the safe. [1]")


async def test_who_withdraws_leaves_it_to_the_others(desk: Desk) -> None:
    first = await desk.asked()
    mine = desk.sent
    second = await desk.asked(ADMIN)
    await desk.world.press(mine, "expert_withdraw")
    await desk.answer("In the drawer.")
    assert len(desk.posts(replace(CHANNEL, thread=first.place.thread))) == 1
    assert last_in(desk, second.place.thread).text.endswith("In the drawer. [1]")


async def test_an_asker_who_is_gone_is_not_written_to(desk: Desk) -> None:
    post = await desk.asked()
    desk.directory.gone.add(ANN.id)
    await desk.answer("In the drawer.")
    assert len(desk.posts(replace(CHANNEL, thread=post.place.thread))) == 1


async def test_edits_and_deletions_of_the_answer_follow(desk: Desk) -> None:
    post = await desk.asked()
    said = await desk.answer("In the drawer.")
    room = Here(desk.world.chat, said.place)
    await desk.world.service.on_message(MessageEdited(message=replace(said, text="In room 5.")), room)
    await desk.work()
    back = last_in(desk, post.place.thread)
    assert back.text.endswith("In room 5. [1]")
    await desk.world.service.on_message(MessageDeleted(id=said.id, place=EXPERTS), room)
    await desk.work()
    assert back.text.endswith("The expert took this answer back.")
    assert len(desk.posts(replace(CHANNEL, thread=post.place.thread))) == 2


async def test_thirty_thousand_characters_are_shortened(desk: Desk) -> None:
    post = await desk.asked()
    await desk.answer("word " * 6_000)
    shown = desk.posts(replace(CHANNEL, thread=post.place.thread))
    assert sum(len(each.text) for each in shown[1:]) < 4_500
    assert "The answer was shortened" in "".join(
        each.reply.notices[0] for each in shown if each.reply.notices
    )


async def test_what_the_platform_refuses_is_written_later(desk: Desk) -> None:
    desk.world.says("Nothing.")
    post = await desk.world.ask(QUESTION)
    await desk.world.press(post, "ask_expert")
    await desk.world.press(desk.world.last, "expert_send")
    desk.world.chat.fault = Unreachable("away")
    await desk.work()
    assert desk.posts(EXPERTS) == []
    desk.restart()
    desk.world.chat.fault = None
    await desk.work()
    assert len(desk.posts(EXPERTS)) == 1
    desk.world.chat.fault = Unreachable("away")
    await desk.answer("In the drawer.")
    desk.restart()
    desk.world.chat.fault = None
    await desk.work()
    assert last_in(desk, post.place.thread).text.endswith("In the drawer. [1]")
    assert (await desk.request()).state == "delivered"


async def test_an_administrator_verifies_the_answer_in_one_click(desk: Desk) -> None:
    post = await desk.asked()
    await desk.answer("In the drawer.")
    back = last_in(desk, post.place.thread)
    await desk.world.press(back, "expert_verify", person=BEN)
    assert desk.world.last.text == "Only an admin may administer here."
    await desk.world.press(back, "expert_verify", person=ADMIN)
    again = await desk.world.ask(QUESTION, person=ADMIN)
    assert again.text == "In the drawer. [1]"
    assert any("✓ Verified by Ben" in notice for notice in again.reply.notices)


async def test_a_guests_words_are_not_the_answer(desk: Desk) -> None:
    post = await desk.asked()
    desk.directory.guests.add(ADMIN.id)
    await desk.answer("In the safe.", person=ADMIN)
    assert told(desk, post) == []
    assert desk.world.last.private == ADMIN
    assert desk.world.last.text.startswith("Your message was not sent as the experts' answer")
    await desk.answer("In the drawer.")
    assert told(desk, post)[-1].endswith("In the drawer. [1]")


async def test_without_the_platforms_word_on_the_writer_nothing_is_sent(desk: Desk) -> None:
    post = await desk.asked()
    desk.directory.silent = True
    await desk.answer("In the drawer.")
    assert told(desk, post) == []
    assert "Please write it again" in desk.world.last.text
    desk.directory.silent = False
    await desk.answer("In the drawer, I said.")
    assert told(desk, post)[-1].endswith("In the drawer, I said. [1]")


async def test_talk_among_the_experts_is_not_the_answer(desk: Desk) -> None:
    post = await desk.asked()
    await desk.answer("@Ada do you know this?", to_others=True)
    await desk.answer("I think so.", to_others=True, replies_to="another")
    assert told(desk, post) == []
    await desk.answer("@Ann Ask @Ada, she has it.", to_others=True)
    assert told(desk, post)[-1].endswith("she has it. [1]")


async def test_who_asked_the_same_does_not_answer_it(desk: Desk) -> None:
    post = await desk.asked()
    other = await desk.asked(ADMIN)
    await desk.answer("I need it, too.", person=ADMIN)
    assert told(desk, post) == told(desk, other) == []
    await desk.answer("In the drawer.")
    assert told(desk, other)[-1].endswith("In the drawer. [1]")


async def test_whose_place_others_may_not_read_is_asked_for_alone(desk: Desk) -> None:
    first = await desk.asked()
    desk.directory.closed.add(("", CHANNEL.channel))
    elsewhere = replace(CHANNEL, channel="elsewhere", thread="here")
    base = await desk.world.town.own(CHANNEL)
    draft = replace(await desk.request(), id="draft", **_coordinates(elsewhere), state="draft")
    assert draft.knowledge_base == base.id
    buttons = desk.world.service.interactions.answer_buttons.experts
    assert await buttons._same(draft, desk.directory) is None
    desk.directory.closed.clear()
    same = await buttons._same(draft, desk.directory)
    assert same is not None
    assert same.thread == first.place.thread


def _coordinates(place: Place) -> dict[str, str]:
    return {"channel": place.channel, "thread": place.thread}


async def test_who_is_left_sees_nothing_of_who_withdrew(desk: Desk) -> None:
    await desk.asked(text=f"{QUESTION} Please.")
    mine = desk.sent
    second = await desk.asked(ADMIN)
    assert desk.sent.text.startswith("The experts are already on this question.")
    await desk.world.press(mine, "expert_withdraw")
    await desk.answer("In the drawer.")
    assert QUESTION in told(desk, second)[-1]
    assert "Please" not in told(desk, second)[-1]
    left = await desk.request()
    assert (left.name, left.question) == ("Ada", QUESTION)
    assert "Please" not in left.body
    assert "Ann" not in left.body


def told(desk: Desk, post: Post) -> list[str]:
    return [each.text for each in desk.posts(replace(CHANNEL, thread=post.place.thread))[1:]]
