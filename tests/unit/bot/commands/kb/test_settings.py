"""`/kb settings`: every choice is validated in one sentence, shown, stored and taken back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from bot.store.places import PlaceSettings
from tests.doubles.town import TownRoom
from tests.unit.bot.access.knowledge import ANN, BEN, EVE, opened, place
from tests.unit.bot.commands.counter import Counter

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

DEFAULTS = """How I behave in this channel:

- mode `thread`: I answer when I am mentioned, and in threads that I am in
- knowledge `strict`: answers rest on the files alone
- language of answers: that of the question"""


@pytest.fixture
async def counter(tmp_path: Path) -> AsyncIterator[Counter]:
    async with opened(tmp_path) as chat:
        room = TownRoom(directory=chat.town)
        yield Counter(chat=chat, room=room, models="large → extractive", labels=("code", "fast"))


async def stored(counter: Counter) -> PlaceSettings:
    return await counter.chat.places.settings(place())


async def test_what_is_chosen_is_stored_and_shown_to_all(counter: Counter) -> None:
    line = (
        "settings model fast temperature 0,5 citations off route chat empty:'No *luck* <@U1>' persona Be kind"
    )
    said = await counter.say(ANN, line)
    assert await stored(counter) == PlaceSettings(
        persona="Be kind",
        model="fast",
        temperature=0.5,
        empty_answer="No *luck* <@U1>",
        citations=False,
        route="chat",
    )
    assert said.splitlines()[5:] == [
        "- persona: Be kind",
        "- model: `fast`",
        "- temperature: 0.5",
        r"- when I find nothing: No \*luck\* \<@U1\>",
        "- citations `off`: answers name no sources",
        "- route `chat`: I talk without searching the files",
    ]
    assert (await counter.say(BEN, "settings")).splitlines()[2:] == said.splitlines()[2:]
    assert await counter.say(BEN, "settings", where=place("RANDOM")) == DEFAULTS


@pytest.mark.parametrize("nothing", ["off", "Off", "'\u200b'", "'\u202e \u2066'"])
async def test_a_text_that_is_off_or_that_nobody_would_see_is_none(counter: Counter, nothing: str) -> None:
    for line in ("persona:'Be kind'", "empty:'Ask Ben'", f"persona:{nothing}", f"empty:{nothing}"):
        await counter.say(ANN, f"settings {line}")
    said = await counter.say(ANN, "settings temperature:-0")
    assert said.splitlines()[1:] == [*DEFAULTS.splitlines()[1:], "- temperature: 0"]
    changed = await stored(counter)
    assert (changed.persona, changed.empty_answer) == ("", "")


async def test_one_setting_or_all_go_back_to_the_default(counter: Counter) -> None:
    await counter.say(ANN, "settings citations off persona Be kind")
    await counter.say(ANN, "settings reset persona")
    assert await stored(counter) == PlaceSettings(citations=False)
    await counter.say(ANN, "settings reset all language de")
    assert await stored(counter) == PlaceSettings(language="de")
    await counter.say(ANN, "settings reset all")
    assert await counter.chat.places.with_settings() == []
    assert await counter.say(BEN, "settings") == DEFAULTS


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("model slow", "There is no model `slow` to choose; there are: `code`, `fast`."),
        ("temperature warm", "Give the temperature as a number from 0 to 2, such as `0.2`."),
        ("temperature 2.1", "Give the temperature as a number from 0 to 2, such as `0.2`."),
        ("temperature nan", "Give the temperature as a number from 0 to 2, such as `0.2`."),
        (f"persona {'x' * 1_001}", "This text has 1001 characters; at most 1000 are allowed."),
        (f"empty {'x' * 501}", "This text has 501 characters; at most 500 are allowed."),
        ("web auto", "No web search is set up here: the operator sets `FOOTNOTE_WEB_SEARCH__KIND`."),
        ("citations sometimes", "`citations` can be `on`, `off`, not `sometimes`."),
    ],
)
async def test_what_is_unusable_changes_nothing(counter: Counter, line: str, sentence: str) -> None:
    assert await counter.say(ANN, f"settings {line}") == sentence
    assert await stored(counter) == PlaceSettings()


async def test_without_a_model_there_is_nothing_to_choose(counter: Counter) -> None:
    counter.models, counter.labels = "extractive", ()
    assert await counter.say(ANN, "settings model fast") == (
        "There is only one language model here, so there is nothing to choose."
    )
    assert await counter.say(ANN, "settings route chat") == (
        "There is no language model here, so I can only search: leave `route` at `auto`."
    )
    assert await stored(counter) == PlaceSettings()


@pytest.mark.parametrize("line", ["persona x", "model fast", "citations off", "route chat", "reset all"])
async def test_only_admins_change_it(counter: Counter, line: str) -> None:
    await counter.say(ANN, "settings persona Be kind")
    assert (await counter.say(BEN, f"settings {line}")).startswith("Only an admin")
    assert await stored(counter) == PlaceSettings(persona="Be kind")


async def test_of_two_changes_at_once_none_is_lost(counter: Counter) -> None:
    changes = ("mode auto", "persona Be kind", "temperature 0.5", "route chat")
    await asyncio.gather(*(counter.say(ANN, f"settings {change}") for change in changes))
    assert await stored(counter) == PlaceSettings(
        mode="auto", persona="Be kind", temperature=0.5, route="chat"
    )


async def test_the_operators_tools_are_an_administrators_to_allow_also_among_few(counter: Counter) -> None:
    """They act with the operator's keys: a guest's direct message is no place to take them to."""
    counter.chat.town.add("DM_EVE", "direct", "EVE")
    counter.chat.town.add("GROUP", "group", "ANN", "BEN", "EVE")
    for person, channel in ((EVE, "DM_EVE"), (BEN, "DM_BEN"), (EVE, "GROUP"), (BEN, "GROUP")):
        where = place(channel)
        assert "Only an admin" in await counter.say(person, "settings tools:all", where=where)
        assert (await counter.chat.places.settings(where)).tools != "all"
        assert "tools" in await counter.say(person, "settings tools:on", where=where)
    for channel in ("GROUP", "DM_ANN"):
        await counter.say(ANN, "settings tools:all", where=place(channel))
        assert (await counter.chat.places.settings(place(channel))).tools == "all"
    await counter.say(EVE, "settings persona:'Be kind'", where=place("GROUP"))
    assert (await counter.chat.places.settings(place("GROUP"))).persona == "Be kind"
