"""Messages that the platform finds: a platform that hands out whatever was ever written leaks to nobody."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from bot.port import ChannelMessage
from tests.journeys.audience.checks import everybody
from tests.journeys.audience.stage import Shown, Stage, opened
from tests.journeys.audience.world import BEN, CHANNELS, PLACES, QUESTION, SECRETS, readers_of, reads

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection

    from bot.port import Person

pytestmark = pytest.mark.asyncio(loop_scope="module")

SAID = {name: f"{word}message" for name, word in SECRETS.items() if name in PLACES}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    async with opened(tmp_path_factory.mktemp("stage"), bound=False) as made:
        for name, place in PLACES.items():
            await made.places.change(place, lambda settings: replace(settings, messages="on"))
            if not place.thread:
                made.messages.append((place, said(name)))
        yield made


def said(name: str) -> ChannelMessage:
    place = PLACES[name]
    title, *_ = CHANNELS[place.platform, place.workspace, place.channel]
    return ChannelMessage(
        channel=place.channel,
        channel_name=title,
        person=BEN,
        text=f"The launch code of the harbour project is {SAID[name]}.",
        uri=f"https://chat.test/{name}/1",
        at=1_790_000_000.0,
    )


def kind(name: str) -> str:
    place = PLACES[name]
    return CHANNELS[place.platform, place.workspace, place.channel][1]


def check(shown: Collection[Shown], name: str) -> None:
    text = "\n".join(each.everything for each in shown)
    readers = {each.eyes.person for each in shown}
    for holder, word in SAID.items():
        if word not in text:
            continue
        assert kind(holder) == "public"
        for person in readers:
            assert person is None or reads(person, holder)
        if readers == {None}:
            assert everyone_of(name) <= everyone_of(holder)
    if kind(name) == "public" and not PLACES[name].thread:
        assert SAID[name] in text
        assert "message, 2026-09-21" in text


def everyone_of(name: str) -> set[str]:
    return readers_of(PLACES[name])


@everybody
async def test_a_mention(stage: Stage, name: str, person: Person) -> None:
    check(await stage.says(name, person), name)


@everybody
async def test_a_private_question(stage: Stage, name: str, person: Person) -> None:
    check(await stage.types(name, person, "ask", QUESTION), name)


async def test_off_is_off_and_who_opted_out_is_left_out(stage: Stage) -> None:
    place, channels = PLACES["public"], stage.service.channels
    assert channels is not None
    assert SAID["public"] in text_of(await stage.says("public", BEN))
    await channels.opt_out("slack", BEN.id)
    assert SAID["public"] not in text_of(await stage.says("public", BEN))
    await channels.sources.opt_in("slack", BEN.id)
    await stage.places.change(place, lambda settings: replace(settings, messages="off"))
    assert SAID["public"] not in text_of(await stage.says("public", BEN))
    await stage.places.change(place, lambda settings: replace(settings, messages="on"))
    assert SAID["public"] in text_of(await stage.says("public", BEN))


def text_of(shown: Collection[Shown]) -> str:
    return "\n".join(each.everything for each in shown)
