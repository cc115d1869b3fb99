"""With a graph of everything that everybody holds: no name, connection or passage of others comes by it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from tests.journeys.audience.checks import check, everybody, leaks, learns
from tests.journeys.audience.stage import attachment, opened
from tests.journeys.audience.world import HOLDERS, PLACES, SECRETS, TITLES, Eyes, may_learn

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bot.port import Attachment, Person
    from tests.journeys.audience.stage import Stage

pytestmark = pytest.mark.asyncio(loop_scope="module")

SHARED_NAME = "Vera Lindqvist"


def _own_name(holder: str) -> str:
    return f"Doctor {SECRETS[holder].title()}"


def named_file(holder: str) -> Attachment:
    """One name that all files have, and one beside it that this alone has."""
    word = SECRETS[holder]
    text = (
        f"{SHARED_NAME} keeps the code {word} with {_own_name(holder)} on the Iron Gull.\n\n"
        f"The Iron Gull sails for {_own_name(holder)}, who keeps {word}.\n"
    )
    return attachment(TITLES[holder], text)


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=[False, True], ids=["unbound", "bound"])
async def stage(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    folder = tmp_path_factory.mktemp("stage")
    async with opened(folder, bound=request.param, file=named_file, graphs=True) as made:
        assert (await made.catalog.graph.counts(made.held["public"])).entities > 2
        yield made


@everybody
async def test_the_card_of_a_name_that_all_hold(stage: Stage, name: str, person: Person) -> None:
    shown = await stage.types(name, person, "about", SHARED_NAME)
    check(stage, shown, Eyes(place=name, person=person))
    foreign = [one for one in HOLDERS if not may_learn(shown[0].eyes, one, bound=stage.bound)]
    text = "\n".join(message.everything for message in shown)
    assert [one for one in foreign if _own_name(one) in text] == []


@everybody
async def test_the_card_of_a_name_that_one_holds(stage: Stage, name: str, person: Person) -> None:
    eyes = Eyes(place=name, person=person)
    for holder in HOLDERS[[*PLACES].index(name) % 4 :: 4]:
        shown = await stage.types(name, person, "about", _own_name(holder))
        assert {one.eyes for one in shown} == {eyes}
        assert not leaks(shown, learns(stage), asked=SECRETS[holder])
        text = "\n".join(one.everything for one in shown)
        if not may_learn(eyes, holder, bound=stage.bound):
            assert not any(
                word in text for word in (TITLES[holder], f"{_own_name(holder)} on the", SECRETS[holder])
            )


@everybody
async def test_a_question_that_the_graph_widens(stage: Stage, name: str, person: Person) -> None:
    line = f"Who works with {SHARED_NAME} and keeps the code of the Iron Gull?"
    said = await stage.says(name, person, line)
    typed = await stage.types(name, person, "ask", line)
    for shown, eyes in ((said, Eyes(place=name)), (typed, Eyes(place=name, person=person))):
        allowed = [one for one in HOLDERS if may_learn(eyes, one, bound=stage.bound)]
        assert {one.eyes for one in shown} == {eyes}
        assert not leaks(shown, learns(stage))
        assert any(SECRETS[one] in shown[-1].everything for one in allowed)
