"""Signing in: links that work once, sessions that end, tries that are limited, and who gets a link."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING

import httpx2
import pytest

from bot.settings import WebSettings
from bot.store.web_sessions import OPERATOR, Visitor, WebSessions
from bot.web.guard import TryLimit
from rag_engine.storage.sqlite.database import connect
from tests.databases import new_database
from tests.unit.bot.web.stand import ANN_IN_T1, Stand, empty_stand, form_token

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

pytestmark = pytest.mark.process


@pytest.fixture
async def bare(tmp_path: Path) -> AsyncGenerator[Stand]:
    async with empty_stand(tmp_path) as made:
        yield made


@pytest.fixture
async def sessions(tmp_path: Path) -> AsyncGenerator[tuple[WebSessions, list[float]]]:
    now = [1_000_000.0]
    async with connect(
        new_database(tmp_path / "chat.sqlite"), scripts=files("bot.store") / "sql"
    ) as database:
        yield WebSessions(database, clock=lambda: now[0]), now


async def test_a_link_is_looked_at_as_often_as_one_likes_and_signs_in_once(bare: Stand) -> None:
    link = await bare.parts.links.link(OPERATOR)
    async with bare.client() as client:
        for _ in range(2):  # a preview by the chat's server, then the person
            shown = await client.get(link)
            assert shown.status_code == 200
            assert "set-cookie" not in shown.headers
        done = await client.post(link, headers={"origin": bare.url})
        assert done.status_code == 303
        cookie = done.headers["set-cookie"]
        assert all(each in cookie for each in ("HttpOnly", "SameSite=strict", "Path=/"))
        assert (await client.get("/")).status_code == 200
    async with bare.client() as client:
        again = await client.post(link, headers={"origin": bare.url})
        assert again.status_code == 403
        assert "This link was used" in again.text
        assert (await client.get("/")).status_code == 401


async def test_behind_https_the_cookie_is_secure_and_only_its_host_is_served(tmp_path: Path) -> None:
    async with empty_stand(tmp_path, url="https://footnote.example.org") as stand:
        link = await stand.parts.links.link(OPERATOR)
        assert link.startswith("https://footnote.example.org/sign-in/")
        done = await _behind_proxy(stand, link)
        assert "__Host-footnote=" in done.headers["set-cookie"]
        assert "Secure" in done.headers["set-cookie"]
        assert "strict-transport-security" in done.headers


async def _behind_proxy(stand: Stand, link: str):

    path = link.removeprefix("https://footnote.example.org")
    headers = {"host": "footnote.example.org", "origin": "https://footnote.example.org"}
    async with httpx2.AsyncClient(base_url=stand.listens, headers=headers) as client:
        return await client.post(path)


async def test_signing_out_ends_the_session(bare: Stand) -> None:
    async with bare.signed_in() as client:
        token = form_token((await client.get("/")).text)
        cookie = dict(client.cookies)
        await client.post("/sign-out", data={"token": token}, headers={"origin": bare.url})
        assert (await client.get("/")).status_code == 401
        client.cookies.update(cookie)
        assert (await client.get("/")).status_code == 401


async def test_made_up_links_and_sessions_reach_no_table_and_keep_nobody_with_a_link_out(bare: Stand) -> None:
    link = await bare.parts.links.link(OPERATOR)
    async with bare.client() as client:
        async with bare.parts.chat.transaction() as transaction:
            for table in ("web_links", "web_sessions"):
                await transaction.execute(f"ALTER TABLE {table} RENAME TO {table}_away")
        for number in range(30):
            wrong = await client.post(f"/sign-in/{number:075}", headers={"origin": bare.url})
            assert (wrong.status_code, "This link was used" in wrong.text) == (403, True)
            forged = await client.get("/", headers={"cookie": f"footnote={number:075}"})
            assert forged.status_code == 401
        async with bare.parts.chat.transaction() as transaction:
            for table in ("web_links", "web_sessions"):
                await transaction.execute(f"ALTER TABLE {table}_away RENAME TO {table}")
        assert (await client.post(link, headers={"origin": bare.url})).status_code == 303


async def test_a_used_link_is_tried_ten_times_a_minute(bare: Stand) -> None:
    link = await bare.parts.links.link(OPERATOR)
    async with bare.client() as client:
        statuses = [(await client.post(link, headers={"origin": bare.url})).status_code for _ in range(13)]
    assert statuses == [303] + [403] * 10 + [429] * 2


async def test_a_link_is_valid_for_ten_minutes(sessions: tuple[WebSessions, list[float]]) -> None:
    store, now = sessions
    early, late = await store.link(ANN_IN_T1), await store.link(ANN_IN_T1)
    now[0] += 599
    assert await store.begin(early) is not None
    now[0] += 1
    assert await store.begin(late) is None


async def test_a_session_ends_when_it_is_idle_and_after_a_week(
    sessions: tuple[WebSessions, list[float]],
) -> None:
    store, now = sessions
    session = await store.begin(await store.link(ANN_IN_T1))
    assert session is not None
    for _ in range(20):
        now[0] += 7 * 3600
        assert await store.visitor(session) == ANN_IN_T1
    now[0] += 8 * 3600 + 1
    assert await store.visitor(session) is None
    other = await store.begin(await store.link(ANN_IN_T1))
    assert other is not None
    for _ in range(24):
        now[0] += 7 * 3600
        assert await store.visitor(other) == ANN_IN_T1
    now[0] += 1
    assert await store.visitor(other) is None


async def test_only_digests_are_stored(sessions: tuple[WebSessions, list[float]], tmp_path: Path) -> None:
    store, _ = sessions
    link = await store.link(ANN_IN_T1)
    session = await store.begin(await store.link(replace(ANN_IN_T1, name="Ann Again")))
    stored = await asyncio.to_thread(
        lambda: b"".join(path.read_bytes() for path in tmp_path.glob("chat.sqlite*"))
    )
    assert session is not None
    assert link.encode() not in stored
    assert session.encode() not in stored
    assert b"Ann Again" in stored


async def test_of_very_many_links_of_a_person_the_latest_work(
    sessions: tuple[WebSessions, list[float]],
) -> None:
    store, now = sessions
    links = []
    for _ in range(25):
        now[0] += 1
        links.append(await store.link(ANN_IN_T1))
    of_another = await store.link(Visitor(platform="slack", workspace="T1", person="UB"))
    assert [await store.begin(link) is not None for link in links] == [False] * 5 + [True] * 20
    assert await store.begin(of_another) is not None


def test_failures_are_counted_by_link_and_forgotten_after_a_minute() -> None:
    now = [0.0]
    limit = TryLimit(2, clock=lambda: now[0])
    for _ in range(2):
        assert limit.allows("a")
        limit.failed("a")
    assert not limit.allows("a")
    for number in range(100):
        limit.failed(str(number))
    assert limit.allows("b")
    now[0] = 60.0
    assert limit.allows("a")


def test_a_page_for_more_than_this_machine_needs_its_url() -> None:
    with pytest.raises(ValueError, match="URL must be set"):
        WebSettings(port=8080, host="192.0.2.1")
    assert (
        WebSettings(port=8080, host="192.0.2.1", url="https://a.example/").address(1) == "https://a.example"
    )
    assert WebSettings(port=8080, host="::1").address(8080) == "http://[::1]:8080"


@pytest.mark.parametrize(
    "url", ["ftp://a.example", "a.example", "https://a.example/page", "https://a.example?x"]
)
def test_a_url_that_is_no_address_of_a_page(url: str) -> None:
    with pytest.raises(ValueError, match="must"):
        WebSettings.model_validate({"url": url})


def test_prices_are_read_from_a_text() -> None:
    web = WebSettings.model_validate({"prices": "gpt-4.1-mini=0.40/1.60, org/model=1/2"})
    assert web.prices == {"gpt-4.1-mini": (0.4, 1.6), "org/model": (1.0, 2.0)}
    for wrong in ("gpt", "gpt=1", "gpt=a/b", "=1/2"):
        with pytest.raises(ValueError, match="prices"):
            WebSettings.model_validate({"prices": wrong})
