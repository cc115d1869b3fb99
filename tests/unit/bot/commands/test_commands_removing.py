"""Commands that remove, rebuild, export and set: what they ask first, and what is left."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from bot.commands import EXPIRY_MINUTES
from bot.commands.kb.contents import EXPORT_BYTES
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


async def test_removing_asks_first_and_leaves_no_trace(counter: Counter) -> None:
    await counter.say(ANN, "create handbook workspace")
    known = await counter.chat.audiences.find("handbook", place(), counter.chat.town, ANN)
    await counter.chat.put(known.knowledge_base, "a.txt")
    await counter.chat.places.bind(place("RANDOM"), known.knowledge_base.id)
    asked = await counter.reply(ANN, "remove handbook")
    assert "Remove the knowledge base `handbook` with 1 document? It cannot be undone." in asked.text
    assert f"{EXPIRY_MINUTES} minutes" in asked.text
    assert buttons(asked) == ["Remove", "Cancel"]
    assert await counter.confirm(ANN, asked) == "Removed the knowledge base `handbook` with 1 document."
    assert await counter.chat.catalog.knowledge_bases() == []
    assert await counter.chat.places.audience(known.knowledge_base.id) is None
    assert await counter.chat.places.bindings(place("RANDOM")) == []
    assert "no longer open" in await counter.confirm(ANN, asked)


async def test_a_cancelled_question_changes_nothing(counter: Counter) -> None:
    await counter.say(ANN, "create handbook workspace")
    asked = await counter.reply(ANN, "remove handbook")
    assert await counter.confirm(ANN, asked, button=1) == "Nothing was done."
    assert "no longer open" in await counter.confirm(ANN, asked)
    assert len(await counter.chat.catalog.knowledge_bases()) == 1


async def test_only_the_person_who_was_asked_can_say_yes(counter: Counter) -> None:
    await counter.say(ANN, "create handbook workspace")
    asked = await counter.reply(ANN, "remove handbook")
    for who, where in ((BEN, place()), (ANN, place(workspace="T2")), (ANN, place(platform="discord"))):
        assert "Only the person who was asked" in await counter.confirm(who, asked, where=where)
    assert len(await counter.chat.catalog.knowledge_bases()) == 1
    assert "Removed" in await counter.confirm(ANN, asked)


async def test_a_question_is_gone_after_its_minutes(counter: Counter) -> None:
    await counter.say(ANN, "create handbook workspace")
    asked = await counter.reply(ANN, "remove handbook")
    counter.clock.now = EXPIRY_MINUTES * 60
    assert "no longer open" in await counter.confirm(ANN, asked)
    assert len(await counter.chat.catalog.knowledge_bases()) == 1


async def test_who_is_no_admin_any_more_when_saying_yes_removes_nothing(counter: Counter) -> None:
    await counter.say(ANN, "create handbook workspace")
    asked = await counter.reply(ANN, "remove handbook")
    counter.chat.town.admins.clear()
    assert "Only an admin" in await counter.confirm(ANN, asked)
    assert len(await counter.chat.catalog.knowledge_bases()) == 1


async def test_a_document_is_removed_by_title_or_id(counter: Counter) -> None:
    own = await counter.chat.audiences.own(place())
    for title in ("a b.txt", "c.txt", "d.txt"):
        await counter.chat.put(own, title)
    for line in ('remove #general "a b.txt"', "remove C.TXT", f"remove document={own.id}-d.txt"):
        asked = await counter.reply(ANN, line)
        assert "from `#general`" in asked.text
        assert "Removed" in await counter.confirm(ANN, asked)
    assert await counter.chat.catalog.records(own.id) == []
    assert (await counter.chat.audiences.own(place())).id == own.id
    assert "no document `x` in `#general`" in await counter.say(ANN, "remove #general x")
    assert "no knowledge base nonsense" in await counter.say(ANN, "remove nonsense")
    assert "Say what to remove" in await counter.say(ANN, "remove")


async def test_what_the_operator_made_is_changed_by_the_operator(counter: Counter) -> None:
    await counter.chat.operators("rules")
    for line in ("remove rules", "reindex rules", "export rules"):
        assert "`footnote kb`" in await counter.say(ANN, line)


async def test_an_admin_who_cannot_read_a_channel_cannot_remove_or_export_what_it_holds(
    counter: Counter,
) -> None:
    await counter.chat.audiences.own(place("LEGAL"))
    counter.chat.town.inside["LEGAL"].discard("ANN")
    for line in ("remove #legal", "export #legal", "show #legal", "reindex <#LEGAL|legal>"):
        assert "that you may see here" in await counter.say(ANN, line)


async def test_reindexing_asks_first_and_shows_its_progress(counter: Counter) -> None:
    own = await counter.chat.audiences.own(place())
    for title in ("a.txt", "b.txt"):
        await counter.chat.put(own, title)
    asked = await counter.reply(ANN, "reindex")
    assert counter.reindexed == []
    assert await counter.confirm(ANN, asked) == "2 documents of `#general` split and embedded again."
    assert counter.reindexed == [own.id]
    assert [reply.status for reply in counter.shown][-1] == "2 of 2 documents done…"


async def test_an_export_comes_as_a_file_when_it_is_small_enough(counter: Counter) -> None:
    await counter.say(ANN, "create Team Handbook")
    reply = await counter.reply(ANN, "export team handbook")
    assert (
        reply.text
        == "`Team Handbook`: 2 documents with 6 passages. 1 document is still being read, so it is not in the file."
    )
    assert [(file.name, file.media_type, file.content) for file in reply.files] == [
        ("Team-Handbook.zip", "application/zip", b"zip")
    ]


async def test_a_large_export_says_which_command_makes_it(counter: Counter) -> None:
    own = await counter.chat.audiences.own(place())
    counter.export_bytes = b"x" * (EXPORT_BYTES + 1)
    reply = await counter.reply(ANN, "export")
    assert "larger than the 8 MiB" in reply.text
    assert f'`footnote kb export "{own.name}" FILE.zip`' in reply.text
    assert reply.files == ()


# settings, and who is not served


async def test_settings_are_shown_to_all_and_changed_by_admins(counter: Counter) -> None:
    assert "mode `thread`" in await counter.say(EVE, "settings")
    told = await counter.say(ANN, "settings mode auto knowledge blended language DE", where=place(thread="1"))
    assert "always `de`" in told
    assert await counter.chat.places.settings(place()) == PlaceSettings(
        mode="auto", knowledge="blended", language="de"
    )
    assert "die der Frage" in await counter.say(ANN, "settings language auto")
    assert (await counter.chat.places.settings(place())).mode == "auto"
    assert "two-letter code" in await counter.say(ANN, "settings language german")


async def test_a_workspace_that_is_not_served_gets_a_refusal_and_nothing_else(counter: Counter) -> None:
    await counter.chat.audiences.own(place())
    counter.chat = counter.chat.with_settings(workspaces=("T2",))
    for line in ("list", "show", "status", "settings", "create x", "help"):
        assert "I do not answer in this workspace" in await counter.say(ANN, line)
    told = await counter.push(ANN, "list:1")
    assert told is not None
    assert "I do not answer in this workspace" in told.text


async def test_who_did_what_is_logged_without_content(
    counter: Counter, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="bot.audit")
    await counter.say(ANN, "create Handbook workspace")
    await counter.confirm(ANN, await counter.reply(ANN, "remove handbook"))
    await counter.say(ANN, "settings mode auto")
    await counter.say(BEN, "settings mode mention")
    lines = [record.__dict__["fields"] for record in caplog.records]
    assert [(line["act"], line["person"], line["channel"]) for line in lines] == [
        ("create", "ANN", "GENERAL"),
        ("remove", "ANN", "GENERAL"),
        ("settings", "ANN", "GENERAL"),
    ]
    assert "andbook" not in str(lines)
