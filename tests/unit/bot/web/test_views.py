"""Every view over a real socket: what it shows, to whom, and what it changes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from lxml import html

from bot.access.audience import Audiences
from bot.store.turns import ChatTurn, Turns
from rag_engine.types import DocumentId
from tests.journeys.audience import world
from tests.unit.bot.web.stand import ANN_IN_T1, Stand, ask, form_token

if TYPE_CHECKING:
    import httpx2

pytestmark = pytest.mark.process

ANNS = (
    "public",
    "second_public",
    "private",
    "group",
    "dm_of_ann",
    "thread",
    "second_thread",
    "external",
    "external_group",
)
"""What Ann, who administers T1, can read there."""


async def crawled(client: httpx2.AsyncClient) -> dict[str, str]:
    """Every page that links lead to from the overview."""
    found: dict[str, str] = {}
    waiting = ["/"]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        shown = await client.get(path)
        assert shown.status_code == 200, (path, shown.text)
        found[path] = shown.text
        links = html.fromstring(shown.text).xpath("//a/@href")
        waiting += [link for link in links if link.startswith("/")]
    return found


async def test_an_administrator_sees_what_they_can_read_and_nothing_else(stand: Stand) -> None:
    async with stand.signed_in(ANN_IN_T1) as client:
        pages = await crawled(client)
    everything = "\n".join(pages.values())
    for holder in world.HOLDERS:
        may = holder in ANNS or holder == world.OPERATOR
        for word in (world.SECRETS[holder], world.TITLES[holder]):
            assert (word in everything) == may, (holder, word)
    assert any(path.startswith("/questions/") for path in pages)
    assert any(path.count("/") == 3 and path.startswith("/documents/") for path in pages)
    assert "hidden: you may not read this place".capitalize() in everything


async def test_the_operator_sees_everything(stand: Stand) -> None:
    async with stand.signed_in() as client:
        everything = "\n".join((await crawled(client)).values())
    for holder in world.HOLDERS:
        assert world.SECRETS[holder] in everything, holder


async def test_without_the_platforms_answer_texts_are_hidden_and_counts_shown(stand: Stand) -> None:
    stand.towns["slack", "T1"].silent.add("UA")
    async with stand.signed_in(ANN_IN_T1) as client:
        pages = await crawled(client)
        everything = "\n".join(pages.values())
        for holder in world.HOLDERS:
            assert world.SECRETS[holder] not in everything
            assert world.TITLES[holder] not in everything
        assert "The chat platform does not answer" in pages["/"]
        in_t1 = [
            name
            for name, place in world.PLACES.items()
            if (place.platform, place.workspace) == ("slack", "T1")
        ]
        questions = re.search(r"<dt>Questions</dt><dd>(\d+)</dd>", pages["/"])
        assert questions is not None
        assert int(questions[1]) == len(in_t1)


async def test_who_no_longer_administers_is_signed_out(stand: Stand) -> None:
    async with stand.signed_in(ANN_IN_T1) as client:
        assert (await client.get("/")).status_code == 200
        stand.towns["slack", "T1"].admins.clear()
        ended = await client.get("/questions")
        assert ended.status_code == 403
        assert "You no longer administer this workspace" in ended.text
        stand.towns["slack", "T1"].admins.add("UA")
        assert (await client.get("/")).status_code == 401


async def test_a_document_is_removed_after_a_question(stand: Stand) -> None:
    path = f"/documents/{stand.bases['public']}/{stand.documents['public']}"
    async with stand.signed_in(ANN_IN_T1) as client:
        asked = await client.get(f"{path}?remove=ask")
        assert "Remove this document?" in asked.text
        done = await client.post(
            path, data={"token": form_token(asked.text), "act": "remove"}, headers={"origin": stand.url}
        )
        assert done.status_code == 303
        shown = await client.get(done.headers["location"])
        assert "The document was removed." in shown.text
        assert world.TITLES["public"] not in shown.text
        assert (await client.get(path)).status_code == 404


async def test_channels_that_search_a_knowledge_base_are_named_to_those_who_may_know_them(
    stand: Stand,
) -> None:
    base = stand.bases["public"]
    for name in ("second_public", "private", "dm_of_ben", "second_workspace"):
        await stand.parts.places.bind(world.PLACES[name], base)
    async with stand.signed_in(ANN_IN_T1) as client:
        shown = " ".join((await client.get("/knowledge-bases")).text.split())
    assert "#bazaar, #cellar and 2 places that you may not know" in shown
    assert "It is a private channel: its members can." in shown
    assert "It is not searched where a guest reads along." in shown
    assert re.search(r"3 more, of places that you may not read, with 3 documents\.", shown)


async def test_a_knowledge_base_without_documents_is_shown_with_none(stand: Stand) -> None:
    audiences = stand.parts.audiences
    assert isinstance(audiences, Audiences)
    await audiences.create(world.PLACES["public"], "unfilled", everyone=False)
    async with stand.signed_in(ANN_IN_T1) as client:
        shown = await client.get("/knowledge-bases")
    assert shown.status_code == 200
    assert "<span>0 documents</span><span>0 passages</span>" in shown.text.partition("unfilled")[2]


async def test_an_answer_given_privately_is_its_askers_alone(stand: Stand) -> None:
    turn = await ask(stand, "public", "Is it a yellow walrus?", person=world.BEN, private=True)
    own = await ask(stand, "second_public", "Is it a purple walrus?", person=world.ANN, private=True)
    async with stand.signed_in(ANN_IN_T1) as client:
        listed = (await client.get("/questions")).text
        assert "yellow walrus" not in listed
        assert "purple walrus" in listed
        shown = (await client.get(f"/questions/{turn.id}")).text
        assert "yellow" not in shown
        assert world.SECRETS["public"] not in shown
        assert "purple walrus" in (await client.get(f"/questions/{own.id}")).text


async def test_a_person_who_leaves_a_channel_sees_its_texts_no_more(stand: Stand) -> None:
    path = f"/questions/{stand.turns['private'].id}"
    async with stand.signed_in(ANN_IN_T1) as client:
        assert world.SECRETS["private"] in (await client.get(path)).text
        stand.towns["slack", "T1"].inside["P1"].clear()
        assert world.SECRETS["private"] not in (await client.get(path)).text
        assert world.TITLES["private"] not in (await client.get("/documents")).text
        assert (await client.get(f"/documents/{stand.bases['private']}")).status_code == 403


async def test_a_search_says_nothing_about_questions_that_are_hidden(stand: Stand) -> None:
    """Neither by a page that lacks one, nor by another page after it."""
    turns = Turns(stand.parts.chat)
    for number in range(50):
        own = ChatTurn(
            place=world.PLACES["public"], message=f"own-{number}", person=world.ANN,
            question="Where is the heron?", asked_at=2e9 - number,
        )  # fmt: skip
        assert await turns.claim(own)
    async with stand.signed_in(ANN_IN_T1) as client:
        before = (await client.get("/questions", params={"text": "heron"})).text
        for at in (2e9 - 10.5, 1.9e9):
            hidden = ChatTurn(
                place=world.PLACES["dm_of_ben"], message=f"his-{at}", person=world.BEN,
                question="Where is the heron?", asked_at=at,
            )  # fmt: skip
            assert await turns.claim(hidden)
        after = (await client.get("/questions", params={"text": "heron"})).text
    assert before.count("Where is the heron?") == 50
    assert after == before


async def test_a_document_that_leaves_is_hidden_before_the_index_answers(stand: Stand) -> None:
    base, document = stand.bases["public"], stand.documents["public"]
    question = f"/questions/{stand.turns['public'].id}"
    async with stand.signed_in(ANN_IN_T1) as client:
        assert document in (await client.get(question)).text
        assert await stand.parts.catalog.unfinished.withdraw(base, DocumentId(document))
        assert document not in (await client.get(question)).text
        assert (await client.get(f"/documents/{base}/{document}")).status_code == 404


async def test_hidden_questions_are_not_listed_by_their_channel(stand: Stand) -> None:
    async with stand.signed_in(ANN_IN_T1) as client:
        for name, status in (("public", 200), ("dm_of_ben", 404)):
            place = world.PLACES[name]
            where = f"{place.platform}:{place.workspace}:{place.channel}"
            assert (await client.get("/questions", params={"in": where})).status_code == status, name
    async with stand.signed_in() as client:
        assert (await client.get("/questions", params={"in": where})).status_code == 200


async def test_a_document_that_often_misleads_is_named(stand: Stand) -> None:
    turn, document = stand.turns["public"], stand.documents["public"]
    assert {each.document for each in turn.citations} == {document}
    page = f"/documents/{stand.bases['public']}"
    turns = Turns(stand.parts.chat)
    async with stand.signed_in(ANN_IN_T1) as client:
        await turns.rate(turn, "UC", "up")
        for person in ("UA", "UB", "UE"):
            assert "often misleads" not in (await client.get(page)).text
            await turns.rate(turn, person, "down")
        for path in (page, f"{page}/{document}"):
            assert "often misleads" in (await client.get(path)).text
        other = f"/documents/{stand.bases['private']}"
        assert "often misleads" not in (await client.get(other)).text
        await turns.rate(turn, "UB", "up")
        assert "often misleads" not in (await client.get(page)).text
