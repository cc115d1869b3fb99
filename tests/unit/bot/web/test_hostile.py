"""Hostile requests over a real socket: each is refused or inert. They are counted at the end."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from lxml import html

from bot.port import Person
from bot.store.web_sessions import OPERATOR, Visitor
from bot.web.registry import views
from rag_engine.ingestion.blobs import blob_from_path
from tests.journeys.audience import world
from tests.unit.bot.web.stand import ANN_IN_T1, Stand, ask, form_token, full_stand

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    import httpx2

pytestmark = [pytest.mark.process, pytest.mark.asyncio(loop_scope="module")]

SCRIPT = "<script>alert(1)</script>"
XSS = (
    SCRIPT,
    '"><img src=x onerror=alert(1)>',
    "'onmouseover='alert(1)",
    "{{7*7}}{% for x in ().__class__.__base__.__subclasses__() %}x{% endfor %}",
    "</textarea></title><svg/onload=alert(1)>",
    "javascript:alert(1)",
    "\u202e<b>gpj.exe",
    "&lt;script&gt;",
)
IDS = (
    "../../etc/passwd",
    "..%2f..%2fetc%2fpasswd",
    "%2e%2e/%2e%2e/bot.env",
    "' OR 1=1 --",
    "%00",
    "a" * 3_000,
    SCRIPT,
)
SENT: set[tuple[str, str]] = set()
"""The kinds of requests that were sent."""


def count(kind: str, what: object) -> None:
    SENT.add((kind, repr(what)))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stand(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Stand]:
    async with full_stand(tmp_path_factory.mktemp("page")) as made:
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def ann(stand: Stand) -> AsyncGenerator[httpx2.AsyncClient]:
    async with stand.signed_in(ANN_IN_T1) as client:
        yield client


def is_inert(response: httpx2.Response) -> None:
    """No script, no handler, nothing from elsewhere; and the headers that would stop them."""
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "unsafe" not in policy
    assert response.headers["x-frame-options"] == "DENY"
    assert response.headers["referrer-policy"] == "same-origin"
    if not response.headers["content-type"].startswith("text/html"):
        return
    page = html.fromstring(response.text)
    assert not page.xpath("//script | //iframe | //object | //embed | //style | //base | //meta[@http-equiv]")
    assert not page.xpath("//@style | //@*[starts-with(name(), 'on')]")
    for address in page.xpath("//@href | //@src | //@action | //@formaction"):
        assert address.startswith(("/", "#", "https://", "http://")), address
    for address in page.xpath("//@src | //link/@href | //@action"):
        assert address.startswith("/"), address
    assert "49" not in page.xpath("string(//h1)")


async def test_without_a_session_nothing_is_shown(stand: Stand) -> None:
    cookies = ("", "x", "0" * 64, "footnote", '" OR 1=1', "a" * 4_000, "é".encode().decode("latin-1"))
    async with stand.client() as client:
        for path in [f"/{each}" for each in views()]:
            shown = await client.get(path)
            count("no session", path)
            assert shown.status_code == 401
            assert not any(secret in shown.text for secret in world.SECRETS.values())
        for cookie in cookies:
            shown = await client.get("/", headers={"cookie": f"footnote={cookie}".encode("latin-1")})
            count("forged session", cookie)
            assert shown.status_code == 401
        for number, cookie in enumerate(cookies):
            done = await client.post(
                f"/documents/{stand.bases['public']}/{stand.documents['public']}",
                data={"act": "remove", "token": "x"},
                headers={"cookie": f"footnote={cookie}".encode("latin-1"), "origin": stand.url},
            )
            count("forged session changes", number)
            assert done.status_code == 401


async def test_forms_of_other_sites_change_nothing(stand: Stand, ann: httpx2.AsyncClient) -> None:
    path = f"/documents/{stand.bases['public']}/{stand.documents['public']}"
    token = form_token((await ann.get(path)).text)
    async with stand.signed_in(ANN_IN_T1) as other:
        other_token = form_token((await other.get(path)).text)
    cases: list[tuple[dict[str, str], dict[str, str]]] = [
        ({"act": "remove", "token": token}, {}),
        ({"act": "remove", "token": token}, {"origin": "https://evil.example"}),
        ({"act": "remove", "token": token}, {"origin": "null"}),
        ({"act": "remove", "token": token}, {"origin": f"{stand.url}.evil.example"}),
        ({"act": "remove", "token": token}, {"origin": stand.url.replace("http://", "https://")}),
        ({"act": "remove", "token": token}, {"sec-fetch-site": "cross-site"}),
        ({"act": "remove", "token": token}, {"sec-fetch-site": "same-site"}),
        ({"act": "remove"}, {"origin": stand.url}),
        ({"act": "remove", "token": ""}, {"origin": stand.url}),
        ({"act": "remove", "token": token[:-1]}, {"origin": stand.url}),
        ({"act": "remove", "token": token[::-1]}, {"origin": stand.url}),
        ({"act": "remove", "token": "é" * 64}, {"origin": stand.url}),
        ({"act": "remove", "token": other_token}, {"origin": stand.url}),
    ]
    for data, headers in cases:
        done = await ann.post(path, data=data, headers=headers)
        count("form of another site", (data, headers))
        assert done.status_code == 403, (data, headers)
        assert "This form is out of date: open the page again and repeat it." in done.text
    for body, kind in (
        (b'{"act": "remove"}', "application/json"),
        (b"act=remove", "text/plain"),
        (b"act=remove&token=" + token.encode(), "multipart/form-data; boundary=x"),
        (b"a=1&" * 100, "application/x-www-form-urlencoded"),
        (b"a=" + b"b" * 70_000, "application/x-www-form-urlencoded"),
        (b"a=\xff\xfe", "application/x-www-form-urlencoded"),
    ):
        done = await ann.post(path, content=body, headers={"content-type": kind, "origin": stand.url})
        count("odd form", kind + str(len(body)))
        assert done.status_code in (400, 403), (kind, done.text)
    for method in ("PUT", "DELETE", "PATCH", "TRACE", "OPTIONS"):
        done = await ann.request(method, path)
        count("method", method)
        assert done.status_code == 405
    assert (await ann.get(path)).status_code == 200


async def test_what_belongs_to_others_is_not_there(stand: Stand, ann: httpx2.AsyncClient) -> None:
    token = form_token((await ann.get("/")).text)
    others = ("second_workspace", "second_platform", "dm_on_discord")
    hidden = ("dm_of_ben", "dm_of_eve", "dm_of_xan")
    for holder in (*others, *hidden):
        base, document, turn = stand.bases[holder], stand.documents[holder], stand.turns[holder].id
        paths = (f"/documents/{base}", f"/documents/{base}/{document}", f"/questions/{turn}")
        for path in (*paths, f"/documents/{stand.bases['public']}/{document}"):
            shown = await ann.get(path)
            count("of another", path)
            is_inert(shown)
            assert shown.status_code in ((404,) if holder in others else (200, 403, 404))
            assert world.SECRETS[holder] not in shown.text
            assert world.TITLES[holder] not in shown.text
        for path in (f"/documents/{base}/{document}", f"/documents/{stand.bases['public']}/{document}"):
            for act in ("remove", "again"):
                done = await ann.post(path, data={"token": token, "act": act}, headers={"origin": stand.url})
                count("changes of another", (path, act))
                assert done.status_code in (403, 404)
        assert await stand.parts.catalog.find_by_id(document) is not None
    for query in ("in=slack:T2:C1", "in=discord:T1:C1", "in=slack:T1:DB", "text=gravendi", "text=kestrumo"):
        shown = await ann.get(f"/questions?{query}")
        count("filter", query)
        for holder in (*others, *hidden):
            assert world.SECRETS[holder] not in shown.text.replace(f'value="{world.SECRETS[holder]}"', "")


async def test_the_operators_documents_are_not_an_administrators_to_change(
    stand: Stand, ann: httpx2.AsyncClient
) -> None:
    path = f"/documents/{stand.bases[world.OPERATOR]}/{stand.documents[world.OPERATOR]}"
    shown = await ann.get(path)
    assert shown.status_code == 200
    assert "Remove" not in shown.text
    token = form_token(shown.text)
    for act in ("remove", "again", "", "drop"):
        done = await ann.post(path, data={"token": token, "act": act}, headers={"origin": stand.url})
        count("the operator's", act)
        assert done.status_code == 403
        assert "only the operator changes it" in done.text


async def test_only_the_operator_has_the_operators_views(stand: Stand, ann: httpx2.AsyncClient) -> None:
    for view in views().values():
        if view.operator_only:
            count("operator's view", view.path)
            assert (await ann.get(f"/{view.path}")).status_code == 404
            token = form_token((await ann.get("/")).text)
            done = await ann.post(f"/{view.path}", data={"token": token}, headers={"origin": stand.url})
            assert done.status_code == 404


async def test_ids_and_paths_lead_nowhere_else(stand: Stand, ann: httpx2.AsyncClient) -> None:
    patterns = ("/documents/{}", "/documents/x/{}", "/questions/{}", "/static/{}", "/{}", "/sign-in/{}/more")
    for pattern in patterns:
        for identity in IDS:
            path = pattern.format(identity.replace("'", "%27").replace(" ", "%20").replace("<", "%3C"))
            shown = await ann.get(path)
            count("path", path)
            is_inert(shown)
            assert shown.status_code in (400, 404), path
            assert "root:" not in shown.text


async def test_parameters_of_any_kind_are_harmless(stand: Stand, ann: httpx2.AsyncClient) -> None:
    names = ("outcome", "text", "in", "before", "days", "state", "after", "id", "start", "said", "remove")
    values = (*XSS, "-1", "9" * 50, "1e308", "nan~x", "0x10", "٣", "\r\nset-cookie: a=b", "\x00", "a" * 3_000)
    pages = ("/", "/questions", f"/documents/{stand.bases['public']}", f"/documents/{stand.bases['public']}/{stand.documents['public']}")  # fmt: skip
    for name in names:
        for value in values:
            for path in pages if name in ("said", "text") else pages[1:]:
                shown = await ann.get(path, params={name: value})
                count("parameter", (name, value))
                is_inert(shown)
                assert shown.status_code in (200, 400), (path, name, value)
                assert "set-cookie" not in shown.headers
    assert (await ann.get("/?" + "&".join(f"a{n}=1" for n in range(2_000)))).status_code == 400
    assert (await ann.get("/questions?said=removed&said=constructor")).status_code == 200


async def test_other_hosts_and_split_headers_are_refused(stand: Stand) -> None:
    port = stand.url.rpartition(":")[2]
    hosts = ("evil.example", f"evil.example:{port}", "", f"127.0.0.1:{port}.evil.example", "169.254.169.254", f"user@127.0.0.1:{port}")  # fmt: skip
    async with stand.client() as client:
        for host in hosts:
            shown = await client.get("/", headers={"host": host})
            count("host", host)
            assert shown.status_code == 400
            assert "evil" not in shown.text
    for raw in (
        f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nHost: evil.example\r\n\r\n",
        f"GET /%0d%0aset-cookie:%20a=b HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n",
        "GET / HTTP/1.1\r\nConnection: close\r\n\r\n",
        f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX: {'a' * 40_000}\r\n\r\n",
        "GARBAGE\r\n\r\n",
        f"POST / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /",
    ):
        answer = await _raw(int(port), raw)
        count("raw", raw[:80])
        head = answer.partition(b"\r\n\r\n")[0].lower()
        assert re.match(rb"http/1.1 (4\d\d|303) ", head), answer[:200]
        assert b"set-cookie" not in head


async def _raw(port: int, request: str) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(request.encode())
        async with asyncio.timeout(10):
            return await reader.read(4_000)
    finally:
        writer.close()


async def test_what_people_write_is_text(stand: Stand) -> None:
    """File names, questions, names of people, quotes, labels of knowledge bases and channels."""
    folder = stand.parts.application.settings.data_dir
    library = stand.parts.application.library
    for number, attack in enumerate(XSS):
        path = folder / f"{number}.md"
        await asyncio.to_thread(path.write_text, f"# {attack}\n\nThe launch code is {attack} {number}.\n")
        blob = await blob_from_path(path)
        name = attack.replace("/", "_")
        made = type(blob)(**{**{each: getattr(blob, each) for each in blob.__slots__}, "name": f"{name}.md"})
        await library.ingestion.ingest(made, knowledge_base=stand.bases["public"])
        asker = Person(id=f"U{number}", name=attack)
        turn = await ask(stand, "public", f"What is the launch code {attack}?", person=asker)
        stand.turns[f"attack {number}"] = turn
    stand.towns["slack", "T1"].add("C1", "public", "UA", name=SCRIPT)
    visitor = Visitor(platform="slack", workspace="T1", person="UA", name=SCRIPT)
    for who in (OPERATOR, visitor):
        async with stand.signed_in(who) as client:
            found: set[str] = set()
            waiting = ["/"]
            while waiting:
                path = waiting.pop()
                if path not in found and len(found) < 200:
                    found.add(path)
                    shown = await client.get(path)
                    count("written", (who.person, path))
                    assert shown.status_code == 200, path
                    is_inert(shown)
                    waiting += [link for link in html.fromstring(shown.text).xpath("//a/@href") if link.startswith("/")]  # fmt: skip
            shown = await client.get("/questions")
            assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown.text
            assert SCRIPT not in shown.text


async def test_a_replayed_session_ends_with_its_owner(stand: Stand) -> None:
    async with stand.signed_in(ANN_IN_T1) as client:
        stolen = dict(client.cookies)
        await stand.parts.links.sessions.end_all()
        assert (await client.get("/")).status_code == 401
    async with stand.client() as client:
        client.cookies.update(stolen)
        count("replayed session", "")
        assert (await client.get("/questions")).status_code == 401


async def test_enough_was_sent() -> None:
    kinds = {kind for kind, _ in SENT}
    if len(kinds) < 10:
        pytest.skip("the other tests of this file did not run")
    assert len(SENT) >= 60, len(SENT)
