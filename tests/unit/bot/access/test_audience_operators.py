"""The operator's knowledge bases, guests and strangers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import NotAllowed, UnknownKnowledgeBase
from tests.unit.bot.access.knowledge import ANN, BEN, EVE, Chat, ids, place

if TYPE_CHECKING:
    from bot.port import Person, Place


async def test_the_operators_are_seen_where_they_are_bound_or_everywhere_when_that_is_set(chat: Chat) -> None:
    rules, secrets = await chat.operators("rules"), await chat.operators("secrets")
    assert await ids(chat, place()) == await ids(chat, place("DM_BEN"), BEN) == set()
    await chat.places.bind(place("BOARD"), secrets.id)
    everywhere = chat.with_settings(everywhere=("RULES",))
    assert await ids(everywhere, place("BOARD")) == {rules.id, secrets.id}
    assert await ids(everywhere, place("DM_BEN"), BEN) == {rules.id}


async def test_one_made_in_chat_that_lost_its_audience_is_seen_by_nobody(chat: Chat) -> None:
    base = await chat.audiences.own(place("BOARD"))
    await chat.places.forget(base.id)
    await chat.places.bind(place(), base.id)
    everywhere = chat.with_settings(everywhere=(base.name,))
    assert await ids(everywhere, place()) == await ids(everywhere, place(), ANN) == set()
    assert await everywhere.audiences.readable(place(), chat.town, ANN) == []


async def test_a_setting_does_not_open_what_was_made_in_chat(chat: Chat) -> None:
    base = await chat.audiences.create(place("BOARD"), "minutes", everyone=False)
    everywhere = chat.with_settings(everywhere=("minutes", base.name))
    assert await ids(everywhere, place()) == set()


async def test_what_is_gone_from_the_catalog_is_not_searched(chat: Chat) -> None:
    base = await chat.audiences.own(place())
    await chat.catalog.unfinished.withdraw(base.id)
    await chat.catalog.unfinished.remove(base.id)
    scope = await chat.audiences.scope(place(), chat.town)
    assert (scope.knowledge_bases, scope.name) == (frozenset(), "")


async def test_a_workspace_that_is_not_served_has_nothing(chat: Chat) -> None:
    await chat.audiences.own(place())
    closed = chat.with_settings(workspaces=("T2",))
    assert await ids(closed, place()) == set()
    assert await closed.audiences.readable(place(), chat.town, ANN) == []
    for make in (closed.audiences.own(place()), closed.audiences.create(place(), "x", everyone=False)):
        with pytest.raises(NotAllowed):
            await make


async def known(chat: Chat, where: Place, person: Person) -> set[str]:
    return {one.name.in_language("en") for one in await chat.audiences.readable(where, chat.town, person)}


async def test_guests_do_not_learn_of_the_workspaces_even_if_it_is_bound_here(chat: Chat) -> None:
    handbook = await chat.audiences.create(place(), "handbook", everyone=True)
    await chat.places.bind(place(), handbook.id)
    assert await known(chat, place(), EVE) == set()
    assert await ids(chat, place()) == await ids(chat, place(), EVE) == set()
    assert await ids(chat, place(), BEN) == {handbook.id}
    chat.town.inside["GENERAL"].discard("EVE")
    assert await ids(chat, place()) == {handbook.id}


async def test_a_guest_who_comes_into_a_group_ends_what_is_the_workspaces_there(chat: Chat) -> None:
    handbook = await chat.audiences.create(place(), "handbook", everyone=True)
    rules = await chat.operators("rules")
    for base in (handbook, rules):
        await chat.places.bind(place("TRIO"), base.id)
    assert await ids(chat, place("TRIO")) == {handbook.id, rules.id}
    chat.town.inside["TRIO"].add("EVE")
    assert await ids(chat, place("TRIO")) == await ids(chat, place("TRIO"), EVE) == set()
    open_to_guests = chat.with_settings(guests=True)
    assert await ids(open_to_guests, place("TRIO")) == set()


async def test_a_setting_lets_guests_read_the_operators_in_channels(chat: Chat) -> None:
    rules = await chat.operators("rules")
    everywhere = chat.with_settings(everywhere=("rules",))
    assert await ids(everywhere, place()) == await ids(everywhere, place(), EVE) == set()
    open_to_guests = chat.with_settings(everywhere=("rules",), guests=True)
    assert await ids(open_to_guests, place()) == await ids(open_to_guests, place(), EVE) == {rules.id}
    chat.town.add("DM_EVE", "direct", "EVE")
    own = await chat.audiences.own(place())
    assert await everywhere.asks(place("DM_EVE"), EVE) == {own.id}


@pytest.mark.parametrize("home", ["", "T2"])
async def test_the_operators_are_seen_only_in_their_own_workspace_and_in_those_listed(
    chat: Chat, home: str
) -> None:
    rules = await chat.operators("rules")
    own = await chat.audiences.own(place("RANDOM"))
    await chat.places.bind(place("RANDOM"), rules.id)
    everywhere = chat.with_settings(everywhere=("rules",))
    assert await ids(everywhere, place("RANDOM")) == {own.id, rules.id}
    chat.town.home = home
    for person in (None, ANN, BEN):
        assert await ids(everywhere, place("RANDOM"), person) == {own.id}
        assert await everywhere.asks(place("DM_BEN"), BEN) == {own.id}
    assert await known(everywhere, place("RANDOM"), ANN) == {"#random"}
    with pytest.raises(UnknownKnowledgeBase):
        await everywhere.audiences.find("rules", place("RANDOM"), chat.town, ANN)
    listed = chat.with_settings(everywhere=("rules",), workspaces=("T1",))
    assert await ids(listed, place("RANDOM")) == {own.id, rules.id}
