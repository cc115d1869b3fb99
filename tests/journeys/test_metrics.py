"""`footnote run` shows its counters where the settings say, and nowhere else; and its keys nowhere."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from typing import TYPE_CHECKING

import pytest

from tests.conftest import PROJECT
from tests.doubles.fetching import fetch
from tests.journeys.conftest import environment

if TYPE_CHECKING:
    from pathlib import Path

    from tests.journeys.conftest import Footnote


async def test_run_counts_what_it_asks_the_index(footnote: Footnote, tmp_path: Path) -> None:
    (tmp_path / "leave.md").write_text("# Leave\n\nThe leave is 28 days.\n", encoding="utf-8")
    assert (await footnote("add", "leave.md")).code == 0
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", "run"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=tmp_path,
        env=environment(
            tmp_path,
            PYTHONPATH=str(PROJECT),
            FOOTNOTE_DATA_DIR=str(tmp_path / "data"),
            FOOTNOTE_EMBEDDER__KIND="hashing",
            FOOTNOTE_METRICS__PORT="0",
        ),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    async with asyncio.timeout(60):
        started = json.loads(await process.stderr.readline())
        assert started["event"] == "metrics"
        assert json.loads(await process.stderr.readline())["event"] == "ready"
        process.stdin.write(b"How many days is the leave?\n")
        while b"28 days" not in await process.stdout.readline():
            continue
        text = await asyncio.to_thread(fetch, started["url"])
        assert 'footnote_index_operations_total{operation="search",outcome="ok"} 1.0' in text
        assert 'footnote_index_operations_total{operation="open",outcome="ok"} 1.0' in text
        assert "leave" not in text
        process.stdin.close()
        assert await process.wait() == 0


async def test_a_port_that_is_taken_is_a_bad_setting(footnote: Footnote) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        finished = await footnote("run", FOOTNOTE_METRICS__PORT=str(taken.getsockname()[1]))
    assert finished.code == 78
    assert finished.err.startswith("footnote: FOOTNOTE_METRICS__PORT: ")
    assert finished.err.count("\n") == 1


async def test_no_command_but_run_imports_the_client_library(tmp_path: Path) -> None:
    source = """
import sys
from bot.cli.knowledge import add, kb
from bot.cli.answers import ask, chat, search
from bot.cli.operation import run
assert not [name for name in sys.modules if name.startswith("prometheus_client")]
"""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", source, env=environment(tmp_path, PYTHONPATH=str(PROJECT)), cwd=tmp_path
    )
    async with asyncio.timeout(30):
        assert await process.wait() == 0


@pytest.mark.parametrize("key", ["url", "api_key"])
async def test_no_key_of_an_index_that_is_away_is_reported(footnote: Footnote, key: str) -> None:
    planted = {
        "url": {"ELASTICSEARCH_URL": "http://elastic:plantedsecret@127.0.0.1:9"},
        "api_key": {"ELASTICSEARCH_URL": "http://127.0.0.1:9", "ELASTICSEARCH_API_KEY": "plantedsecret"},
    }
    finished = await footnote(
        "run",
        FOOTNOTE_INDEX__KIND="elasticsearch",
        FOOTNOTE_LOG_LEVEL="debug",
        FOOTNOTE_INGESTION__PATIENCE_SECONDS="1",
        OPENAI_API_KEY="sk-plantedsecret",
        **planted[key],
    )
    assert "plantedsecret" not in finished.out + finished.err
    assert "127.0.0.1:9" in finished.err
