"""Commands and links: nobody learns of what they may not read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from tests.journeys.audience.checks import everybody, knows, labels, leaks, learns
from tests.journeys.audience.stage import Stage, message, opened, secret_file
from tests.journeys.audience.world import (
    ANN,
    HOLDERS,
    PLACES,
    QUESTION,
    SECRETS,
    TITLES,
    Eyes,
    may_know,
    reads,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bot.port import Person


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=[False, True], ids=["unbound", "bound"])
async def stage(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    async with opened(tmp_path_factory.mktemp("stage"), bound=request.param) as made:
        yield made


COMMANDS = ("list", "show", "status", "help", "settings", "nonsense")


@everybody
async def test_what_commands_tell(stage: Stage, name: str, person: Person) -> None:
    for line in COMMANDS:
        shown = await stage.types(name, person, "kb", line)
        assert {message.eyes for message in shown} == {Eyes(place=name, person=person)}
        assert not leaks(shown, knows(stage)), line


CHANGING = ("export", "remove", "bind", "reindex", "unbind")
"""Each place tries others of these on each holder."""


@everybody
async def test_commands_that_name_what_others_hold(stage: Stage, name: str, person: Person) -> None:
    bindings = await stage.places.bindings(PLACES[name])
    for number, holder in enumerate(HOLDERS):
        wording = (*labels(holder), stage.held[holder], TITLES[holder])
        lines = [f"show {label}" for label in wording[number % 2 :: 2]]
        lines.append(f"{CHANGING[(number + len(name)) % len(CHANGING)]} {wording[0]}")
        for line in lines:
            shown = await stage.types(name, person, "kb", line)
            assert {message.eyes for message in shown} == {Eyes(place=name, person=person)}
            assert not leaks(shown, knows(stage), asked=line), line
    await stage.rebind(PLACES[name], bindings)


@everybody
async def test_pages_of_documents_by_the_ids_of_knowledge_bases(
    stage: Stage, name: str, person: Person
) -> None:
    for holder, base in stage.held.items():
        seen = await stage.presses(name, person, "kb", f"show:{base}:1")
        assert not leaks(seen, knows(stage)), holder
        allowed = may_know(Eyes(place=name, person=person), holder, bound=stage.bound)
        assert (TITLES[holder] in seen[0].everything) == allowed


@everybody
async def test_links_to_files_that_the_asker_cannot_read(stage: Stage, name: str, person: Person) -> None:
    """The bot can read every message; that somebody has its link is no reason to give its files away."""
    for holder, place in PLACES.items():
        if reads(person, holder):
            continue
        link = f"https://town.slack.com/archives/{holder}"
        said = replace(message(holder, ANN, "here"), attachments=(secret_file(holder),))
        stage.links[place.platform, place.workspace, link] = said
        shown = await stage.types(name, person, "kb", f"add {link}")
        assert not leaks(shown, learns(stage)), link
        assert "I cannot read that message" in shown[-1].everything
    assert [record.document.title for record in await stage.catalog.records(stage.held[name])] == [
        TITLES[name]
    ]


@everybody
async def test_while_the_platform_tells_nothing_only_the_own_is_searched(
    stage: Stage, name: str, person: Person
) -> None:
    town = stage.towns[PLACES[name].platform, PLACES[name].workspace]
    own = {holder for holder in PLACES if PLACES[holder] in (PLACES[name], PLACES[name].parent)}
    for silent in ({"channel"}, {"may_read", "membership", "are_members", "joined"}):
        for silenced in (town, *town.others.values()):
            silenced.silent = silent
        try:
            shown = [*await stage.says(name, person), *await stage.types(name, person, "ask", QUESTION)]
            told = [message for line in COMMANDS for message in await stage.types(name, person, "kb", line)]
        finally:
            for silenced in (town, *town.others.values()):
                silenced.silent = set()
        assert not leaks(shown, lambda _, holder: holder in own)
        assert not leaks(told, knows(stage))
        assert SECRETS[name] in shown[-1].everything
