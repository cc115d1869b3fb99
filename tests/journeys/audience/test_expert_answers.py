"""Experts answer everybody, with files; answers are saved as verified and everybody asks again: nobody reads what was for others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest

from bot.conversation.experts import expert_buttons, expert_messages
from bot.conversation.experts.answer_files import AnswerFiles
from bot.conversation.experts.expert_posts import ExpertPosts
from bot.port import Person
from tests.journeys.audience.stage import attachment, fresh, message
from tests.journeys.audience.test_experts import ExpertStage, expert_stage, name_of
from tests.journeys.audience.world import (
    ANN,
    BEN,
    NO_WORKSPACE,
    PLACES,
    Eyes,
    asked_by,
    may_learn,
    readers_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bot.port import Place, Reply, Room
    from bot.store.expert_requests import ExpertPost, ExpertRequest

pytestmark = [pytest.mark.asyncio, pytest.mark.slow]

SHARED = ("public",)
"""If no other place has experts, who asks the same may wait for the same answer, wherever they ask."""
CID = Person(id="UC", name="Cid")
"""A member who asks nothing."""
PEOPLE = {person.id: person for person in (CID, ANN, BEN)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """An expert's answer: `word` is in its text, `filed` in its file."""

    request: ExpertRequest
    post: ExpertPost
    word: str
    filed: str


class OpenPosts(ExpertPosts):
    """Who answers a private question for all to read."""

    async def write(
        self, room: Room, reply: Reply, *, posted: tuple[str, ...] = (), private: Person | None = None
    ) -> tuple[str, ...]:
        return await super().write(room, reply, posted=posted)


class OpenFiles(AnswerFiles):
    """Who brings the files of private answers, too."""

    async def carry(self, request: ExpertRequest, room: Room, experts: Room) -> tuple[tuple[str, str], ...]:
        return await super().carry(replace(request, private=False), room, experts)


class Credulous:
    """Whom everybody may read."""

    async def reads(self, place: Place) -> bool:
        return True


async def everybody_is_answered(made: ExpertStage, *, few_first: bool = False) -> list[Given]:
    """All ask, openly and privately, before any expert answers; then what was answered is verified, and all ask again."""
    people = asked_by()
    if few_first:
        people.sort(key=lambda each: len(readers_of(PLACES[each[0]])))
    for private in (False, True):
        for name, person in people:
            if PLACES[name].workspace != NO_WORKSPACE:
                await asks(made, name, person, private=private)
    desk = made.stage.service.experts
    await desk.work()
    given = [
        each
        for request in await desk.requests.latest("", "", limit=500)
        for each in await says(made, request)
    ]
    await desk.work()
    await desk.work()
    await verifies(made)
    for name, person in people:
        await made.stage.says(name, person)
        await made.stage.types(name, person, "ask", "What is the tide mark of the harbour project?")
    return given


async def asks(made: ExpertStage, name: str, person: Person, *, private: bool) -> None:
    stage = made.stage
    if private:
        shown = await stage.types(name, person, "ask", "What is the launch code of the harbour project?")
    else:
        shown = await stage.says(name, person)
    turns = [
        each.value
        for each in (button for one in shown for button in one.buttons)
        if each.name == "regenerate"
    ]
    preview = await stage.presses(name, person, "ask_expert", turns[0])
    for value in [each.value for one in preview for each in one.buttons if each.name == "expert_send"]:
        await stage.presses(name, person, "expert_send", value)


async def says(made: ExpertStage, request: ExpertRequest) -> list[Given]:
    """Of the first post that somebody else reads."""
    stage, posts = made.stage, await made.stage.service.experts.requests.posts(request)
    for post in (each for each in posts if each.post):
        heard, room = await made.recall(
            message("public", ANN, "", place=replace(post.place, thread=post.post))
        )
        there = {post.person} if post.person else readers_of(PLACES[name_of(post.place)]) - {request.person}
        readers = [person for identity, person in PEOPLE.items() if identity in there]
        if not readers:
            continue
        number = fresh("answer").partition("-")[2]
        word, filed = f"jetsam{number}x", f"flotsam{number}x"
        answer = replace(
            heard,
            id=fresh("message"),
            person=readers[0],
            text=f"The launch code is {word}.",
            in_thread=True,
            addressed=False,
            attachments=(
                attachment(f"tide{number}.txt", f"The tide mark of the harbour project is {filed}.\n"),
            ),
            uri=f"https://chat.test/experts/{number}",
        )
        stage.links[post.platform, post.workspace, answer.uri] = answer
        await stage.shows(stage.service.on_message(answer, room))
        return [Given(request=request, post=post, word=word, filed=filed)]
    return []


