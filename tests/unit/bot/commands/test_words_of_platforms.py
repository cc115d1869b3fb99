"""On Discord every reply about a workspace calls it a server, on Slack a workspace."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, get_args

import pytest

from bot.messages import CATALOG, LANGUAGES
from bot.messages.workspace_names import ServerSentence, WorkspaceSentence
from rag_engine.text.messages.message_catalog import PLACE
from tests.doubles.town import TownRoom
from tests.unit.bot.access.knowledge import ANN, BEN, opened, place
from tests.unit.bot.commands.counter import Counter

if TYPE_CHECKING:
    from pathlib import Path

    from bot.messages.names import Sentence

LINES = (
    (ANN, "RANDOM", "create handbook workspace"),
    (ANN, "GENERAL", "create guide workspace"),
    (ANN, "RANDOM", "create guide"),
    (ANN, "TRIO", "create x workspace"),
    (ANN, "RANDOM", "add https://slack.com/nothing"),
    (ANN, "RANDOM", "list"),
    (BEN, "RANDOM", "create x"),
)


async def replies(counter: Counter, platform: str, language: str) -> list[str]:
    said: list[str] = []
    for settings, lines in (
        ({}, LINES),
        ({"roles": ("owners",)}, LINES[-1:]),
        ({"workspaces": ("T2",)}, LINES[:1]),
    ):
        counter.chat = counter.chat.with_settings(**settings)
        for who, channel, line in lines:
            person = replace(who, language=language)
            said.append(await counter.say(person, line, where=place(channel, platform=platform)))
    return said


def parts(name: Sentence | WorkspaceSentence, language: str) -> list[str]:
    """The sentence without its places."""
    return [part for part in PLACE.split(str(CATALOG.sentences(language)[name]))[::2] if part.strip()]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("platform", "expected", "others"),
    [("slack", WorkspaceSentence, ServerSentence), ("discord", ServerSentence, WorkspaceSentence)],
)
async def test_every_reply_has_the_word_of_its_platform(
    tmp_path: Path, platform: str, expected: object, others: object, language: str
) -> None:
    async with opened(tmp_path) as chat:
        chat.town.home = "T9"
        said = "\n".join(
            await replies(Counter(chat=chat, room=TownRoom(directory=chat.town)), platform, language)
        )
    for name in get_args(expected):
        assert all(part in said for part in parts(name, language)), name
    for name in get_args(others):
        assert not all(part in said for part in parts(name, language)), name


@pytest.mark.parametrize(
    ("platform", "word", "other"), [("slack", "workspace", "server"), ("discord", "server", "workspace")]
)
async def test_the_choice_has_the_word_of_the_platform_and_both_are_understood(
    tmp_path: Path, platform: str, word: str, other: str
) -> None:
    async with opened(tmp_path) as chat:
        counter = Counter(chat=chat, room=TownRoom(directory=chat.town))
        here = place("RANDOM", platform=platform)
        explained = await counter.say(ANN, "help create", where=here)
        assert f"/kb create NAME [channel|{word}]" in explained
        assert f"the whole {word}" in explained
        assert f"[channel|{word}]" in await counter.say(ANN, "create", where=here)
        wrong = await counter.say(ANN, "create x readers:all", where=here)
        assert f"`channel`, `{word}`" in wrong
        for name, readers in (("one", word), ("two", f"readers:{other}"), ("three", word.upper())):
            made = await counter.say(ANN, f"create {name} {readers}", where=here)
            assert f"whole {word} may read it" in made


async def test_a_name_of_slack_with_the_word_server_opens_it_to_nobody(tmp_path: Path) -> None:
    async with opened(tmp_path) as chat:
        counter = Counter(chat=chat, room=TownRoom(directory=chat.town))
        made = await counter.say(ANN, "create file server", where=place("RANDOM"))
        assert "file server" in made
        assert "whole workspace" not in made
