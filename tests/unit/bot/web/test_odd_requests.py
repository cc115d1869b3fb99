"""Requests that no browser sends: cut off, of an unusual method, with letters that no form has."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from bot.web.views import health
from tests.unit.bot.web.stand import ANN_IN_T1, Stand, empty_stand, form_token

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

pytestmark = pytest.mark.process


@pytest.fixture
async def bare(tmp_path: Path) -> AsyncGenerator[Stand]:
    async with empty_stand(tmp_path) as made:
        yield made


@pytest.mark.parametrize("path", ["/gaps", "/sign-out"])
async def test_a_form_that_breaks_off_is_no_bug(
    bare: Stand, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with bare.signed_in() as client:
        cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
        address = urlsplit(bare.url)
        head = (
            f"POST {path} HTTP/1.1\r\nhost: {address.netloc}\r\ncookie: {cookies}\r\n"
            "content-type: application/x-www-form-urlencoded\r\ncontent-length: 100\r\n\r\ntoken="
        )
        for _ in range(5):
            _, writer = await asyncio.open_connection(address.hostname, address.port)
            writer.write(head.encode())
            await writer.drain()
            await asyncio.sleep(0.05)
            writer.close()
            await writer.wait_closed()
        await asyncio.sleep(0.2)
        assert (await client.get("/")).status_code == 200
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


async def test_looking_at_a_link_without_its_text_does_not_use_it(bare: Stand) -> None:
    async with bare.client() as client:
        link = await bare.parts.links.link(ANN_IN_T1)
        looked = await client.head(link, headers={"origin": bare.url})
        assert looked.status_code == 200
        assert "set-cookie" not in looked.headers
        assert (await client.post(link, headers={"origin": bare.url})).status_code == 303


async def test_a_zero_byte_in_a_name_is_refused_in_a_sentence(bare: Stand) -> None:
    async with bare.signed_in() as client:
        token = form_token((await client.get("/people")).text)
        form = {"token": token, "act": "preview", "kind": "person", "who": "U\0A"}
        shown = await client.post("/people", data=form, headers={"origin": bare.url})
    assert shown.status_code == 400
    assert "This form cannot be read." in shown.text


def test_a_file_that_goes_meanwhile_has_no_size(tmp_path: Path) -> None:
    (tmp_path / "here").write_bytes(b"12")
    (tmp_path / "gone").symlink_to(tmp_path / "nothing")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "gone").symlink_to(tmp_path / "nothing")
    (tmp_path / "folder" / "here").write_bytes(b"123")
    assert health.sizes(tmp_path) == [("folder", 3), ("here", 2)]
