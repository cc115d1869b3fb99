"""In a channel of a language every reply of a command is in that language."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.store.places import PlaceSettings
from tests.doubles.town import TownRoom
from tests.unit.bot.access.knowledge import ANN, BEN, EVE, opened, place
from tests.unit.bot.commands.counter import Counter

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

ENGLISH = re.compile(
    r"\b(the|file|files|is|are|could|again|there|cannot|read|of|and|this|it|with|here|not|documents?|passages?|you|can|searched|knowledge|base)\b",
    re.IGNORECASE,
)


@pytest.fixture
async def counter(tmp_path: Path) -> AsyncIterator[Counter]:
    async with opened(tmp_path) as chat:
        await chat.places.change(place(), lambda _: PlaceSettings(language="de"))
        yield Counter(chat=chat, room=TownRoom(directory=chat.town))


def english_in(text: str) -> list[str]:
    return ENGLISH.findall(re.sub(r"`[^`]*`", "", text))


@pytest.mark.parametrize(
    ("line", "begins"),
    [
        ("list", "Wissensbasen, die du hier nutzen kannst:"),
        ("show", "2 Dokumente in `#general`:"),
        ("show nowhere", "Hier gibt es keine Wissensbasis nowhere"),
        ("remove nowhere", "Hier gibt es keine Wissensbasis nowhere"),
        ("remove #general nothing.pdf", ""),
        ("remove a.txt", "`a.txt` aus `#general` entfernen?"),
        ("remove", "Sag, was entfernt werden soll"),
        ("reindex", "2 Dokumente von `#general` neu aufteilen"),
        ("export", "`#general`: "),
        ("status", "- "),
        ("settings", "Wie ich mich in diesem Kanal verhalte:"),
        ("settings language german", "Gib die Sprache"),
        ("settings mode loud", "`mode` kann"),
        ("help", "Was du eingeben kannst:"),
        ("lisst", "Diesen Befehl gibt es nicht. Meintest du `/kb list`?"),
        ("bind #general", "Was zu diesem Ort gehört"),
        ("bind", "Da fehlt etwas."),
        ("unbind #general", "`#general` gehört zu diesem Ort"),
        ("create <bad>", ""),
        ("create handbuch", "`handbuch` ist angelegt"),
        ("add", "Sag, welche Dateien"),
    ],
)
async def test_every_reply_is_german(counter: Counter, line: str, begins: str) -> None:
    own = await counter.chat.audiences.own(place())
    await counter.chat.put(own, "a.txt")
    reason = "The file is protected by a password; remove the password and add it again."
    await counter.chat.put(own, "b.pdf", "failed", reason)
    reply = await counter.reply(ANN, line)
    assert reply.text.startswith(begins)
    assert english_in(reply.text) == []
    assert english_in(" ".join(button.label for button in reply.buttons)) == []
    assert english_in(" ".join(shown.status for shown in counter.shown)) == []


async def test_a_stored_reason_is_translated(counter: Counter) -> None:
    own = await counter.chat.audiences.own(place())
    reason = "The file is protected by a password; remove the password and add it again."
    await counter.chat.put(own, "b.pdf", "failed", reason)
    for line in ("show", "status"):
        assert "mit einem Passwort geschützt" in await counter.say(BEN, line)


async def test_a_thread_is_described_in_german(counter: Counter) -> None:
    thread = place(thread="1")
    await counter.chat.put(await counter.chat.audiences.own(thread), "a.txt")
    assert "- `dieser Thread`: 1 Dokument, wird hier durchsucht" in await counter.say(
        BEN, "list", where=thread
    )
    assert "1 Dokument in `dieser Thread`" in await counter.say(BEN, "show dieser Thread", where=thread)


async def test_what_a_person_may_not_do_is_refused_in_german(counter: Counter) -> None:
    text = await counter.say(EVE, "create handbuch")
    assert text.startswith("Nur ")
    assert english_in(text) == []


async def test_the_language_of_the_client_counts_where_the_channel_has_none(counter: Counter) -> None:
    elsewhere = place("RANDOM")
    assert "base de connaissances" in await counter.say(replace(BEN, language="fr"), "list", where=elsewhere)
    assert "no knowledge base" in await counter.say(BEN, "list", where=elsewhere)


async def test_the_confirmation_and_its_outcome_are_german(counter: Counter) -> None:
    await counter.chat.put(await counter.chat.audiences.own(place()), "a.txt")
    asked = await counter.reply(ANN, "remove a.txt")
    assert [button.label for button in asked.buttons] == ["Entfernen", "Abbrechen"]
    assert await counter.confirm(ANN, asked) == "`a.txt` wurde aus `#general` entfernt."
    assert (
        await counter.confirm(ANN, asked)
        == "Diese Rückfrage ist nicht mehr offen: Gib den Befehl noch einmal ein."
    )


LINES = (
    "list",
    "show",
    "show nowhere",
    "remove a.txt",
    "remove",
    "reindex",
    "export",
    "settings",
    "settings language german",
    "settings mode loud",
    "help",
    "lisst",
    "bind #general",
    "bind",
    "unbind #general",
    "create handbook",
    "add",
)
NAMES = {"nowhere", "handbook", "zip", "txt", "pdf", "general"}


@pytest.mark.parametrize("language", ["ko", "ru"])
@pytest.mark.parametrize("line", LINES)
async def test_every_reply_is_in_the_script_of_the_language(
    counter: Counter, line: str, language: str
) -> None:
    await counter.chat.places.change(place(), lambda _: PlaceSettings(language=language))
    own = await counter.chat.audiences.own(place())
    await counter.chat.put(own, "a.txt")
    reason = "The file is protected by a password; remove the password and add it again."
    await counter.chat.put(own, "b.pdf", "failed", reason)
    reply = await counter.reply(ANN, line)
    text = re.sub(r"`[^`]*`", "", reply.text)
    assert re.search("[가-힣а-яё]", text)
    assert set(re.findall(r"\b[a-z]{2,}\b", text)) <= NAMES
