"""What a direct message searches: what its person may read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.port import Person
from rag_engine.errors import NotAllowed
from tests.unit.bot.access.knowledge import ANN, BEN, EVE, Chat, ids, place, town

if TYPE_CHECKING:
    from bot.port import Place


async def known(chat: Chat, where: Place, person: Person) -> set[str]:
    return {one.name.in_language("en") for one in await chat.audiences.readable(where, chat.town, person)}


async def test_a_direct_message_looks_in_the_channels_its_person_is_in(chat: Chat) -> None:
    own = {each: await chat.audiences.own(place(each)) for each in ("GENERAL", "RANDOM", "LEGAL", "BOARD")}
    mine = await chat.audiences.own(place("DM_BEN"))
    for hidden in (place("RANDOM", "1"), place("TRIO"), place("DM_ANN"), place(workspace="T2")):
        await chat.audiences.own(hidden)
    general = {own["GENERAL"].id, own["RANDOM"].id, own["LEGAL"].id}
    assert await chat.asks(place("DM_BEN"), BEN) == general | {mine.id}
    assert await chat.asks(place("DM_BEN", "1"), BEN) == general | {mine.id}
    assert await ids(chat, place("DM_BEN"), BEN) == general | {mine.id}
    assert await chat.asks(place(), BEN) == {own["GENERAL"].id}
    assert await ids(chat, place("DM_BEN")) == await chat.asks(place("DM_BEN"), ANN) == {mine.id}
    chat.town.inside["LEGAL"].discard("BEN")
    assert own["LEGAL"].id not in await chat.asks(place("DM_BEN"), BEN)


async def test_a_direct_message_looks_in_what_its_channels_use_and_what_is_the_workspaces(chat: Chat) -> None:
    handbook = await chat.audiences.create(place(), "handbook", everyone=True)
    bound_rules, rules = await chat.operators("bound"), await chat.operators("rules")
    board = await chat.audiences.own(place("BOARD"))
    shared = await chat.audiences.own(place("SHARED"))
    chat.town.inside["SHARED"].add("BEN")
    for base in (bound_rules, board, handbook):
        await chat.places.bind(place("RANDOM"), base.id)
        await chat.places.bind(place("SHARED"), base.id)
    assert await chat.asks(place("DM_BEN"), BEN) == {handbook.id, bound_rules.id, shared.id}
    everywhere = chat.with_settings(everywhere=("rules",))
    assert rules.id in await everywhere.asks(place("DM_BEN"), BEN)
    chat.town.add("DM_EVE", "direct", "EVE")
    assert await everywhere.asks(place("DM_EVE"), EVE) == set()
    chat.town.add("DM_STRANGER", "direct", "STRANGER")
    assert await everywhere.asks(place("DM_STRANGER"), Person(id="STRANGER")) == {shared.id}


async def test_a_direct_message_without_a_workspace_looks_in_all_that_the_person_is_in(chat: Chat) -> None:
    def at(workspace: str, channel: str) -> Place:
        return place(channel, workspace=workspace, platform="discord")

    towns = {"T1": chat.town, "T2": town()}
    towns["T2"].members.discard("BEN")
    towns["T2"].inside = {each: inside - {"BEN"} for each, inside in towns["T2"].inside.items()}
    chat.town.home = ""
    chat.town.add("DM", "direct", "BEN")
    chat.town.add("DM2", "direct", "ANN")
    chat.town.others = towns
    rules = await chat.operators("rules")
    first = await chat.audiences.own(at("T1", "RANDOM"))
    second = await chat.audiences.own(at("T2", "RANDOM"))
    slack = await chat.audiences.own(place("RANDOM"))
    assert slack.id != first.id
    everywhere = chat.with_settings(everywhere=("rules",))
    assert await everywhere.asks(at("@me", "DM"), BEN) == {first.id}
    assert await everywhere.asks(at("@me", "DM2"), ANN) == {first.id, second.id}
    assert await known(everywhere, at("@me", "DM"), BEN) == {"#random"}
    listed = chat.with_settings(everywhere=("rules",), workspaces=("T1",))
    assert await listed.asks(at("@me", "DM"), BEN) == {first.id, rules.id}
    await listed.access.admit_person(BEN, at("@me", "DM"), chat.town)
    others = chat.with_settings(workspaces=("T2",))
    assert await others.asks(at("@me", "DM"), BEN) == set()
    with pytest.raises(NotAllowed):
        await others.access.admit_person(BEN, at("@me", "DM"), chat.town)


async def test_what_a_direct_message_could_not_check_is_said(chat: Chat) -> None:
    await chat.audiences.own(place("RANDOM"))
    mine = await chat.audiences.own(place("DM_BEN"))
    for silent in ({"joined"}, {"RANDOM"}):
        chat.town.silent = silent
        scope = await chat.audiences.scope(place("DM_BEN"), chat.town, asker=BEN)
        assert (scope.knowledge_bases, scope.notices, scope.unchecked) == ({mine.id}, ("left_out",), True)
