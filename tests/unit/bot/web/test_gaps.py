"""The views of gaps and of feedback by topic: every question counts, its words are shown to who may read where it was asked."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
import pytest
import pytest_asyncio

from bot.store.gaps import GapQuestion, Gaps
from bot.store.turns import Turns
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


async def test_feedback_by_topic_shows_words_and_documents_only_where_its_visitor_may_read(
    stand: Stand,
) -> None:
    await rate_all_down(stand)
    async with stand.signed_in(ANN_IN_T1) as client:
        mine = (await client.get("/feedback")).text
        gaps = (await client.get("/gaps")).text + (await client.get("/gaps?done")).text
    async with stand.signed_in() as client:
        all_of_them = (await client.get("/feedback")).text
    workspace = [
        one
        for one in stand.turns
        if (world.PLACES[one].platform, world.PLACES[one].workspace) == ("slack", "T1")
    ]
    assert mine.count("3 not helpful, 1 helpful</span>") == len(workspace)
    assert all_of_them.count("3 not helpful, 1 helpful</span>") == len(stand.turns)
    for holder, turn in stand.turns.items():
        secret, title = world.SECRETS[holder], world.TITLES[holder]
        assert (secret in mine) == (secret in gaps), holder
        assert {each.document for each in turn.citations} == {stand.documents[holder]}
        if title in mine:
            assert secret in mine, holder
        assert (secret in all_of_them) == ("dm_of" not in holder), holder
    assert world.TITLES["public"] in mine
    assert "often misleads" in mine
    assert "wrong source" in mine
    assert world.SECRETS["dm_of_ben"] not in mine
    assert world.TITLES["dm_of_ben"] not in mine + all_of_them


async def rate_all_down(stand: Stand) -> None:
    turns = Turns(stand.parts.chat)
    for turn in stand.turns.values():
        for person in ("UA", "UB", "UC"):
            await turns.rate(turn, person, "down")
            await turns.explain_rating(turn, person, "source")
        await turns.rate(turn, "UE", "up")
