"""Views that change something: sources, verified answers, people's data; and those that only the operator has."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from bot.port import IncomingMessage, Person
from bot.settings import Settings
from bot.store.channel_sources import ChannelSources
from bot.store.channel_talk import ChannelTalk
from bot.store.expert_requests import ExpertRequest, ExpertRequests
from bot.store.turns import ChatTurn, Turns
from bot.web.views import settings as settings_view
from rag_engine.ingestion.verified_editor import VerifiedEditor
from rag_engine.metadata.verified_answer import Verifier
from tests.journeys.audience import world
from tests.journeys.audience.stage import attachment
from tests.unit.bot.web.stand import ANN_IN_T1, Stand, form_token, full_stand

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    import httpx2

    from rag_engine.metadata.verified_answer import VerifiedAnswer

pytestmark = [pytest.mark.process, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stand(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Stand]:
    async with full_stand(tmp_path_factory.mktemp("page")) as made:
        yield made


async def post(client: httpx2.AsyncClient, stand: Stand, path: str, **data: str) -> httpx2.Response:
    token = form_token((await client.get("/")).text)
    return await client.post(path, data={"token": token, **data}, headers={"origin": stand.url}, timeout=120)


async def verified(stand: Stand, holder: str) -> VerifiedAnswer:
    library = stand.parts.application.library
    editor = VerifiedEditor(ingestion=library.ingestion, catalog=library.catalog, review_days=1)
    await editor.save(
        question=f"Who has the key of {holder}?",
        answer=f"The keeper of {holder} has it.",
        knowledge_base=stand.bases[holder],
        author=Verifier(name="Ben"),
    )
    (found,) = await library.catalog.verified.read([stand.bases[holder]])
    return found


async def test_verified_answers_are_confirmed_and_revoked_by_who_may_read_them(stand: Stand) -> None:
    mine, hidden = await verified(stand, "public"), await verified(stand, "dm_of_ben")
    async with stand.signed_in(ANN_IN_T1) as client:
        shown = await client.get("/experts")
        assert "Who has the key of public?" in shown.text
        assert "dm_of_ben" not in shown.text
        assert (await client.get(f"/experts/{hidden.id}")).status_code == 404
        for act in ("confirm", "revoke"):
            assert (await post(client, stand, f"/experts/{hidden.id}", act=act)).status_code == 403
        assert "The keeper of public has it." in (await client.get(f"/experts/{mine.id}")).text
        done = await post(client, stand, f"/experts/{mine.id}", act="confirm")
        assert "is confirmed" in (await client.get(done.headers["location"])).text
        assert "Revoke this answer?" in (await client.get(f"/experts/{mine.id}?revoke=ask")).text
        done = await post(client, stand, f"/experts/{mine.id}", act="revoke")
        assert "is revoked" in (await client.get(done.headers["location"])).text
        assert (await client.get(f"/experts/{mine.id}")).status_code == 404
    assert await stand.parts.catalog.verified.find(hidden.id) is not None


async def test_questions_to_experts_are_shown_where_they_may_be_read(stand: Stand) -> None:
    requests = ExpertRequests(stand.parts.chat)
    for holder, said in (("public", "It is under the mat."), ("dm_of_ben", "It is in the oven.")):
        place = world.PLACES[holder]
        asked = ChatTurn(
            id=f"key-{holder}", place=place, message=f"key-{holder}", person=Person(id="UB", name="Ben")
        )
        assert await Turns(stand.parts.chat).claim(asked)
        await Turns(stand.parts.chat).save(replace(asked, state="final"))
        request = ExpertRequest(
            knowledge_base=stand.bases[holder],
            platform=place.platform,
            workspace=place.workspace,
            channel=place.channel,
            thread=place.thread,
            message="1.1",
            answer_id=asked.id,
            private=False,
            person="UB",
            name="Ben",
            language="en",
            question=f"Where is the key of {holder}?",
            body="",
            state="delivered",
            expert_channel="P1",
            said=said,
        )
        await requests.add(request)
        await requests.name_experts(stand.bases[holder], place, "P1", add=True)
        await requests.name_experts(stand.bases[holder], place, "DE", add=True)
    async with stand.signed_in(ANN_IN_T1) as client:
        shown = (await client.get("/experts")).text
        assert "Where is the key of public?" in shown
        assert "It is under the mat." in shown
        assert "to #cellar" in shown
        assert "(1 channel that you may not know)" in shown
        assert "dm_of_ben" not in shown
        assert "in the oven" not in shown
    async with stand.signed_in() as client:
        assert "It is in the oven." in (await client.get("/experts")).text


async def test_sources_are_read_and_removed(stand: Stand, tmp_path: Path) -> None:
    await asyncio.to_thread((tmp_path / "a.md").write_text, "The lamp is green.")
    store = stand.parts.sources
    mine = await store.add(
        stand.bases["public"], kind="folder", address=str(tmp_path), options={}, every_seconds=3600
    )
    hidden = await store.add(
        stand.bases["dm_of_ben"], kind="folder", address="/srv/secret", options={}, every_seconds=3600
    )
    async with stand.signed_in(ANN_IN_T1) as client:
        shown = (await client.get("/sources")).text
        assert "a folder of the operator" in shown
        assert str(tmp_path) not in shown
        assert "/srv/secret" not in shown
        assert (await client.get(f"/sources/{hidden.id}")).status_code == 403
        assert (await post(client, stand, f"/sources/{hidden.id}", act="remove")).status_code == 403
        done = await post(client, stand, f"/sources/{mine.id}", act="run")
        assert "read in a moment" in (await client.get(done.headers["location"])).text
        await stand.parts.application.sources.run_due()
        assert "1 new, 0 changed" in (await client.get("/sources")).text
        done = await post(client, stand, f"/sources/{mine.id}", act="remove")
        shown = (await client.get(done.headers["location"])).text
        assert "is being removed" in shown
        assert f"/sources/{mine.id}" not in shown
    async with stand.signed_in() as client:
        assert "/srv/secret" in (await client.get("/sources")).text


async def test_channels_are_sources_that_are_shown_to_who_reads_them(stand: Stand) -> None:
    sources, talk = ChannelSources(stand.parts.chat), ChannelTalk(stand.parts.chat)
    for name in ("public", "private", "second_workspace"):
        source = await sources.add(stand.bases[name], world.PLACES[name].parent, name=name, asked="1")
        assert source is not None
        said = IncomingMessage(id="9.0", place=world.PLACES[name], person=world.ANN, text="Look", at=1e9,
                               attachments=(attachment("film.mp4", "no film"),), uri=f"https://chat.test/{name}")  # fmt: skip
        await talk.put(source, said, edited=False)
        async with stand.parts.chat.transaction() as transaction:
            await transaction.execute("UPDATE channel_files SET state = 'unreadable'")
    async with stand.signed_in(ANN_IN_T1) as client:
        shown = (await client.get("/sources")).text
        assert shown.count("2001-09-09 01:46") == 2
        assert "#atrium" in shown
        assert "#cellar" in shown
        assert "embassy" not in shown
        assert shown.count('<td class="right">1</td>') == 4, "a message and a file of each"
    admins = stand.towns["slack", "T1"].admins
    admins.add("UB")
    async with stand.signed_in(replace(ANN_IN_T1, person="UB", name="Ben")) as client:
        shown = (await client.get("/sources")).text
        assert "#cellar" not in shown
        assert "#atrium" in shown
    admins.discard("UB")
    async with stand.signed_in() as client:
        assert (await client.get("/sources")).text.count("2001-09-09 01:46") == 3


async def test_the_operator_looks_up_a_person_and_forgets_them(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(stand.parts.application.settings.data_dir))
    monkeypatch.setenv("FOOTNOTE_EMBEDDER__KIND", "hashing")
    async with stand.signed_in() as client:
        unknown = await post(client, stand, "/people", act="preview", kind="person", who="slack:NOBODY")
        assert unknown.status_code == 400
        assert "Nothing is stored of a person" in unknown.text
        for who in ("", "--files", "  "):
            assert (
                await post(client, stand, "/people", act="preview", kind="person", who=who)
            ).status_code == 400
        found = await post(client, stand, "/people", act="preview", kind="person", who="slack:UX")
        assert "What is stored of the person" in found.text
        assert "questions" in found.text
        listed = await client.get("/questions")
        assert stand.turns["dm_of_xan"].id in listed.text
        gone = await post(client, stand, "/people", act="forget", kind="person", who="slack:UX")
        assert "Forgotten" in gone.text
        assert stand.turns["dm_of_xan"].id not in (await client.get("/questions")).text
        assert (await client.get(f"/questions/{stand.turns['dm_of_xan'].id}")).status_code == 404
    async with stand.signed_in(ANN_IN_T1) as client:
        assert (await client.get("/people")).status_code == 404
        assert (
            await post(client, stand, "/people", act="preview", kind="person", who="UB")
        ).status_code == 404


async def test_settings_are_shown_without_secrets(stand: Stand) -> None:
    async with stand.signed_in() as client:
        own = (await client.get("/settings")).text.replace("<wbr>", "")
        everything = (await client.get("/settings?all=yes")).text.replace("<wbr>", "")
    assert "FOOTNOTE_ACCESS__ADD" in own
    assert "FOOTNOTE_CHAT__ANSWERS" not in own
    assert "FOOTNOTE_CHAT__ANSWERS" in everything


async def test_no_kind_of_secret_is_among_the_shown_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "OPENAI_API_KEY": "sk-quibberly1",
        "OPENAI_BASE_URL": "https://user:quibberly2@models.example/v1?key=quibberly3",
        "ELASTICSEARCH_URL": "https://elastic:quibberly4@one:9200,https://elastic:quibberly5@two:9200",
        "ELASTICSEARCH_API_KEY": "quibberly6",
        "SLACK_BOT_TOKEN": "xoxb-quibberly7",
        "SLACK_APP_TOKEN": "xapp-quibberly8",
        "DISCORD_TOKEN": "quibberly9",
        "FOOTNOTE_MODEL__API_KEY": "quibberly10",
        "FOOTNOTE_MODEL__FALLBACKS__1__API_KEY": "quibberly11",
        "FOOTNOTE_MODEL__NAME": "gpt-shown",
        "FOOTNOTE_TASKS__SUMMARY__API_KEY": "quibberly12",
        "FOOTNOTE_TASKS__SUMMARY__BASE_URL": "https://u:quibberly13@host/v1",
        "FOOTNOTE_TOOLS__HTTP__WEATHER__URL": "https://weather.example/?token=quibberly14",
        "FOOTNOTE_TOOLS__HTTP__WEATHER__DESCRIPTION": "Weather",
        "FOOTNOTE_TOOLS__HTTP__WEATHER__HEADERS": '{"Authorization": "Bearer quibberly15"}',
        "FOOTNOTE_WEB_SEARCH__KIND": "brave",
        "FOOTNOTE_WEB_SEARCH__API_KEY": "quibberly16",
        "FOOTNOTE_EMBEDDER__HEADERS": "quibberly17",
    }.items():
        monkeypatch.setenv(name, value)
    rows = list(settings_view._rows(Settings(), "FOOTNOTE_"))
    text = "\n".join(f"{name} = {value}" for name, value, _ in rows)
    assert "quibberly" not in text
    assert "gpt-shown" in text
    assert "https://one:9200,https://two:9200" in text
    assert "OPENAI_API_KEY = set" in text


async def test_a_page_left_open_over_an_upgrade_says_one_sentence(stand: Stand) -> None:
    """A form of before, a view that is gone, a session of before."""
    async with stand.signed_in(ANN_IN_T1) as client:
        old = await client.post("/documents", data={"csrf": "of before"}, headers={"origin": stand.url})
        assert "This form is out of date: open the page again and repeat it." in old.text
        gone = await client.get("/view-of-before/7")
        assert gone.status_code == 404
        assert "There is nothing here." in gone.text
        unknown = await post(client, stand, f"/documents/{stand.bases['public']}/x", act="act of before")
        assert unknown.status_code == 404
        async with stand.parts.chat.transaction() as transaction:
            await transaction.execute("DELETE FROM web_sessions")
        ended = await client.get("/questions")
        assert ended.status_code == 401
        assert "You are not signed in, or too much time has passed." in ended.text


async def test_health_names_what_does_not_work(stand: Stand) -> None:
    stand.health.record("index", ready=False, detail="The index does not answer.")
    stand.health.record("discord", ready=True, detail="Connected.")
    try:
        async with stand.signed_in(ANN_IN_T1) as client:
            shown = (await client.get("/health")).text
            assert "The index does not answer." in shown
            assert "Data directory" not in shown
        async with stand.signed_in() as client:
            assert "chat.sqlite" in (await client.get("/health")).text
    finally:
        stand.health.record("index", ready=True, detail="It answers.")
