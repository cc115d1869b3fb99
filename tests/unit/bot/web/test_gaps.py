"""The view of gaps: every question counts, its words are shown to who may read where it was asked."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
import pytest
import pytest_asyncio

from bot.store.gaps import GapQuestion, Gaps
from tests.journeys.audience import world
from tests.unit.bot.web.stand import ANN_IN_T1, Stand, form_token, full_stand

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

pytestmark = [pytest.mark.process, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stand(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Stand]:
    async with full_stand(tmp_path_factory.mktemp("gaps")) as made:
        await add_gaps(made)
        yield made


async def add_gaps(stand: Stand) -> None:
    found = [_question(stand, holder, number) for number, holder in enumerate(stand.turns)]
    assert await Gaps(stand.parts.chat).advance(0, 1, found=found)


def _question(stand: Stand, holder: str, number: int) -> GapQuestion:
    turn = stand.turns[holder]
    return GapQuestion(
        id=turn.id,
        turn=turn.engine_turn,
        gap=f"g{number}",
        place=turn.place,
        person=turn.person.id,
        private="dm_of" in holder,
        why="not_found",
        knowledge_bases=(stand.bases[holder],),
        at=time.time() - 60,
        model="hashing",
        vector=np.ones(4, dtype=np.float32),
    )


async def test_an_administrator_reads_what_they_could_read_and_counts_the_rest_of_the_workspace(
    stand: Stand,
) -> None:
    async with stand.signed_in(ANN_IN_T1) as client:
        shown = (await client.get("/gaps")).text
    bucket = (ANN_IN_T1.platform, ANN_IN_T1.workspace)
    places = world.PLACES
    mine = [one for one in stand.turns if (places[one].platform, places[one].workspace) == bucket]
    assert shown.count("1 question<") == len(mine)
    readable = [holder for holder in stand.turns if world.SECRETS[holder] in shown]
    assert "public" in readable
    assert "dm_of_ben" in mine
    assert "dm_of_ben" not in readable
    assert set(readable) < set(mine)
    assert "You may read none of these questions." in shown


async def test_the_operator_sees_every_workspace_and_no_words_of_private_questions(stand: Stand) -> None:
    async with stand.signed_in() as client:
        shown = (await client.get("/gaps")).text
    assert shown.count("1 question<") == len(stand.turns)
    for holder in stand.turns:
        assert (world.SECRETS[holder] in shown) == ("dm_of" not in holder), holder


async def test_a_gap_is_done_by_an_administrator_of_its_workspace_alone(stand: Stand) -> None:
    numbers = {holder: f"g{number}" for number, holder in enumerate(stand.turns)}
    foreign = next(holder for holder in stand.turns if world.PLACES[holder].workspace != "T1")
    async with stand.signed_in(ANN_IN_T1) as client:
        headers, data = {"origin": stand.url}, {"token": form_token((await client.get("/gaps")).text)}
        for gap, status in (
            (numbers[foreign], 404),
            (numbers["dm_of_ben"], 404),
            ("g999", 404),
            (numbers["public"], 303),
        ):
            done = await client.post(f"/gaps/{gap}", data={**data, "act": "done"}, headers=headers)
            assert done.status_code == status, gap
        assert world.SECRETS["public"] not in (await client.get("/gaps")).text
        assert world.SECRETS["public"] in (await client.get("/gaps?done")).text
    found = await Gaps(stand.parts.chat).find(numbers[foreign])
    assert found is not None
    assert not found.done_at
