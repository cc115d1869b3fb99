"""Whoever administers a workspace opens every page: documents, questions, gaps, experts and verified answers show no word of a place they may not read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from bot.store.expert_requests import ExpertRequest, ExpertRequests
from bot.store.web_sessions import Visitor
from rag_engine.ingestion.verified_editor import VerifiedEditor
from rag_engine.metadata.verified_answer import Verifier
from tests.journeys.audience.world import (
    ANN,
    BEN,
    HOLDERS,
    HOMES,
    MEMBERS,
    OPERATOR,
    PLACES,
    SECRETS,
    TITLES,
    reads,
)
from tests.unit.bot.web.stand import Stand, ask, full_stand
from tests.unit.bot.web.test_gaps import add_gaps
from tests.unit.bot.web.test_views import crawled

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.port import Person

pytestmark = [pytest.mark.process, pytest.mark.asyncio(loop_scope="module")]

VISITORS = [
    (person, platform, workspace)
    for person in (ANN, BEN)
    for platform, workspace in (("slack", "T1"), ("slack", "T2"), ("discord", "T1"))
]


def word(kind: str, holder: str) -> str:
    return f"{kind}{SECRETS[holder]}"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stand(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Stand]:
    async with full_stand(tmp_path_factory.mktemp("page")) as made:
        for (_, workspace), town in made.towns.items():
            town.admins.add(BEN.id)
            town.others = {**town.others, workspace: town}
        await add_gaps(made)
        for holder in PLACES:
            await ask(made, holder, f"Who keeps the {word('whisper', holder)}?", private=True)
            await add_request(made, holder)
        for holder in HOLDERS:
            await add_verified(made, holder)
        yield made


async def add_request(stand: Stand, holder: str) -> None:
    turn, place = stand.turns[holder], PLACES[holder]
    request = ExpertRequest(
        knowledge_base=stand.bases[holder],
        platform=place.platform,
        workspace=place.workspace,
        channel=place.channel,
        thread=place.thread,
        message=turn.message,
        answer_id=turn.id,
        private=False,
        person=turn.person.id,
        name=turn.person.name,
        language="en",
        question=f"Who has the {word('asked', holder)}?",
        body=f"Who has the {word('asked', holder)}?",
        state="delivered",
        expert_channel=place.channel,
        said=f"Ask {word('said', holder)}.",
    )
    requests = ExpertRequests(stand.parts.chat)
    await requests.add(request)
    hidden = replace(
        request, id=f"{request.id}p", private=True, question=word("alone", holder), said=word("alone", holder)
    )
    await requests.add(hidden)
    await requests.name_experts(stand.bases[holder], place, place.channel, add=True)


async def add_verified(stand: Stand, holder: str) -> None:
    application = stand.parts.application
    editor = VerifiedEditor(
        ingestion=application.library.ingestion, catalog=application.catalog, review_days=90
    )
    await editor.save(
        stand.bases[holder],
        question=f"Who knows {word('verified', holder)}?",
        answer=f"The keeper of {word('keeper', holder)}.",
        author=Verifier(name="Ada"),
    )


def may_read(person: Person, platform: str, workspace: str, holder: str) -> bool:
    """The rule, written down a second time."""
    if holder == OPERATOR:
        return workspace == HOMES[platform] and person.id in MEMBERS[platform]
    place = PLACES[holder]
    return (place.platform, place.workspace) == (platform, workspace) and reads(person, holder)


@pytest.mark.parametrize(
    ("person", "platform", "workspace"),
    VISITORS,
    ids=[f"{person.name}-{platform}-{workspace}" for person, platform, workspace in VISITORS],
)
async def test_every_page(stand: Stand, person: Person, platform: str, workspace: str) -> None:
    visitor = Visitor(platform=platform, workspace=workspace, person=person.id, name=person.name)
    async with stand.signed_in(visitor) as client:
        pages = await crawled(client)
    everything = "\n".join(pages.values())
    leaks, missing = [], []
    for holder in HOLDERS:
        may = may_read(person, platform, workspace, holder)
        is_asker = holder != OPERATOR and may and stand.turns[holder].person == person
        words = {SECRETS[holder]: may, TITLES[holder]: may}
        words |= {word(kind, holder): may for kind in ("verified", "keeper")}
        if holder != OPERATOR:
            words |= {word(kind, holder): may for kind in ("asked", "said")}
            words |= {word(kind, holder): is_asker for kind in ("whisper", "alone")}
        leaks += [each for each, allowed in words.items() if each in everything and not allowed]
        missing += [each for each, allowed in words.items() if each not in everything and allowed]
    assert leaks == []
    assert missing == []
    assert len(pages) > 10


async def test_without_the_platforms_answer_no_page_has_a_word(stand: Stand) -> None:
    town = stand.towns["slack", "T1"]
    town.silent |= {*town.channels, *town.members}
    try:
        visitor = Visitor(platform="slack", workspace="T1", person=ANN.id, name=ANN.name)
        async with stand.signed_in(visitor) as client:
            everything = "\n".join((await crawled(client)).values())
    finally:
        town.silent.clear()
    assert [holder for holder in HOLDERS if SECRETS[holder] in everything] == []
