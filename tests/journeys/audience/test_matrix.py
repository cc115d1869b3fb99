"""Everybody asks everywhere, in every way there is, for what everybody holds: nobody sees what is not for all who read it.

The rule is written down a second time in `world.may_learn`; what is shown and what is searched are held against it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from bot.port import MessageEdited
from tests.journeys.audience.checks import check, everybody, labels, leaks, learns
from tests.journeys.audience.stage import Shown, Stage, message, opened, secret_file
from tests.journeys.audience.world import (
    ANN,
    BEN,
    HOLDERS,
    PLACES,
    QUESTION,
    SECRETS,
    TITLES,
    Eyes,
    asked_by,
    reads,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection

    from bot.port import Person


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=[False, True], ids=["unbound", "bound"])
async def stage(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    async with opened(tmp_path_factory.mktemp("stage"), bound=request.param) as made:
        yield made


@everybody
async def test_mention_and_direct_message(stage: Stage, name: str, person: Person) -> None:
    check(stage, await stage.says(name, person), Eyes(place=name))


@everybody
async def test_mention_that_opens_no_thread(stage: Stage, name: str, person: Person) -> None:
    check(stage, await stage.says(name, person, place=PLACES[name]), Eyes(place=name))


@everybody
async def test_follow_up_in_a_thread_without_a_mention(stage: Stage, name: str, person: Person) -> None:
    first = message(name, person, QUESTION)
    await stage.says(name, person, id=first.id, place=first.place)
    shown = await stage.says(
        name,
        person,
        f"And again: {QUESTION}",
        earlier=[first],
        place=first.place,
        in_thread=True,
        addressed=name.startswith("dm"),
    )
    check(stage, shown, Eyes(place=name))


@everybody
async def test_bare_mention(stage: Stage, name: str, person: Person) -> None:
    before = message(name, person, QUESTION)
    shown = await stage.says(name, person, "", earlier=[before], at=before.at + 1)
    check(stage, shown, Eyes(place=name))


@everybody
async def test_a_private_question(stage: Stage, name: str, person: Person) -> None:
    check(stage, await stage.types(name, person, "ask", QUESTION), Eyes(place=name, person=person))


@everybody
async def test_a_question_of_a_command_for_the_channel(stage: Stage, name: str, person: Person) -> None:
    check(stage, await stage.types(name, person, "ask", f"channel: {QUESTION}"), Eyes(place=name))


@everybody
async def test_a_shortcut_on_somebodys_message(stage: Stage, name: str, person: Person) -> None:
    shown = await stage.says(name, person, private=True)
    check(stage, shown, Eyes(place=name, person=person))


@everybody
async def test_an_edited_question(stage: Stage, name: str, person: Person) -> None:
    first = message(name, person, "What is the launch code?")
    await stage.service.on_message(first, stage.room(name, stands=first.place))
    before = len(stage.engine.queries)
    edited = MessageEdited(message=replace(first, text=QUESTION))
    shown = await stage.shows(stage.service.on_message(edited, stage.room(name, stands=first.place)))
    assert len(stage.engine.queries) == before + 1
    check(stage, shown, Eyes(place=name))


def button(shown: Collection[Shown], name: str) -> tuple[str, str]:
    """The value of a button under an answer, and its message."""
    return next(
        (each.value, message.id) for message in shown for each in message.buttons if each.name == name
    )


@everybody
async def test_regenerating_ones_own_and_somebody_elses_answer(
    stage: Stage, name: str, person: Person
) -> None:
    for asker in dict.fromkeys((person, ANN, BEN)):
        if not reads(asker, name):
            continue
        value, under = button((await stage.once(name, asker, "mention")).shown, "regenerate")
        check(stage, await stage.presses(name, person, "regenerate", value, under=under), Eyes(place=name))


@everybody
async def test_regenerating_a_private_answer(stage: Stage, name: str, person: Person) -> None:
    value, under = button((await stage.once(name, person, "private")).shown, "regenerate")
    check(
        stage,
        await stage.presses(name, person, "regenerate", value, under=under),
        Eyes(place=name, person=person),
    )


@everybody
async def test_the_sources_of_an_answer(stage: Stage, name: str, person: Person) -> None:
    for way in ("mention", "private"):
        value, under = button((await stage.once(name, person, way)).shown, "sources")
        seen = await stage.presses(name, person, "sources", value, under=under)
        assert SECRETS[name] in seen[0].everything
        assert {message.eyes for message in seen} == {Eyes(place=name, person=person)}
        assert not leaks(seen, learns(stage))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def elsewhere(stage: Stage) -> list[tuple[Eyes, str]]:
    """Whose answer, and the value of a button under it: one of everybody in every place, and one that they alone read."""
    values: list[tuple[Eyes, str]] = []
    for name, person in asked_by():
        for way, eyes in (("mention", Eyes(place=name)), ("private", Eyes(place=name, person=person))):
            values.append((eyes, button((await stage.once(name, person, way)).shown, "sources")[0]))
    return values


OTHERS_BUTTONS = ("sources", "regenerate", "stop", "feedback", "promote", "kb")


@everybody
async def test_values_of_buttons_of_other_places(
    stage: Stage, elsewhere: list[tuple[Eyes, str]], name: str, person: Person
) -> None:
    _, under = button((await stage.once(name, person, "mention")).shown, "sources")
    before = len(stage.engine.queries)
    for eyes, value in elsewhere:
        if eyes.place == name or (eyes.person == person and PLACES[eyes.place].parent == PLACES[name].parent):
            continue  # their own
        for pressed in OTHERS_BUTTONS if eyes.person == ANN else ("sources",):
            seen = await stage.presses(name, person, pressed, value, under=under)
            assert not leaks(seen, lambda *_: False), f"{pressed} of {eyes}"
            assert {message.eyes for message in seen} == {Eyes(place=name, person=person)}
    assert len(stage.engine.queries) == before


@everybody
async def test_a_private_answers_buttons_are_its_readers_alone(
    stage: Stage, name: str, person: Person
) -> None:
    other = ANN if person != ANN else BEN
    value, under = button((await stage.once(name, other, "private")).shown, "sources")
    for pressed in ("sources", "regenerate"):
        before = len(stage.engine.queries)
        seen = await stage.presses(name, person, pressed, value, under=under)
        assert len(stage.engine.queries) == before
        assert all(SECRETS[holder] not in message.everything for message in seen for holder in HOLDERS)


@everybody
async def test_a_question_that_comes_with_a_file(stage: Stage, name: str, person: Person) -> None:
    shown = await stage.says(
        name,
        person,
        attachments=(secret_file(name),),
        place=PLACES[name],
        in_thread=bool(PLACES[name].thread),
    )
    check(stage, shown, Eyes(place=name))


@everybody
async def test_buttons_of_a_place_that_the_person_cannot_read_now(
    stage: Stage, name: str, person: Person
) -> None:
    values = {
        way: button((await stage.once(name, person, way)).shown, "sources") for way in ("mention", "private")
    }
    place = PLACES[name]
    town = stage.towns[place.platform, place.workspace]
    inside, members, before = set(town.inside[place.channel]), set(town.members), len(stage.engine.queries)
    for silent, sentence in (({"present"}, "I could not check"), (set[str](), "You cannot read the place")):
        town.silent = silent
        if not silent:
            town.inside[place.channel].discard(person.id)
            town.members.discard(person.id)
        try:
            for value, under in values.values():
                for pressed, wanted in (
                    *((each, value) for each in ("sources", "regenerate", "stop", "promote")),
                    ("sources", f"{value}:1"),
                    ("feedback", f"{value}:up"),
                    ("kb", "list:1"),
                ):
                    seen = await stage.presses(name, person, pressed, wanted, under=under)
                    assert not leaks(seen, lambda *_: False), pressed
                    assert sentence in seen[-1].everything, pressed
        finally:
            town.silent, town.inside[place.channel], town.members = set(), set(inside), set(members)
    assert len(stage.engine.queries) == before


async def test_who_leaves_a_channel_asks_without_it_in_direct_messages(stage: Stage) -> None:
    town = stage.towns["slack", "T1"]
    check(stage, await stage.says("dm_of_ben", BEN), Eyes(place="dm_of_ben"))
    town.inside["C2"].discard("UB")
    try:
        shown = await stage.says("dm_of_ben", BEN)
        found = stage.engine.queries[-1].knowledge_bases
    finally:
        town.inside["C2"].add("UB")
    assert (
        stage.held["second_public"] in found
    ) == stage.bound  # a member reads public channels that others use
    assert stage.bound or not leaks(shown, lambda _, holder: holder != "second_public")


async def test_sources_that_may_not_be_read_any_more_are_not_shown(stage: Stage) -> None:
    place = PLACES["private"]
    bindings = await stage.places.bindings(place)
    value, under = button(await stage.says("private", ANN), "sources")
    await stage.rebind(place, [])
    try:
        seen = await stage.presses("private", ANN, "sources", value, under=under)
    finally:
        await stage.rebind(place, bindings)
    assert SECRETS["private"] in seen[-1].everything
    assert not leaks(seen, lambda _, holder: holder == "private")


@everybody
async def test_what_is_asked_privately_is_in_nobody_elses_conversation(
    stage: Stage, name: str, person: Person
) -> None:
    other = BEN if person == ANN else ANN
    mine, ours, theirs, ours_again = [
        (await stage.once(name, asker, way)).conversation
        for asker in (person, other)
        for way in ("private", "channel")
    ]
    assert len({mine, ours, theirs}) == 3
    assert ours == ours_again


async def test_no_two_places_share_a_conversation(stage: Stage) -> None:
    asked = [await stage.once(name, person, "private") for name, person in asked_by()]
    asked += [await stage.once(name, ANN, "channel") for name in PLACES]
    assert len({each.conversation for each in asked}) == len(asked) == len(asked_by()) + len(PLACES)


async def test_who_comes_in_or_goes_changes_the_next_answer(stage: Stage) -> None:
    inside = stage.towns["slack", "T1"].inside
    value, under = button(await stage.says("private", ANN), "regenerate")
    inside["P1"].add("UX")
    try:
        again = await stage.presses("private", ANN, "regenerate", value, under=under)
        found = stage.engine.queries[-1].knowledge_bases
    finally:
        inside["P1"].discard("UX")
    # A stranger reads along now: of other channels only the one that strangers read, too, is left.
    others = {"private", "external"} if stage.bound else {"private"}
    assert found == {stage.held[holder] for holder in others}
    assert not leaks(again, lambda _, holder: holder in others)


@everybody
async def test_naming_what_others_hold_in_a_question(stage: Stage, name: str, person: Person) -> None:
    others = [
        f"{TITLES[holder]} in {labels(holder)[number % 2]}" for number, holder in enumerate(HOLDERS[:-1])
    ]
    line = f"What do {' and '.join(others)} say about the launch code?"
    for shown in (await stage.says(name, person, line), await stage.types(name, person, "ask", line)):
        assert SECRETS[name] in shown[-1].everything
        assert not leaks(shown, learns(stage), asked=line)
