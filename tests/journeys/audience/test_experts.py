"""Everybody brings their question to the experts of every channel and person: no preview, post, reminder or hand-over has a word that not all of
its readers may read.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from bot.conversation.experts.expert_readers import ExpertReaders
from tests.journeys.audience.checks import leaks
from tests.journeys.audience.stage import Stage, StageRoom, opened
from tests.journeys.audience.world import (
    CHANNELS,
    HOLDERS,
    NO_WORKSPACE,
    PLACES,
    SECRETS,
    Eyes,
    asked_by,
    may_learn,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Collection
    from pathlib import Path

    from bot.port import Directory, IncomingMessage, Person, Place, Room
    from bot.store.expert_requests import ExpertPost
    from rag_engine.types import KnowledgeBaseId
    from tests.journeys.audience.stage import Shown

pytestmark = [pytest.mark.asyncio, pytest.mark.slow]

_DIRECT = {"D-UA": "dm_of_ann", "D-UB": "dm_of_ben", "D-UE": "dm_of_eve", "D-UX": "dm_of_xan"}
PEOPLE = ("<@UA>", "<@UB>")
_HOURS = 25.0


class UncheckedReaders(ExpertReaders):
    """Who brings everything to everybody."""

    async def may_read(
        self, knowledge_base: KnowledgeBaseId, post: ExpertPost, directory: Directory, place: Place
    ) -> bool:
        return True


@dataclass(slots=True)
class ExpertStage:
    stage: Stage
    now: float = 0.0

    async def recall(self, message: IncomingMessage) -> tuple[IncomingMessage, Room]:
        name = _DIRECT.get(message.place.channel) or name_of(message.place)
        return message, StageRoom(stage=self.stage, name=name, stands=message.place)

    async def asks(self, name: str, person: Person) -> bool:
        """False if there is nobody to ask."""
        shown = await self.stage.says(name, person)
        turn = next(each.value for message in shown for each in message.buttons if each.name == "regenerate")
        preview = await self.stage.presses(name, person, "ask_expert", turn)
        consents = [
            each.value for message in preview for each in message.buttons if each.name == "expert_send"
        ]
        for value in consents:
            await self.stage.presses(name, person, "expert_send", value)
        return bool(consents)

    async def goes_on(self, hops: int) -> None:
        """A reminder, then the next experts, until nobody is left."""
        for _ in range(2 * hops):
            await self.stage.service.experts.work()
            self.now += 3600 * _HOURS
        await self.stage.service.experts.work()


def name_of(place: Place) -> str:
    coordinates = (place.platform, place.workspace, place.channel)
    return next(
        name
        for name, each in PLACES.items()
        if (each.platform, each.workspace, each.channel) == coordinates and not each.thread
    )


def experts_of(name: str) -> list[str]:
    """Every channel of its workspace that can be named, then people."""
    place = PLACES[name]
    channels = [
        each.channel
        for each in PLACES.values()
        if (each.platform, each.workspace) == (place.platform, place.workspace)
        and CHANNELS[each.platform, each.workspace, each.channel][1] != "direct"
    ]
    people = PEOPLE if (place.platform, place.workspace) == ("slack", "T1") else ()
    return list(dict.fromkeys([*channels, *people]))


@asynccontextmanager
async def expert_stage(
    folder: Path, *, turned: int = 0, checked: bool = True, holders: Collection[str] = tuple(PLACES)
) -> AsyncGenerator[ExpertStage]:
    """`holders`: the places whose knowledge bases have experts."""
    async with opened(folder, bound=True) as stage:
        made = ExpertStage(stage)
        desk = stage.service.experts
        object.__setattr__(desk, "monotonic", lambda: made.now)
        for platform in ("slack", "discord"):
            desk.outbound.recalls[platform] = made.recall
        for name in holders:
            named = experts_of(name)
            first = turned % max(1, len(named))
            for channel in named[first:] + named[:first]:
                await desk.requests.name_experts(stage.held[name], PLACES[name].parent, channel, add=True)
        if not checked:
            open_to_all = UncheckedReaders(
                audiences=desk.posts.readers.audiences, catalog=desk.posts.readers.catalog
            )
            object.__setattr__(desk.posts, "readers", open_to_all)
            object.__setattr__(stage.service.interactions.answer_buttons.experts, "readers", open_to_all)
        yield made


def may(eyes: Eyes, holder: str) -> bool:
    return may_learn(eyes, holder, bound=True)


async def everybody_asks(made: ExpertStage) -> int:
    sent = 0
    for name, person in asked_by():
        if PLACES[name].workspace != NO_WORKSPACE:
            sent += await made.asks(name, person)
            await made.goes_on(len(experts_of(name)))
    return sent


def quoted(shown: list[Shown]) -> int:
    return sum(any(SECRETS[holder] in each.everything for holder in HOLDERS) for each in shown)


@pytest.mark.parametrize("turned", [0, 3, 6])
async def test_no_post_shows_what_one_of_its_readers_may_not_read(tmp_path: Path, turned: int) -> None:
    """`turned`: where the list of experts begins."""
    async with expert_stage(tmp_path, turned=turned) as made:
        sent = await everybody_asks(made)
        shown = list(made.stage.shown.values())
        to_experts = [
            each for each in shown if "asks the experts" in each.everything and not each.eyes.person
        ]
        print(
            f"{sent} requests, {len(shown)} messages, {len(to_experts)} to experts, {quoted(to_experts)} with quotes"
        )
        assert leaks(shown, may) == []
        assert sent > 15
        assert len(to_experts) > 100
        assert quoted(to_experts) > 20


async def test_without_the_check_of_readers_words_would_leak(tmp_path: Path) -> None:
    async with expert_stage(tmp_path, checked=False) as made:
        await everybody_asks(made)
        assert len(leaks(list(made.stage.shown.values()), may)) > 20
