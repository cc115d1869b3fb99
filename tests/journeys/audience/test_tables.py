"""Everybody computes everywhere over tables that everybody holds, by rules and with a model that asks for all of them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from tests.journeys.audience.checks import everybody, leaks, learns
from tests.journeys.audience.stage import attachment, opened
from tests.journeys.audience.world import HOLDERS, PLACES, SECRETS, TITLES, Eyes, may_learn
from tests.unit.research.setup import ReplyingModel

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bot.port import Attachment, Person
    from tests.journeys.audience.stage import Shown, Stage

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUESTION = "What is the total number of crates?"
CRATES = {holder: 7_001 + 1_013 * number for number, holder in enumerate(HOLDERS)}
"""In the holder's table; no two of them differ by a third."""
_NAMES = {holder: TITLES[holder].removesuffix(".txt") for holder in HOLDERS}


def table_file(holder: str) -> Attachment:
    lines = ["Code,Crates", f"{SECRETS[holder]},{CRATES[holder] - 1}", "spare,1"]
    return attachment(f"{_NAMES[holder]}.csv", "\n".join(lines))


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=[False, True], ids=["unbound", "bound"])
async def stage(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    async with opened(tmp_path_factory.mktemp("stage"), bound=request.param, file=table_file) as made:
        yield made


def check(stage: Stage, shown: list[Shown], eyes: Eyes, *, asked: str = "", computed: bool = True) -> None:
    """Only tables of those who may be learned of are named or counted."""
    allowed = {holder for holder in HOLDERS if may_learn(eyes, holder, bound=stage.bound)}
    assert stage.engine.queries[-1].knowledge_bases == {stage.held[holder] for holder in allowed}
    assert {one.eyes for one in shown} == {eyes}
    assert not leaks(shown, learns(stage), asked=asked)
    text = "\n".join(one.everything for one in shown)
    numbers = {int(found.replace(",", "")) for found in re.findall(r"(?<!\w)\d[\d,]*\d(?!\w)", text)}
    foreign = {value for holder in HOLDERS if holder not in allowed for value in _figures(holder)}
    assert not numbers & foreign
    if computed:
        # One table is counted; of several the files are named.
        own = CRATES[eyes.place] in numbers if len(allowed) == 1 else _NAMES[eyes.place] in text
        assert own, text


def _figures(holder: str) -> tuple[int, int]:
    return CRATES[holder], CRATES[holder] - 1


@everybody
async def test_by_rules(stage: Stage, name: str, person: Person) -> None:
    check(stage, await stage.says(name, person, QUESTION), Eyes(place=name))
    own = Eyes(place=name, person=person)
    check(stage, await stage.types(name, person, "table", QUESTION), own)
    check(stage, await stage.types(name, person, "ask", f"table:yes {QUESTION}"), own)


@everybody
async def test_by_names_of_other_files(stage: Stage, name: str, person: Person) -> None:
    """To name a foreign file or value changes nothing."""
    eyes = Eyes(place=name, person=person)
    for holder in HOLDERS[[*PLACES].index(name) % 4 :: 4]:
        line = f"How many crates does {SECRETS[holder]} have in {_NAMES[holder]}.csv?"
        shown = await stage.types(name, person, "table", line)
        check(stage, shown, eyes, asked=line, computed=False)


@everybody
async def test_by_a_model_that_asks_for_every_table(stage: Stage, name: str, person: Person) -> None:
    foreign = [one for one in HOLDERS if not may_learn(Eyes(place=name), one, bound=stage.bound)]
    queries = iter(
        (
            " UNION ALL ".join(f"SELECT code, crates FROM {_NAMES[one]}" for one in foreign[:3]),  # noqa: S608
            "SELECT * FROM sqlite_master",
            "SELECT content FROM description",
        )
    )
    model = ReplyingModel(reply=lambda task, _: {"sql": next(queries)} if task == "sql" else "Nothing.")
    usual = stage.engine.engine
    stage.engine.engine = replace(usual, models=[model])
    try:
        shown = await stage.says(name, person, QUESTION)
    finally:
        stage.engine.engine = usual
    assert model.tasks.count("sql") == 3
    given = "\n".join(
        message.content
        for task, prompt in model.asked
        for message in prompt.messages
        if message.role != "assistant" and (task != "sql" or "Tables:" in message.content)
    )
    assert [one for one in foreign if SECRETS[one] in given or _NAMES[one] in given] == []
    check(stage, shown, Eyes(place=name), computed=False)
