"""Who may read what: the scope of a question, and what a person may know of."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from bot.conversation.sources.sources_view import SourcesView
from bot.files.originals import Originals
from bot.messages import say
from bot.port import Action, Channel, Person
from bot.store.places import StoredAudience
from bot.store.turns import ChatTurn
from rag_engine.errors import NotAllowed, UnknownKnowledgeBase, UserError
from rag_engine.types import ChunkId, Citation
from tests.unit.bot.access.knowledge import ANN, BEN, EVE, Chat, opened, place, town

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bot.port import Place, Room


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[Chat]:
    async with opened(tmp_path) as made:
        yield made


async def ids(chat: Chat, where: Place, person: Person | None = None) -> frozenset[str]:
    return (await chat.audiences.scope(where, chat.town, person=person)).knowledge_bases


# the places' own


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


PLACES = {
    "channel": place(),
    "second channel": place("RANDOM"),
    "private channel": place("LEGAL"),
    "group": place("TRIO"),
    "DM of Ann": place("DM_ANN"),
    "DM of Ben": place("DM_BEN"),
    "thread": place("RANDOM", "1"),
    "second thread": place("RANDOM", "2"),
    "thread of a DM": place("DM_ANN", "1"),
    "external channel": place("SHARED"),
    "second workspace": place(workspace="T2"),
    "second platform": place(platform="discord"),
    "thread of the second workspace": place("RANDOM", "1", workspace="T2"),
}


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


async def test_ids_that_a_catalog_cannot_tell_apart_are_still_two_places(chat: Chat) -> None:
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


# the whole workspace's


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


# another channel's


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


# what others read, and what nobody tells


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


async def test_what_the_platform_does_not_tell_is_left_out_and_that_is_said(chat: Chat) -> None:
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


# the operator's


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


# what was cited before


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
        room: Room = SimpleNamespace(directory=chat.town)
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


# what a person may know of


async def known(chat: Chat, where: Place, person: Person) -> set[str]:
    return {one.name.in_language("en") for one in await chat.audiences.readable(where, chat.town, person)}


async def test_people_know_of_what_they_may_read(chat: Chat) -> None:
    for where in PLACES.values():
        await chat.audiences.own(where)
    await chat.audiences.own(place("BOARD"))
    await chat.audiences.create(place(), "handbook", everyone=True)
    await chat.audiences.create(place("BOARD"), "minutes", everyone=False)
    await chat.operators("rules")
    # Of #shared as well: a full member can read every public channel.
    assert await known(chat, place(), ANN) == {
        "#general", "#random", "#legal", "#board", "#shared", "handbook", "minutes", "rules",
    }  # fmt: skip
    assert await known(chat, place(), BEN) == {"#general", "#random", "#legal", "#shared", "handbook"}
    assert await known(chat, place(), EVE) == {"#general"}
    assert await known(chat, place("DM_BEN"), BEN) == {
        "this conversation", "#general", "#random", "#legal", "#shared", "handbook",
    }  # fmt: skip
    assert "this thread" in await known(chat, place("RANDOM", "1"), BEN)


async def test_a_direct_message_without_a_name_is_a_conversation_and_no_channel(chat: Chat) -> None:
    chat.town.add("DM_BEN", "direct", "BEN", name="")
    await chat.audiences.own(place("DM_BEN"))
    assert await known(chat, place("DM_BEN"), BEN) == {"this conversation"}
    scope = await chat.audiences.scope(place("DM_BEN"), chat.town, asker=BEN)
    assert scope.name_in("de") == say("this_conversation", "de")


async def test_what_is_unknown_and_what_is_closed_are_reported_in_the_same_words(chat: Chat) -> None:
    await chat.audiences.own(place())
    await chat.audiences.create(place("BOARD"), "minutes", everyone=False)

    async def told(label: str) -> str:
        with pytest.raises(UnknownKnowledgeBase) as caught:
            await chat.audiences.find(label, place(), chat.town, BEN)
        return str(caught.value).replace(label, "X")

    assert await told("minutes") == await told("nonsense")
    assert "there are: #general." in await told("minutes")
    assert await told("<#BOARD|board>") == await told("<#NOWHERE>")
    assert await told("#board") == await told("#nowhere")


async def test_labels_channels_and_nothing_at_all_are_found(chat: Chat) -> None:
    general, thread = await chat.audiences.own(place()), await chat.audiences.own(place(thread="1"))
    handbook = await chat.audiences.create(place(), "Team Handbook", everyone=True)

    async def found(label: str, where: Place) -> str:
        return (await chat.audiences.find(label, where, chat.town, BEN)).knowledge_base.id

    assert await found("", place()) == await found("this channel", place()) == general.id
    assert await found("", place(thread="1")) == await found("This Thread", place(thread="1")) == thread.id
    assert await found("team  handbook", place()) == handbook.id
    for label in ("#general", "GENERAL", "<#GENERAL>", "<#GENERAL|general>"):
        assert await found(label, place("RANDOM", "4")) == general.id
    with pytest.raises(UnknownKnowledgeBase, match="No file was added here yet"):
        await found("", place("RANDOM"))


async def test_two_of_one_name_are_distinguished(chat: Chat) -> None:
    here = await chat.audiences.create(place(), "legal", everyone=False)
    await chat.places.bind(place(), here.id)
    everyones = await chat.audiences.create(place(), "Legal", everyone=True)
    there = await chat.audiences.create(place("LEGAL"), "legal", everyone=False)
    operators = await chat.operators("legal")
    names = {
        one.knowledge_base.id: one.name.in_language("en")
        for one in await chat.audiences.readable(place(), chat.town, ANN)
    }
    assert names[here.id] == "legal"
    assert len(set(names.values())) == 4
    for base in (everyones, there, operators):
        assert (
            await chat.audiences.find(names[base.id], place(), chat.town, ANN)
        ).knowledge_base.id == base.id


async def test_guests_do_not_learn_of_the_workspaces_even_if_it_is_bound_here(chat: Chat) -> None:
    handbook = await chat.audiences.create(place(), "handbook", everyone=True)
    await chat.places.bind(place(), handbook.id)
    assert await known(chat, place(), EVE) == set()
    assert await ids(chat, place()) == await ids(chat, place(), EVE) == set()
    assert await ids(chat, place(), BEN) == {handbook.id}
    chat.town.inside["GENERAL"].discard("EVE")
    assert await ids(chat, place()) == {handbook.id}


# guests, and workspaces of others


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


# direct messages


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


@pytest.mark.parametrize(
    "label", ["", "  ", "#general", "<#C1>", "here", "This Thread", "x" * 41, "a`b", "a\u0007b", "-x"]
)
async def test_some_names_cannot_be_given(chat: Chat, label: str) -> None:
    with pytest.raises(UserError):
        await chat.audiences.create(place(), label, everyone=False)
    assert await chat.catalog.knowledge_bases() == []


async def test_a_label_is_given_once(chat: Chat) -> None:
    await chat.audiences.create(place(), "Handbook", everyone=True)
    with pytest.raises(UserError, match="already"):
        await chat.audiences.create(place("RANDOM"), "handbook", everyone=True)
    await chat.audiences.create(place("RANDOM"), "handbook", everyone=False)


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


async def test_a_channel_without_a_name_is_called_what_it_is(chat: Chat) -> None:
    await chat.audiences.own(place())
    chat.town.channels["GENERAL"] = Channel(id="GENERAL", name="", kind="public")
    assert await chat.names(place()) == "this channel"


async def test_a_name_is_found_as_every_language_shows_it(chat: Chat) -> None:
    own = await chat.audiences.create(place(), "legal", everyone=False)
    everyones = await chat.audiences.create(place(), "Legal", everyone=True)
    await chat.places.bind(place(), own.id)
    for label in ("Legal (of the workspace)", "legal (vom Arbeitsbereich)"):
        assert (await chat.audiences.find(label, place(), chat.town, ANN)).knowledge_base == everyones
