"""Who may read what: the scope of a question, and what a person may know of."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from bot.conversation.sources.sources_view import SourcesView
from bot.files.originals import Originals
from bot.port import Action, Person
from bot.store.places import StoredAudience
from bot.store.turns import ChatTurn
from rag_engine.errors import NotAllowed, UserError
from rag_engine.types import ChunkId, Citation
from tests.unit.bot.access.knowledge import ANN, BEN, EVE, PLACES, Chat, ids, place

if TYPE_CHECKING:
    from bot.port import Place, Room


async def test_nothing_was_added_so_nothing_is_searched(chat: Chat) -> None:
    scope = await chat.audiences.scope(place(thread="1"), chat.town)
    assert (scope.knowledge_bases, scope.name, scope.notices) == (frozenset(), "", ())


async def test_a_thread_sees_its_own_and_its_channels(chat: Chat) -> None:
    channel = await chat.audiences.own(place())
    thread = await chat.audiences.own(place(thread="1"))
    assert await ids(chat, place(thread="1")) == {channel.id, thread.id}
    assert await chat.names(place(thread="1")) == "this thread and #general"
    assert await ids(chat, place()) == await ids(chat, place(thread="2")) == {channel.id}
    assert await chat.names(place()) == "#general"


async def test_it_is_known_that_only_threads_have_files(chat: Chat) -> None:
    await chat.audiences.own(place("RANDOM", "1"))
    assert not (await chat.audiences.scope(place(), chat.town)).threads
    await chat.audiences.own(place(thread="1"))
    assert (await chat.audiences.scope(place(), chat.town)).threads
    assert (await chat.audiences.scope(place(thread="2"), chat.town)).threads
    assert not (await chat.audiences.scope(place(thread="1"), chat.town)).threads
    await chat.audiences.own(place())
    assert not (await chat.audiences.scope(place(), chat.town)).threads


async def test_it_is_known_what_is_a_group_message(chat: Chat) -> None:
    kinds = {name: (await chat.audiences.scope(where, chat.town)).group for name, where in PLACES.items()}
    assert [name for name, is_group in kinds.items() if is_group] == ["group"]


async def test_what_a_place_holds_is_seen_there_and_in_its_threads_alone(chat: Chat) -> None:
    own = {name: await chat.audiences.own(where) for name, where in PLACES.items()}
    assert len({base.id for base in own.values()}) == len(PLACES)
    for asked_in, where in PLACES.items():
        expected = {own[name].id for name, held_by in PLACES.items() if held_by in (where, where.parent)}
        for person in (None, ANN, BEN, EVE):
            if person is None or not where.channel.startswith("DM_"):
                assert await ids(chat, where, person) == expected, f"asked in the {asked_in} by {person}"


async def test_the_same_place_has_one_own_however_often_it_is_made(chat: Chat) -> None:
    assert await chat.audiences.own(place()) == await chat.audiences.own(place())
    assert len(await chat.catalog.knowledge_bases()) == 1


async def test_ids_that_a_catalog_cannot_distinguish_are_still_two_places(chat: Chat) -> None:
    parts = [("C1", "1"), ("c1", "1"), ("C1:1", ""), ("C1", "1 "), ("C\uff11", "1"), ("C1~1", "")]
    made = [await chat.audiences.own(place(channel, thread)) for channel, thread in parts]
    assert len({base.id for base in made}) == len(parts)


async def test_names_of_own_ones_are_no_names_that_people_give(chat: Chat) -> None:
    base = await chat.audiences.own(place())
    with pytest.raises(UserError):
        await chat.audiences.create(place(), f"~{base.name}", everyone=False)
    made = await chat.audiences.create(place(), base.name[:40].replace(":", " "), everyone=False)
    assert made.id != base.id


async def test_a_place_that_another_took_the_row_of_is_refused(chat: Chat) -> None:
    base = await chat.audiences.own(place())
    await chat.places.forget(base.id)
    stolen = await chat.audiences.own(place("RANDOM"))
    await chat.places.forget(stolen.id)
    await chat.places.admit(
        StoredAudience(knowledge_base=base.id, platform="slack", workspace="T1", channel="RANDOM")
    )
    with pytest.raises(NotAllowed):
        await chat.audiences.own(place())


async def test_a_workspaces_knowledge_base_is_seen_where_it_is_bound(chat: Chat) -> None:
    handbook = await chat.audiences.create(place(), "Handbook", everyone=True)
    assert await ids(chat, place()) == set()
    await chat.places.bind(place("RANDOM"), handbook.id)
    assert await ids(chat, place("RANDOM", "7")) == {handbook.id}
    assert await chat.names(place("RANDOM")) == "Handbook"
    assert await ids(chat, place()) == await ids(chat, place("RANDOM", workspace="T2")) == set()


async def test_a_binding_does_not_reach_into_another_workspace(chat: Chat) -> None:
    handbook = await chat.audiences.create(place(workspace="T2"), "handbook", everyone=True)
    theirs = await chat.audiences.own(place("RANDOM", workspace="T2"))
    for base in (handbook, theirs):
        await chat.places.bind(place(), base.id)
        await chat.places.bind(place(platform="discord", workspace="T2"), base.id)
    for where in (place(), place(platform="discord", workspace="T2")):
        assert await ids(chat, where) == await ids(chat, where, ANN) == set()


async def test_two_workspaces_have_a_handbook_each(chat: Chat) -> None:
    one = await chat.audiences.create(place(), "handbook", everyone=True)
    two = await chat.audiences.create(place(workspace="T2"), "handbook", everyone=True)
    three = await chat.operators("handbook")
    assert len({one.id, two.id, three.id}) == 3


async def bound(chat: Chat, where: Place, to: Place) -> str:
    base = await chat.audiences.own(to)
    await chat.places.bind(where, base.id)
    return base.id


async def test_another_channels_is_seen_while_everyone_here_can_read_that_channel(chat: Chat) -> None:
    general = await bound(chat, place("LEGAL"), place())
    assert await ids(chat, place("LEGAL")) == {general}
    assert await chat.names(place("LEGAL")) == "#general"
    chat.town.inside["LEGAL"].add("STRANGER")
    assert await ids(chat, place("LEGAL")) == set()
    chat.town.inside["LEGAL"].discard("STRANGER")
    assert await ids(chat, place("LEGAL")) == {general}


async def test_a_private_channels_is_not_seen_where_others_read_along(chat: Chat) -> None:
    legal = await bound(chat, place(), place("LEGAL"))
    assert await ids(chat, place()) == set()
    scope = await chat.audiences.scope(place(), chat.town)
    assert "legal" not in scope.name + "".join(scope.notices)
    assert await ids(chat, place(), BEN) == {legal}
    assert await ids(chat, place(), EVE) == set()
    chat.town.inside["LEGAL"].discard("BEN")
    assert await ids(chat, place(), BEN) == set()


async def test_a_threads_and_a_direct_messages_own_cannot_be_seen_elsewhere_even_when_bound(
    chat: Chat,
) -> None:
    for held_by in (place("RANDOM", "1"), place("DM_ANN"), place("TRIO"), place("DM_ANN", "1")):
        await bound(chat, place("BOARD"), held_by)
        await bound(chat, place("RANDOM"), held_by)
    assert await ids(chat, place("BOARD"), ANN) == await ids(chat, place("BOARD")) == set()
    assert await ids(chat, place("RANDOM", "2")) == await ids(chat, place("RANDOM", "2"), ANN) == set()


async def test_a_labelled_one_of_a_channel_is_seen_there_once_bound(chat: Chat) -> None:
    contracts = await chat.audiences.create(place("LEGAL"), "contracts", everyone=False)
    assert await ids(chat, place("LEGAL")) == set()
    await chat.places.bind(place("LEGAL"), contracts.id)
    await chat.places.bind(place("BOARD"), contracts.id)
    await chat.places.bind(place(), contracts.id)
    assert await ids(chat, place("LEGAL", "3")) == await ids(chat, place("BOARD")) == {contracts.id}
    assert await ids(chat, place()) == set()


async def test_a_channel_that_other_organisations_read_sees_only_its_own(chat: Chat) -> None:
    everywhere = chat.with_settings(everywhere=("rules",))
    rules = await chat.operators("rules")
    handbook = await chat.audiences.create(place(), "handbook", everyone=True)
    own = await chat.audiences.own(place("SHARED"))
    labelled = await chat.audiences.create(place("SHARED"), "project", everyone=False)
    for base in (rules, handbook, labelled):
        await chat.places.bind(place("SHARED"), base.id)
    await bound(chat, place("SHARED"), place())
    for person in (None, ANN, BEN):
        assert await ids(everywhere, place("SHARED"), person) == {own.id, labelled.id}


async def test_what_the_platform_does_not_confirm_is_left_out_with_a_notice(chat: Chat) -> None:
    general = await chat.audiences.own(place("LEGAL"))
    await bound(chat, place("LEGAL"), place())
    for silent in ({"GENERAL"}, {"LEGAL"}, {"may_read"}):
        chat.town.silent = silent
        scope = await chat.audiences.scope(place("LEGAL"), chat.town)
        assert scope.knowledge_bases == {general.id}
        assert scope.notices == ("left_out",)
        assert "general" not in scope.name


async def test_no_word_about_what_was_left_out_where_nothing_was(chat: Chat) -> None:
    await chat.audiences.own(place())
    chat.town.silent = {"GENERAL"}
    scope = await chat.audiences.scope(place(), chat.town)
    assert (scope.name, scope.notices) == ("this channel", ())


async def test_citations_are_shown_while_their_documents_may_be_read(chat: Chat) -> None:
    own, legal = await chat.audiences.own(place()), await chat.audiences.own(place("LEGAL"))
    await chat.places.bind(place(), legal.id)
    citations = [
        Citation(
            number=number,
            title=record.document.title,
            anchor="",
            uri=record.document.uri,
            quote="word for word",
            document=record.document.id,
            chunk=ChunkId("1"),
        )
        for number, record in enumerate(
            [await chat.put(own, "a.txt"), await chat.put(legal, "b.txt")], start=1
        )
    ]

    turn = ChatTurn(place=place(), message="m", person=BEN, citations=tuple(citations))
    originals = Originals(Path("nowhere"), catalog=chat.catalog, most_bytes=0)
    checking = SourcesView(audiences=chat.audiences, catalog=chat.catalog, originals=originals)

    async def shown(person: Person) -> list[int]:
        action = Action(id="", name="sources", value=turn.id, place=place(), person=person)
        room = cast("Room", SimpleNamespace(directory=chat.town))
        text = (await checking.show(turn, action, room)).reply.text
        return [one.number for one in citations if f"**[{one.number}]** {one.title}" in text]

    assert await shown(BEN) == [1, 2]
    assert await shown(EVE) == [1]
    chat.town.silent = {"LEGAL"}
    assert await shown(BEN) == [1]
    chat.town.silent = set()
    await chat.places.unbind(place(), legal.id)
    assert await shown(BEN) == [1]
    await chat.catalog.remove(citations[0].document)
    assert await shown(BEN) == []


async def known(chat: Chat, where: Place, person: Person) -> set[str]:
    return {one.name.in_language("en") for one in await chat.audiences.readable(where, chat.town, person)}


async def test_the_platform_is_asked_at_each_question_and_only_about_what_is_bound(chat: Chat) -> None:
    await chat.audiences.own(place())
    await chat.audiences.own(place("LEGAL"))
    await bound(chat, place(), place("RANDOM"))
    for _ in range(2):
        chat.town.asked.clear()
        await chat.audiences.scope(place(), chat.town)
        assert ("may_read", "RANDOM", "GENERAL") in chat.town.asked
        assert not [asked for asked in chat.town.asked if "LEGAL" in asked]


async def test_the_platform_is_not_asked_about_hundreds_of_channels_at_once(chat: Chat) -> None:
    for number in range(60):
        chat.town.add(f"C{number}", "public", "ANN")
        await chat.audiences.own(place(f"C{number}"))
    handbook = await chat.audiences.create(place(), "handbook", everyone=True)
    listing = await chat.audiences.readable(place(), chat.town, BEN)
    assert 20 < len([one for one in listing if one.name.in_language("en").startswith("#c")]) <= 40
    for label, expected in (("<#C59|c59>", "#c59"), ("handbook", "handbook")):
        chat.town.asked.clear()
        found = await chat.audiences.find(label, place(), chat.town, BEN)
        assert found.name.in_language("en") == expected
        assert len(chat.town.asked) < 10
    assert found.knowledge_base.id == handbook.id
