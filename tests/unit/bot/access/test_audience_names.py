"""The names of knowledge bases: who learns them, and how people type them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.messages import say
from bot.port import Channel, Person
from rag_engine.errors import UnknownKnowledgeBase, UserError
from tests.unit.bot.access.knowledge import ANN, BEN, EVE, PLACES, Chat, place

if TYPE_CHECKING:
    from bot.port import Place


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


@pytest.mark.parametrize("twin", ["Hаndbook", "ΗANDBOOK", "Нandbоok", "Ｈandbook"])
async def test_names_that_only_look_alike_are_told_apart(chat: Chat, twin: str) -> None:
    real = await chat.audiences.create(place(), "Handbook", everyone=False)
    false = await chat.audiences.create(place("LEGAL"), twin, everyone=False)
    names = {
        one.knowledge_base.id: one.name.in_language("en")
        for one in await chat.audiences.readable(place(), chat.town, ANN)
    }
    assert names[real.id] == "Handbook"
    assert names[false.id] not in (twin, "Handbook")
    for base in (real, false):
        found = await chat.audiences.find(names[base.id], place(), chat.town, ANN)
        assert found.knowledge_base.id == base.id


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
