"""The commands as people use them: what is said, what is done, who may, what is asked first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.port import WriteRefused
from bot.store.places import PlaceSettings
from tests.doubles.town import TownRoom
from tests.unit.bot.access.knowledge import ANN, BEN, EVE, opened, place
from tests.unit.bot.commands.counter import Counter

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.port import Reply


@pytest.fixture
async def counter(tmp_path: Path) -> AsyncIterator[Counter]:
    async with opened(tmp_path) as chat:
        yield Counter(chat=chat, room=TownRoom(directory=chat.town))


def buttons(reply: Reply) -> list[str]:
    return [button.label for button in reply.buttons]


async def test_where_nothing_is_the_list_says_how_to_begin(counter: Counter) -> None:
    assert "add a file" in await counter.say(BEN, "list")


async def test_the_list_says_what_there_is_and_how_it_is_used(counter: Counter) -> None:
    own = await counter.chat.audiences.own(place())
    await counter.chat.put(own, "a.txt")
    await counter.chat.put(own, "b.pdf", "failed", "It is damaged.")
    legal = await counter.chat.audiences.own(place("LEGAL"))
    await counter.chat.places.bind(place(), legal.id)
    await counter.say(ANN, "create handbook workspace")
    assert (await counter.say(BEN, "list")).splitlines()[2:] == [
        "- `#general`: 1 document, 1 failed, searched here",
        "- `#legal`: 0 documents, searched here in your private questions",
        "- `handbook`: 0 documents, readable by the whole workspace, not searched here",
    ]
    assert "legal" not in await counter.say(EVE, "list")


async def test_long_lists_have_pages_and_their_buttons_know_the_way(counter: Counter) -> None:
    own = await counter.chat.audiences.own(place())
    for number in range(40):
        await counter.chat.put(own, f"{number:02}.txt")
    first = await counter.reply(BEN, "show")
    assert "40 documents in `#general`: (page 1 of 3)" in first.text
    assert first.text.count("- `") == 15
    assert buttons(first) == ["More"]
    second = await counter.push(BEN, first.buttons[0].value)
    assert second is not None
    assert "15.txt" in second.text
    assert buttons(second) == ["Back", "More"]
    third = await counter.push(BEN, second.buttons[1].value)
    assert third is not None
    assert buttons(third) == ["Back"]
    assert third.text.count("- `") == 10
    for reply in (first, second, third):
        assert all(len(button.name) + len(button.value) <= 90 for button in reply.buttons)


async def test_a_page_of_another_channels_documents_cannot_be_had_by_another_value(counter: Counter) -> None:
    board = await counter.chat.audiences.own(place("BOARD"))
    await counter.chat.put(board, "minutes.txt")
    for value in (f"show:{board.id}:1", f"show:{board.id}:2"):
        told = await counter.push(BEN, value)
        assert told is not None
        assert "minutes" not in told.text
        assert "may not see it" in told.text
    shown = await counter.push(ANN, f"show:{board.id}:1")
    assert shown is not None
    assert "minutes.txt" in shown.text


@pytest.mark.parametrize(
    "value", ["", "list", "list:x", "list:²", "show:x", "yes:nonsense", "no:", "drop:all", "list:9999999999"]
)
async def test_values_that_nobody_made_do_nothing(counter: Counter, value: str) -> None:
    told = await counter.push(EVE, value)
    assert told is not None
    assert told.text


async def test_buttons_of_others_are_not_ours(counter: Counter) -> None:
    assert await counter.push(EVE, "list:1", name="stop") is None


async def test_documents_are_shown_with_their_states_and_reasons(counter: Counter) -> None:
    own = await counter.chat.audiences.own(place())
    await counter.chat.put(own, "a.txt")
    await counter.chat.put(own, "b.pdf", "failed", "The file is protected by a password.")
    await counter.chat.put(own, "c.pdf", "embedding")
    await counter.chat.put(own, "[evil](http://x.test) `code`\n# big", "ready")
    shown = await counter.reply(BEN, "show")
    assert "- `a.txt`: 3 passages from 2 pages" in shown.text
    assert "- `b.pdf`: failed. The file is protected by a password." in shown.text
    assert "- `c.pdf`: being read" in shown.text
    assert "- `[evil](http://x.test) 'code' # big`: 3 passages" in shown.text
    assert shown.links == frozenset()


async def test_the_status_counts_what_this_place_sees_and_nothing_else(counter: Counter) -> None:
    own = await counter.chat.audiences.own(place())
    await counter.chat.put(own, "a.txt")
    await counter.chat.put(own, "b.pdf", "failed", "It is damaged.")
    await counter.chat.put(own, "c.pdf", "queued")
    board = await counter.chat.audiences.own(place("BOARD"))
    await counter.chat.put(board, "minutes.txt", "failed", "Secret.")
    told = await counter.say(ANN, "status")
    assert told.splitlines() == [
        "- index: embedded",
        "- embedding model: hashing",
        "- language model: none is set, so answers are quotes from the files",
        "- searched here: 1 knowledge base with 1 document",
        "- waiting: 1 file",
        "- failed: 1 file",
        "  - `b.pdf` in `#general`: It is damaged.",
    ]


async def test_the_status_names_models_and_calls_quoting_what_it_is(counter: Counter) -> None:
    counter.models = "gpt-5 → llama → extractive"
    told = await counter.say(ANN, "status")
    assert "- language model: gpt-5 → llama → quotes from the files" in told
    await counter.chat.places.change(place(), lambda _: PlaceSettings(language="de"))
    assert "Sprachmodell: gpt-5 → llama → Zitate aus den Dateien" in await counter.say(ANN, "status")


@pytest.mark.parametrize("line", ["bind", "show", "export", "unbind"])
async def test_a_name_typed_wrong_is_answered_with_the_nearest(counter: Counter, line: str) -> None:
    await counter.say(ANN, "create samples workspace")
    told = await counter.say(ANN, f"{line} sampels")
    assert "no knowledge base sampels here that you may see. Did you mean samples?" in told
    assert "Did you mean" not in await counter.say(ANN, f"{line} zzzz")


async def test_the_nearest_name_is_one_that_the_person_may_see(counter: Counter) -> None:
    await counter.say(ANN, "create samples", where=place("BOARD"))
    assert "samples" not in await counter.say(BEN, "show sampels", where=place("RANDOM"))


async def test_help_names_every_command(counter: Counter) -> None:
    told = await counter.say(BEN, "help")
    assert "`/kb bind NAME`" in told
    assert (await counter.reply(BEN, "", name="help")).text.startswith("I answer from the files")
    assert "Did you mean `/kb list`?" in await counter.say(BEN, "lits")
    assert "Did you mean `/kb settings`?" in await counter.say(BEN, "setings")
    missing = (await counter.reply(BEN, "", name="ask")).text
    assert missing == "Something is missing. Type it like this: `/ask QUESTION`"
    assert "answer it like a message" in (await counter.reply(BEN, "why?", name="ask")).text


async def test_what_is_created_is_used_here_at_once(counter: Counter) -> None:
    assert "Everyone who can read this channel may read it" in await counter.say(ANN, "create Team Handbook")
    assert await counter.chat.names(place()) == "Team Handbook"
    assert await counter.chat.names(place("LEGAL")) == ""
    assert "already" in await counter.say(ANN, "create team handbook")


async def test_one_for_the_whole_workspace_is_made_by_admins_in_channels_of_its_own(counter: Counter) -> None:
    told = await counter.say(ANN, "create handbook workspace", where=place("RANDOM"))
    assert "search it here. The whole workspace may read it" in told
    assert "I do not search it here" in await counter.say(ANN, "create guide workspace")
    assert await counter.chat.names(place()) == ""
    counter.chat.town.silent = {"are_members"}
    assert "could not check" in await counter.say(ANN, "create x workspace")
    counter.chat.town.silent = set()
    assert "Only an admin" in await counter.say(BEN, "create x workspace")
    for where in (place("DM_ANN"), place("TRIO"), place("SHARED")):
        assert "not here" in await counter.say(ANN, "create x workspace", where=where)
    assert "I created" in await counter.say(BEN, "create mine", where=place("DM_BEN"))


@pytest.mark.parametrize(
    "line",
    [
        "create x",
        "bind handbook",
        "unbind handbook",
        "remove handbook",
        "reindex handbook",
        "export handbook",
        "settings mode auto",
    ],
)
async def test_what_admins_do_is_refused_to_others(counter: Counter, line: str) -> None:
    await counter.say(ANN, "create handbook workspace")
    before = await counter.chat.places.bindings(place()), await counter.chat.places.settings(place())
    reply = await counter.reply(BEN, line)
    assert reply.text.startswith("Only an admin of this workspace can do that here")
    assert not reply.buttons
    assert not reply.files
    assert (
        await counter.chat.places.bindings(place()),
        await counter.chat.places.settings(place()),
    ) == before


async def test_binding_and_unbinding(counter: Counter) -> None:
    await counter.chat.audiences.own(place("RANDOM"))
    await counter.say(ANN, "create handbook workspace")
    assert (
        await counter.say(ANN, "bind handbook", where=place("RANDOM"))
        == "From now on I search `handbook` here."
    )
    assert "already" in await counter.say(ANN, "bind handbook", where=place("RANDOM"))
    assert await counter.chat.names(place("RANDOM")) == "#random and handbook"
    assert "I no longer search `handbook`" in await counter.say(ANN, "unbind handbook", where=place("RANDOM"))
    assert await counter.chat.names(place("RANDOM")) == "#random"
    assert "not bound" in await counter.say(ANN, "unbind handbook", where=place("RANDOM"))


async def test_another_channel_is_bound_by_its_mention(counter: Counter) -> None:
    await counter.chat.audiences.own(place())
    assert "From now on I search `#general`" in await counter.say(
        ANN, "bind <#GENERAL|general>", where=place("LEGAL")
    )
    assert await counter.chat.names(place("LEGAL")) == "#general"


async def test_what_not_everyone_here_may_read_is_not_bound(counter: Counter) -> None:
    await counter.chat.audiences.own(place("LEGAL"))
    await counter.chat.audiences.create(place(), "handbook", everyone=True)
    await counter.chat.operators("rules")
    counter.chat.town.inside["TRIO"].add("EVE")
    for label in ("#legal", "handbook", "rules"):
        for where in (place(), place("TRIO")):
            refused = await counter.say(ANN, f"bind {label}", where=where)
            assert "Not everyone who can read this place may read" in refused
            assert await counter.chat.places.bindings(where) == []
    counter.chat.town.silent = {"are_members"}
    assert "I could not check" in await counter.say(ANN, "bind handbook", where=place("RANDOM"))
    assert await counter.chat.places.bindings(place("RANDOM")) == []


async def test_a_server_that_is_not_the_operators_cannot_bind_theirs_and_its_admins_learn_the_setting(
    counter: Counter,
) -> None:
    rules = await counter.chat.operators("rules")
    counter.chat.town.home = ""
    for name in ("rules", rules.id):
        for line in ("bind", "show", "export"):
            assert "There is no knowledge base" in await counter.say(
                ANN, f"{line} {name}", where=place("RANDOM")
            )
    bound = await counter.say(ANN, "bind rules", where=place("RANDOM"))
    assert "once T1 is in FOOTNOTE_ACCESS__WORKSPACES" in bound
    assert "FOOTNOTE_ACCESS" not in await counter.say(BEN, "bind rules", where=place("RANDOM"))
    listed = await counter.say(ANN, "list", where=place("RANDOM"))
    assert "rules" not in listed
    assert "once T1 is in FOOTNOTE_ACCESS__WORKSPACES" in listed
    assert "FOOTNOTE_ACCESS" not in await counter.say(BEN, "list", where=place("RANDOM"))


async def test_what_could_not_be_checked_is_not_called_absent(counter: Counter) -> None:
    await counter.chat.audiences.own(place("LEGAL"))
    await counter.chat.places.bind(place("BOARD"), (await counter.chat.audiences.own(place())).id)
    refused = WriteRefused(
        "The app lacks the permission groups:read: add it under OAuth & Permissions at api.slack.com/apps, then install the app again."
    )
    counter.chat.town.refusals = {"channel": refused}
    for line in ("list", "bind #general", "show #general"):
        told = await counter.say(ANN, line, where=place("BOARD"))
        assert (
            "I could not check which knowledge bases you may see here. The app lacks the permission groups:read"
            in told
        )
    counter.chat.town.refusals = {"may_read": refused}
    told = await counter.say(ANN, "list", where=place("LEGAL"))
    assert "`#legal`" in told
    assert "Some may be missing here" in told
    assert "groups:read" in told


async def test_an_admin_cannot_bind_what_they_cannot_read(counter: Counter) -> None:
    await counter.chat.audiences.own(place("BOARD"))
    counter.chat.town.inside["BOARD"].clear()
    assert "no knowledge base" in await counter.say(ANN, "bind #board")
    assert "no knowledge base" in await counter.say(ANN, "bind <#BOARD|board>")
    assert await counter.chat.places.bindings(place()) == []


async def test_nothing_is_bound_to_a_channel_that_other_organisations_read(counter: Counter) -> None:
    await counter.chat.operators("rules")
    await counter.say(ANN, "create handbook workspace")
    await counter.chat.audiences.own(place())
    for label in ("handbook", "rules"):
        assert "other organisations" in await counter.say(ANN, f"bind {label}", where=place("SHARED"))
    assert "no knowledge base" in await counter.say(ANN, "bind #general", where=place("SHARED"))
    counter.chat.town.silent = {"SHARED"}
    assert "I could not check who can read this channel" in await counter.say(
        ANN, "bind handbook", where=place("SHARED")
    )
    assert await counter.chat.places.bindings(place("SHARED")) == []


async def test_the_last_one_is_unbound_only_after_a_yes(counter: Counter) -> None:
    where = place("RANDOM")
    await counter.say(ANN, "create handbook workspace", where=where)
    asked = await counter.reply(ANN, "unbind handbook", where=where)
    assert "the last thing I search here" in asked.text
    assert await counter.chat.names(where) == "handbook"
    assert "no longer" in await counter.confirm(ANN, asked, where=where)
    assert await counter.chat.names(where) == ""


async def test_people_rule_their_direct_messages_and_nothing_else_from_there(counter: Counter) -> None:
    await counter.say(ANN, "create handbook workspace")
    await counter.chat.operators("rules")
    where = place("DM_BEN")
    assert "`handbook` needs no binding" in await counter.say(BEN, "bind handbook", where=where)
    await counter.chat.audiences.own(place("RANDOM"))
    counter.chat.town.inside["RANDOM"].discard("BEN")
    assert "From now on" in await counter.say(BEN, "bind #random", where=where)
    assert await counter.chat.names(where, BEN) == "#random and handbook"
    assert "no knowledge base" in await counter.say(BEN, "bind rules", where=where)
    assert "Only an admin" in await counter.say(BEN, "remove handbook", where=where)
    assert "From now on" in await counter.say(ANN, "bind rules", where=place("DM_ANN"))
    own = await counter.chat.audiences.own(where)
    await counter.chat.put(own, "a.txt")
    assert "Removed" in await counter.confirm(
        BEN, await counter.reply(BEN, "remove a.txt", where=where), where=where
    )


async def test_a_guest_cannot_take_the_workspaces_into_a_direct_message(counter: Counter) -> None:
    counter.chat.town.add("DM_EVE", "direct", "EVE")
    await counter.say(ANN, "create handbook workspace", where=place("RANDOM"))
    assert "no knowledge base" in await counter.say(EVE, "bind handbook", where=place("DM_EVE"))


async def test_what_belongs_here_is_neither_bound_nor_unbound(counter: Counter) -> None:
    everywhere = counter.chat.with_settings(everywhere=("rules",))
    counter.chat = everywhere
    await counter.chat.operators("rules")
    await counter.chat.audiences.own(place())
    assert "needs no binding" in await counter.say(ANN, "bind #general")
    assert "belongs to this place" in await counter.say(ANN, "unbind #general")
    told = await counter.say(ANN, "unbind rules", where=place("RANDOM"))
    assert "FOOTNOTE_ACCESS__EVERYWHERE" in told
