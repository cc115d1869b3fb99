"""Every view in headless Chromium: on a phone and on a desk, in both colour schemes, by keyboard, and under axe-core."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
import pytest_asyncio

from bot.store.web_sessions import OPERATOR
from bot.web.registry import views
from tests.doubles import chromium
from tests.unit.bot.web.stand import Stand, full_stand
from tests.unit.bot.web.test_gaps import add_gaps, rate_all_down

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

pytestmark = [
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(chromium.PROGRAM is None, reason="Chromium is not installed"),
]

SIZES = ((360, 740), (1200, 800))
_SERIOUS = ("serious", "critical")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stand(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Stand]:
    async with full_stand(tmp_path_factory.mktemp("page"), prices="gpt=1/2") as made:
        await add_gaps(made)
        await rate_all_down(made)
        async with made.parts.chat.transaction() as transaction:
            await transaction.execute(
                "INSERT INTO model_days VALUES (CAST(unixepoch() / 86400 AS INTEGER), 'slack', 'T1', 'gpt', 1, 2, 3)"
            )
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tab(stand: Stand) -> AsyncGenerator[chromium.Tab]:
    async with chromium.opened() as opened:
        await opened.open(await stand.parts.links.link(OPERATOR))
        # A key that comes before the button has the focus would be lost.
        await opened.until("document.activeElement.tagName", "BUTTON")
        await opened.press("Enter", 13)
        await opened.until("location.pathname + document.readyState", "/complete")
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The script of axe-core; empty where npm cannot install it."""
    return await chromium.axe(tmp_path_factory.getbasetemp() / "axe")


def pages(stand: Stand) -> list[str]:
    base, document = stand.bases["public"], stand.documents["public"]
    return [
        *(f"/{path}" for path in views()),
        "/?days=91",
        f"/questions/{stand.turns['public'].id}",
        f"/documents/{base}",
        f"/documents/{base}/{document}",
        f"/documents/{base}/{document}?remove=ask",
        "/settings?all=yes",
        "/no-such-page",
    ]


@pytest.mark.parametrize(("width", "height"), SIZES)
async def test_nothing_is_cut_off_blocked_or_hard_to_read(
    stand: Stand, tab: chromium.Tab, axe: str, width: int, height: int
) -> None:
    found: list[tuple[str, str, Any]] = []
    for path in pages(stand):
        await tab.look(width, height, dark=False)
        await tab.open(stand.url + path)
        for dark in (False, True):
            await tab.look(width, height, dark=dark)
            assert await tab.evaluate("document.documentElement.scrollWidth") <= width, path
            styled = await tab.evaluate("getComputedStyle(document.body).backgroundColor")
            assert styled == ("rgb(20, 23, 26)" if dark else "rgb(251, 251, 250)"), path
        blocked = [each for each in tab.events if each["method"] == "Log.entryAdded"]
        assert not [each for each in blocked if "404" not in json.dumps(each)], (path, blocked)
        asked = [each["params"]["request"]["url"] for each in tab.events if each["method"] == "Network.requestWillBeSent"]  # fmt: skip
        assert all(url.startswith((stand.url, "data:")) for url in asked), asked
        if not axe:
            continue
        await tab.evaluate(axe + ";0")
        for dark, rules in ((True, ["color-contrast"]), (False, None)):  # only colours differ by scheme
            await tab.look(width, height, dark=dark)
            found += [(path, *each) for each in await serious(tab, rules)]
    assert not found, json.dumps(found, indent=1)
    if not axe:
        pytest.skip("npm cannot install axe-core here")


async def serious(tab: chromium.Tab, rules: list[str] | None) -> list[tuple[str, Any]]:
    """What axe-core finds on the page by these rules, or by all."""
    options = {"resultTypes": ["violations"], "preload": False} | ({"runOnly": rules} if rules else {})
    run = f"axe.run({json.dumps(options)}).then(done => JSON.stringify(done.violations))"
    return [
        (each["id"], [node["html"][:200] for node in each["nodes"]][:3])
        for each in json.loads(await tab.evaluate(run))
        if each["impact"] in _SERIOUS
    ]


async def test_axe_finds_what_is_hard_to_read(tab: chromium.Tab, axe: str) -> None:
    """Else the test above could not fail."""
    if not axe:
        pytest.skip("npm cannot install axe-core here")
    grey = "<p style='color:#999;background:#aaa'>faint</p><img src='data:,'>"
    await tab.open("data:text/html," + quote(f"<html lang=en><title>x</title><main>{grey}</main>"))
    await tab.evaluate(axe + ";0")
    assert [name for name, _ in await serious(tab, ["color-contrast"])] == ["color-contrast"]
    assert {"color-contrast", "image-alt"} <= {name for name, _ in await serious(tab, None)}


async def test_by_keyboard_one_skips_to_the_content_and_reaches_every_view(
    stand: Stand, tab: chromium.Tab
) -> None:
    await tab.look(1200, 800, dark=False)
    await tab.open(stand.url + "/questions")
    await tab.press("Tab", 9)
    assert await tab.evaluate("document.activeElement.textContent") == "Skip to the content"
    assert await tab.evaluate("document.activeElement.getBoundingClientRect().left") >= 0
    reached: list[str] = []
    for _ in range(len(views()) + 3):
        await tab.press("Tab", 9)
        reached.append(await tab.evaluate("document.activeElement.getAttribute('href') || ''"))
        outline = await tab.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", reached
    assert {f"/{path}" for path in views()} <= set(reached)


async def test_signing_in_and_removing_need_no_script(stand: Stand, tab: chromium.Tab) -> None:
    await tab.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        path = f"/documents/{stand.bases['second_public']}/{stand.documents['second_public']}"
        await tab.open(f"{stand.url}{path}?remove=ask")
    finally:
        await tab.call("Emulation.setScriptExecutionDisabled", value=False)
    assert await tab.evaluate("document.scripts.length") == 0
    tab.events.clear()
    await tab.evaluate("document.querySelector('button.danger').click()")
    await tab.until("document.readyState + location.search", "complete?said=removed")
    assert "The document was removed." in await tab.evaluate("document.body.innerText")
