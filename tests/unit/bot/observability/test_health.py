"""Health over HTTP, also while the event loop is blocked."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from bot.observability import health_server
from bot.observability.health import PROGRAM, Health
from bot.observability.metrics import Meters
from bot.process import event_loop_lag
from bot.settings import MetricsSettings
from rag_engine.errors import BadSettings
from tests.doubles.fetching import answered

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager


async def told(address: str, path: str) -> tuple[int, Any]:
    status, body = await asyncio.to_thread(answered, address + path)
    return status, json.loads(body)


def served(health: Health, **settings: Any) -> AbstractAsyncContextManager[str]:
    given = MetricsSettings(**{"port": 0, **settings})
    return health_server.served(given, registry=Meters().registry, health=health)


async def test_metrics_are_shown_until_the_block_ends() -> None:
    async with served(Health()) as address:
        status, text = await asyncio.to_thread(answered, address + "/metrics")
        assert status == 200
        assert 'footnote_index_operations_total{operation="search",outcome="ok"} 0.0' in text
        assert (await asyncio.to_thread(answered, address + "/other"))[0] == 404
    with pytest.raises(OSError, match="refused"):
        await asyncio.to_thread(answered, address + "/metrics")


async def test_the_address_may_be_one_of_the_next_kind() -> None:
    async with served(Health(), host="::1") as address:
        assert (await told(address, "/healthz"))[0] == 200


async def test_a_port_that_is_taken_is_reported_by_its_setting() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(BadSettings, match=rf"^FOOTNOTE_METRICS__PORT: {port} on 127\.0\.0\.1 cannot"):
            async with served(Health(), port=port):
                raise AssertionError("nothing can be served there")


async def test_ready_is_what_is_ready_in_every_part_and_the_rest_is_reported_with_its_time() -> None:
    now = 1_800_000_000.0
    health = Health(clock=lambda: now)
    async with served(health) as address:
        status, body = await told(address, "/readyz")
        assert (status, body["ready"]) == (503, False)
        assert body["checks"][PROGRAM]["detail"] == "The program starts."
        health.record(PROGRAM, ready=True, detail="The program serves.")
        health.record("slack", ready=True, detail="2 of 2 connections deliver events.")
        status, body = await told(address, "/readyz")
        assert (status, body["ready"]) == (200, True)
        now += 60
        health.record("slack", ready=False, detail="0 of 2 connections deliver events.")
        now += 60
        health.record("slack", ready=False, detail="0 of 2 connections deliver events.")
        status, body = await told(address, "/readyz")
        assert status == 503
        assert body["checks"]["slack"] == {
            "ready": False,
            "since": "2027-01-15T08:01:00Z",
            "detail": "0 of 2 connections deliver events.",
        }
        assert body["checks"][PROGRAM]["ready"] is True


async def test_it_answers_while_the_event_loop_is_blocked_and_says_so() -> None:
    health = Health()
    answers: list[tuple[int, str]] = []
    done = threading.Event()

    def ask(address: str) -> None:
        while (answer := answered(address + "/healthz"))[0] == 200:
            answers.append(answer)
        answers.append(answer)
        done.set()

    async with served(health, stuck_seconds=0.3) as address, event_loop_lag.watched(health):
        status, body = await told(address, "/healthz")
        assert (status, body["alive"]) == (200, True)
        threading.Thread(target=ask, args=[address], daemon=True).start()
        assert done.wait(10)  # the event loop stands here
        async with asyncio.timeout(10):
            while (await told(address, "/healthz"))[0] != 200:
                continue
    status, body = answers[-1]
    assert status == 503
    assert json.loads(body)["alive"] is False


async def test_a_client_that_asks_nothing_keeps_no_other_from_an_answer() -> None:
    async with served(Health()) as address:
        parts = urlsplit(address)
        with socket.create_connection((parts.hostname or "", parts.port or 0)):
            assert (await told(address, "/healthz"))[0] == 200


def test_a_check_is_since_it_changed() -> None:
    clock = iter([1.0, 2.0, 3.0, 4.0])
    health = Health(clock=lambda: next(clock))
    health.record("index", ready=False, detail="It did not answer.")
    health.record("index", ready=False, detail="The index cannot be reached.")
    assert (health.checks["index"].since, health.checks["index"].detail) == (
        2.0,
        "The index cannot be reached.",
    )
    health.record("index", ready=True, detail="It answers.")
    assert health.checks["index"].since == 3.0


def test_the_loop_is_silent_since_its_last_beat() -> None:
    now = time.monotonic()
    health = Health(ticks=lambda: now)
    now += 5
    assert health.silent_seconds == 5
    health.beat()
    assert health.silent_seconds == 0


async def test_hundreds_of_silent_clients_keep_nobody_out_and_occupy_few_threads() -> None:
    async with served(Health()) as address:
        where = urlsplit(address)
        with ExitStack() as stack:
            silent = [
                stack.enter_context(socket.create_connection((where.hostname, where.port), timeout=5))
                for _ in range(200)
            ]
            # 503 if the loop of this test stood still meanwhile: it answers.
            assert (await told(address, "/healthz"))[0] in (200, 503)
            assert [is_ended(each) for each in silent] == [True] * 169 + [False] * 31


def is_ended(client: socket.socket) -> bool:
    client.setblocking(False)
    try:
        return client.recv(1) == b""
    except BlockingIOError:
        return False


async def test_a_client_that_hangs_up_prints_no_traceback(capfd: pytest.CaptureFixture[str]) -> None:
    async with served(Health()) as address:
        where = urlsplit(address)
        for _ in range(5):
            client = socket.create_connection((where.hostname, where.port))
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.sendall(b"GET /metr")
            client.close()  # by a reset
        assert (await told(address, "/healthz"))[0] == 200
    assert "Traceback" not in capfd.readouterr().err