async def verifies(made: ExpertStage) -> None:
    """An administrator presses every button there is, in every place; her own private answers are hers to publish."""
    values = {
        button.value: shown.eyes
        for shown in list(made.stage.shown.values())
        for button in shown.buttons
        if button.name == expert_messages.VERIFY
    }
    for value, eyes in values.items():
        for name in PLACES:
            if eyes.person is None or eyes.person.id != ANN.id:
                await made.stage.presses(name, ANN, expert_messages.VERIFY, value)


def may_read(eyes: Eyes, given: Given) -> bool:
    """The rule, written down a second time."""
    readers = {eyes.person.id} if eyes.person else readers_of(PLACES[eyes.place])
    asked_in, here = given.request.place, PLACES[eyes.place]
    if asked_in.platform != here.platform or here.workspace not in (asked_in.workspace, NO_WORKSPACE):
        return False
    if given.request.private:
        return readers == {given.request.person}
    return readers <= readers_of(asked_in) or may_learn(eyes, name_of(asked_in), bound=True)


def leaks(made: ExpertStage, given: list[Given]) -> Iterator[str]:
    for shown in made.stage.shown.values():
        text = shown.everything
        for each in given:
            if each.word in text and not may_read(shown.eyes, each):
                yield f"{each.word} of {each.request.place} to {shown.eyes}"
            if each.filed in text and (each.request.private or not may_read(shown.eyes, each)):
                yield f"{each.filed} of {each.request.place} to {shown.eyes}"


@pytest.mark.parametrize(("holders", "fewest"), [(tuple(PLACES), 15), (SHARED, 5)], ids=["each", "shared"])
async def test_no_answer_is_read_by_others(tmp_path: Path, holders: tuple[str, ...], fewest: int) -> None:
    async with expert_stage(tmp_path, holders=holders) as made:
        given = await everybody_is_answered(made, few_first=holders == SHARED)
        text = "\n".join(each.everything for each in made.stage.shown.values())
        words = sum(each.word in text for each in given)
        filed = sum(each.filed in text for each in given)
        private = sum(each.request.private for each in given)
        print(
            f"{len(given)} answers, {private} private, {words} delivered, files of {filed} found later, {len(made.stage.shown)} messages"
        )
        assert list(leaks(made, given)) == []
        assert words == len(given) >= fewest
        assert filed > 0
        assert holders == SHARED or 0 < private < len(given)


@pytest.mark.parametrize("without", ["private answers", "private files", "the readers of who asks the same"])
async def test_without_a_check_words_would_leak(
    tmp_path: Path, without: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    follow = without == "the readers of who asks the same"
    async with expert_stage(tmp_path, holders=SHARED if follow else tuple(PLACES)) as made:
        delivery = made.stage.service.experts.delivery
        posts, carrier = delivery.posts, delivery.files
        if without == "private answers":
            unchecked = OpenPosts(
                requests=posts.requests,
                outbound=posts.outbound,
                scheduler=posts.scheduler,
                readers=posts.readers,
            )
            object.__setattr__(delivery, "posts", unchecked)
        elif without == "private files":
            brings = OpenFiles(
                permissions=carrier.permissions,
                audiences=carrier.audiences,
                uploads=carrier.uploads,
                files=carrier.files,
                forget_source=carrier.forget_source,
            )
            object.__setattr__(delivery, "files", brings)
        else:
            monkeypatch.setattr(expert_buttons, "everyone_in", lambda *_: Credulous())
        given = await everybody_is_answered(made, few_first=follow)
        assert len(list(leaks(made, given))) > 5
