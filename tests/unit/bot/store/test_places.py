"""What is kept of places: settings, bindings, audiences."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.store.places import Places, PlaceSettings, StoredAudience
from rag_engine.types import KnowledgeBaseId
from tests.unit.bot.access.knowledge import Chat, opened, place

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[Chat]:
    async with opened(tmp_path) as made:
        yield made


@pytest.fixture
def places(chat: Chat) -> Places:
    return chat.places


BASE = KnowledgeBaseId("kb1")
LABELLED = StoredAudience(
    knowledge_base=BASE, platform="slack", workspace="T1", channel="GENERAL", label="Handbook"
)


async def test_a_thread_has_the_settings_of_its_channel_and_of_no_other(places: Places) -> None:
    auto = PlaceSettings(mode="auto", knowledge="blended", language="de")
    await places.change(place(thread="1"), lambda _: auto)
    assert await places.settings(place()) == auto
    assert await places.settings(place(thread="2")) == auto
    for other in (place("RANDOM"), place(workspace="T2"), place(platform="discord")):
        assert await places.settings(other) == PlaceSettings()


async def test_settings_change_again(places: Places) -> None:
    await places.change(place(), lambda _: PlaceSettings(mode="auto"))
    await places.change(place(), lambda _: PlaceSettings(mode="mention"))
    assert (await places.settings(place())).mode == "mention"


async def test_two_programs_that_change_different_settings_lose_none(tmp_path: Path) -> None:
    async def lengthen(chat: Chat, field: str) -> None:
        for _ in range(20):
            await chat.places.change(
                place(), lambda settings: replace(settings, **{field: getattr(settings, field) + "x"})
            )

    async with opened(tmp_path / "data") as one, opened(tmp_path / "data") as other:
        changes = (lengthen(one, "persona"), lengthen(other, "persona"), lengthen(other, "empty_answer"))
        await asyncio.gather(*changes)
        settings = await one.places.settings(place())
    assert (len(settings.persona), len(settings.empty_answer)) == (40, 20)


async def test_every_setting_is_stored_and_goes_back_to_the_default(places: Places) -> None:
    chosen = PlaceSettings(
        persona="A pirate",
        model="fast",
        temperature=0.0,
        empty_answer="No luck",
        citations=False,
        route="chat",
        web="auto",
        tools="all",
        messages="on",
    )
    await places.change(place(thread="1"), lambda _: chosen)
    assert await places.settings(place()) == chosen
    assert await places.with_settings() == [(place(), chosen)]
    assert await places.reset(place()) == PlaceSettings()
    assert await places.settings(place()) == PlaceSettings()
    assert await places.with_settings() == []


async def test_bindings_are_the_channels_in_the_order_they_were_made(places: Places) -> None:
    other = KnowledgeBaseId("kb0")
    assert await places.bind(place(), BASE)
    assert await places.bind(place(thread="1"), other)
    assert not await places.bind(place(), BASE)
    assert await places.bindings(place(thread="2")) == [BASE, other]
    assert await places.bindings(place(workspace="T2")) == []
    assert await places.unbind(place(), BASE)
    assert not await places.unbind(place(), BASE)
    assert await places.bindings(place()) == [other]


async def test_who_may_read_a_knowledge_base_is_never_changed_by_making_it_again(places: Places) -> None:
    assert await places.admit(LABELLED) == LABELLED
    wider = StoredAudience(knowledge_base=BASE, platform="slack", workspace="T1", label="Handbook")
    assert await places.admit(wider) == LABELLED
    assert await places.audience(BASE) == LABELLED


async def test_what_takes_the_place_and_label_of_one_that_is_gone_has_its_audience(places: Places) -> None:
    await places.admit(LABELLED)
    again = StoredAudience(
        knowledge_base=KnowledgeBaseId("kb2"),
        platform="slack",
        workspace="T1",
        channel="GENERAL",
        label="HANDBOOK",
    )
    assert await places.admit(again) == again
    assert list(await places.audiences([BASE, KnowledgeBaseId("kb2")])) == ["kb2"]


async def test_a_knowledge_base_that_is_removed_leaves_no_trace(places: Places, tmp_path: Path) -> None:
    await places.admit(LABELLED)
    await places.bind(place("RANDOM"), BASE)
    await places.bind(place("RANDOM", workspace="T2"), BASE)
    await places.forget(BASE)
    assert await places.audience(BASE) is None
    assert (
        await places.bindings(place("RANDOM")) == await places.bindings(place("RANDOM", workspace="T2")) == []
    )


async def test_what_others_removed_is_forgotten_at_the_start(places: Places) -> None:
    stays = StoredAudience(
        knowledge_base=KnowledgeBaseId("kb2"), platform="slack", workspace="T1", channel="RANDOM"
    )
    for audience in (LABELLED, stays):
        await places.admit(audience)
        await places.bind(place("LEGAL"), audience.knowledge_base)
    await places.forget_others({stays.knowledge_base})
    assert list(await places.audiences([BASE, KnowledgeBaseId("kb2")])) == ["kb2"]
    assert await places.bindings(place("LEGAL")) == ["kb2"]


async def test_it_is_kept(tmp_path: Path) -> None:
    async with opened(tmp_path / "data") as chat:
        await chat.places.change(place(), lambda _: PlaceSettings(mode="auto"))
        base = await chat.audiences.own(place())
    async with opened(tmp_path / "data") as chat:
        assert (await chat.places.settings(place())).mode == "auto"
        assert await chat.audiences.own(place()) == base
