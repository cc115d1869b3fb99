"""Programs that ask: keys, `footnote serve` and `footnote mcp` as processes, by the official clients."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import socket
import sys
from typing import TYPE_CHECKING

import openai
import pytest
from mcp import Client, StdioServerParameters

from tests.conftest import PROJECT
from tests.doubles.commands import COMMAND
from tests.journeys.conftest import environment

if TYPE_CHECKING:
    from pathlib import Path

    from tests.journeys.conftest import Footnote

QUESTION = "How many days of leave does everybody have?"


@pytest.fixture
async def handbook(footnote: Footnote, tmp_path: Path) -> None:
    (tmp_path / "leave.md").write_text("Everybody has 28 days of leave a year.", encoding="utf-8")
    assert (await footnote("add", "leave.md", "--kb", "handbook")).code == 0


def _settings(tmp_path: Path) -> dict[str, str]:
    return environment(
        tmp_path,
        PYTHONPATH=str(PROJECT),
        FOOTNOTE_DATA_DIR=str(tmp_path / "data"),
        FOOTNOTE_EMBEDDER__KIND="hashing",
    )


@pytest.mark.usefixtures("handbook")
async def test_keys_are_made_listed_and_revoked(footnote: Footnote) -> None:
    assert "no keys" in (await footnote("keys", "list")).out
    made = await footnote("keys", "create", "wiki", "--kb", "handbook")
    assert re.fullmatch(r"fn-[\w-]{43}\n", made.out)
    again = await footnote("keys", "create", "wiki", "--kb", "handbook")
    assert (again.code, "already" in again.err) == (1, True)
    assert (await footnote("keys", "create", "other", "--kb", "nothing")).code == 1
    assert (await footnote("keys", "create", "other")).code == 2
    listed = json.loads((await footnote("keys", "list", "--json")).out)
    assert [(key["name"], key["knowledge_bases"]) for key in listed] == [("wiki", ["handbook"])]
    assert (await footnote("keys", "revoke", "wiki")).code == 0
    assert (await footnote("keys", "revoke", "wiki")).code == 1


@pytest.mark.usefixtures("handbook")
async def test_a_program_asks_over_http(footnote: Footnote, tmp_path: Path) -> None:
    key = (await footnote("keys", "create", "wiki", "--kb", "handbook")).out.strip()
    process = await asyncio.create_subprocess_exec(
        *COMMAND, "serve", "--port", "0", env=_settings(tmp_path), cwd=tmp_path, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    async with asyncio.timeout(60):
        line = (await process.stdout.readline()).decode()
    url = line.split()[1]
    client = openai.AsyncOpenAI(base_url=url, api_key=key, max_retries=0, timeout=60)
    answer = await client.chat.completions.create(
        model="footnote", messages=[{"role": "user", "content": QUESTION}]
    )
    await client.close()
    assert "28 days" in (answer.choices[0].message.content or "")
    process.send_signal(signal.SIGTERM)
    async with asyncio.timeout(30):
        _, log = await process.communicate()
    assert key.encode() not in log
    assert b"28 days" not in log
    assert b"Traceback" not in log


async def test_a_port_in_use_is_said(footnote: Footnote) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        refused = await footnote("serve", "--port", port)
    assert refused.code == 78
    assert f"--port {port}" in refused.err
    assert "Traceback" not in refused.err


@pytest.mark.usefixtures("handbook")
async def test_a_program_asks_over_standard_input(tmp_path: Path) -> None:
    parameters = StdioServerParameters(
        command=sys.executable,
        args=[*COMMAND[1:], "mcp", "--kb", "handbook"],
        env=_settings(tmp_path),
        cwd=tmp_path,
    )
    async with asyncio.timeout(90), Client(parameters) as client:
        found = await client.call_tool("ask", {"question": QUESTION})
        assert "28 days" in found.structured_content["answer"]
        assert (await client.call_tool("list", {})).structured_content["documents"][0]["title"] == "leave.md"
