"""Everybody asks everywhere what no file answers: lists, buttons and digests of gaps show the words to those who may read them there."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from bot.conversation.gaps.digest import WeeklyDigest
from bot.conversation.gaps.gap_readers import everyone_in
from bot.conversation.outbound import OutboundRooms
from bot.store.gaps.digests import GapDigest, GapDigests
from tests.journeys.audience.stage import Stage, opened
from tests.journeys.audience.world import ANN, CHANNELS, MEMBERS, PLACES, Eyes, asked_by
from tests.unit.research.setup import ReplyingModel

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bot.port import Person
    from tests.journeys.audience.stage import Shown

pytestmark = pytest.mark.asyncio(loop_scope="module")

SAME = "Who waters the ferns of the veranda?"
_WORD = re.compile(r"zq[a-z]+qz")
_GAP = re.compile(r"gaps:open:(g[0-9a-f]+)")
everybody = pytest.mark.parametrize(
    ("name", "person"), asked_by(), ids=[f"{name}-{person.name}" for name, person in asked_by()]
)


def word(name: str, person: Person, way: str) -> str:
    return f"zq{name}x{person.name}x{way}qz".lower().replace("_", "")


ASKED = {
    word(name, person, way): (name, person, way)
    for name, person in asked_by()
    for way in ("mention", "private", "channel")
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    async with opened(tmp_path_factory.mktemp("stage"), bound=False) as made:
        model = ReplyingModel(reply=lambda task, sent: "I do not know that.")
        made.engine.engine = replace(made.engine.engine, models=[model])
        for asked, (name, person, way) in ASKED.items():
            for question in (f"Who keeps the {asked} of the {asked}?", SAME):
                if way == "mention":
                    await made.says(name, person, question)
                else:
                    line = question if way == "private" else f"channel: {question}"
                    await made.types(name, person, "ask", line)
        await made.types("public", ANN, "kb", "gaps")
        yield made


def readers(name: str) -> set[str]:
    place = PLACES[name]
    _, kind, inside = CHANNELS[place.platform, place.workspace, place.channel]
    return set(inside) | (MEMBERS[place.platform] if kind == "public" else set())


def may_read(eyes: Eyes, asked: str) -> bool:
    """The rule, written down a second time."""
    name, asker, way = ASKED[asked]
    place, here = PLACES[name], PLACES[eyes.place]
    if (place.platform, place.workspace) != (here.platform, here.workspace):
        return False
    if eyes.person is not None and eyes.person == asker:
        return True
    if way == "private":
        return False
    kind = CHANNELS[place.platform, place.workspace, place.channel][1]
    if place.channel == here.channel:
        return kind != "direct" or eyes.person == asker
    if kind in ("direct", "group"):
        return False
    return (readers(eyes.place) if eyes.person is None else {eyes.person.id}) <= readers(name)


def leaks(text: str, eyes: Eyes) -> list[str]:
    return [asked for asked in set(_WORD.findall(text)) if not may_read(eyes, asked)]


async def pages(stage: Stage, name: str, person: Person) -> str:
    """Every page of the list, and every gap that it names, opened."""
    shown: list[Shown] = await stage.types(name, person, "kb", "gaps")
    for page in range(2, 40):
        shown += await stage.presses(name, person, "kb", f"gaps:{page}")
    for gap in sorted(set(_GAP.findall(text(shown)))):
        shown += await stage.presses(name, person, "kb", f"gaps:open:{gap}")
        shown += await stage.presses(name, person, "kb", f"gaps:file:{gap}")
    assert {message.eyes for message in shown} == {Eyes(place=name, person=person)}
    return text(shown)


def text(shown: list[Shown]) -> str:
    return "\n".join(message.everything for message in shown)


@everybody
async def test_the_list_and_what_it_opens(stage: Stage, name: str, person: Person) -> None:
    eyes = Eyes(place=name, person=person)
    told = await pages(stage, name, person)
    assert leaks(told, eyes) == []
    found = set(_WORD.findall(told))
    if person == ANN:
        assert found == {asked for asked in ASKED if may_read(eyes, asked)}
        assert SAME.split()[2] in told
    else:
        assert found == set(), "only administrators see it"
        assert "Only" in told


@everybody
async def test_gaps_by_their_ids(stage: Stage, name: str, person: Person) -> None:
    """An id that somebody has seen, or guessed."""
    gaps = stage.service.interactions.answer_buttons.gaps.listed.gaps
    eyes = Eyes(place=name, person=person)
    for gap in await gaps.all():
        shown = await stage.presses(name, person, "kb", f"gaps:open:{gap}")
        shown += await stage.presses(name, person, "gap_expert", gap)
        assert leaks(text(shown), eyes) == []


@pytest.mark.parametrize("name", [name for name in PLACES if not PLACES[name].thread])
async def test_the_digest_of_every_channel(stage: Stage, name: str) -> None:
    listed = stage.service.interactions.answer_buttons.gaps.listed
    place, eyes = PLACES[name], Eyes(place=name)
    directory = stage.towns[place.platform, place.workspace]
    found = await listed.read(everyone_in(place, directory))
    told = "\n".join("\n".join((each.title, *each.questions)) for each in found)
    assert leaks(told, eyes) == []
    assert set(_WORD.findall(told)) == {asked for asked in ASKED if may_read(eyes, asked)}
    digest = WeeklyDigest(
        digests=GapDigests(listed.gaps._database),
        listed=listed,
        update=_nothing,
        outbound=OutboundRooms(),
        scheduler=stage.service.runner.scheduler,
    )
    chosen = GapDigest(place=place, person="", language="en", time_zone="", due_at=0.0)
    reply = await digest.reply(chosen, directory)
    assert (reply is not None) == bool(told.strip())
    assert leaks(reply.text if reply else "", eyes) == []


async def _nothing() -> None:
    """They were read before."""
