"""Whether a platform is heard, whether a part answers, and where the event loop stood."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import threading
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bot.observability.health import Health
from bot.observability.metrics import Meters
from bot.process import event_loop_lag
from bot.process.watchdog import Watch, probe
from rag_engine.errors import IndexUnavailable, StorageUnavailable
from rag_engine.storage.sqlite import write_probe

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

BOT = Path(event_loop_lag.__file__).parents[1]


class Steps(Health):
    """Lets a test wait for a report."""

    def __init__(self) -> None:
        self.news = asyncio.Event()
        super().__init__()

    def record(self, name: str, *, ready: bool, detail: str) -> None:
        super().record(name, ready=ready, detail=detail)
        self.news.set()

    async def until(self, true: Callable[[], bool]) -> None:
        async with asyncio.timeout(5):
            while not true():
                self.news.clear()
                await self.news.wait()


@pytest.fixture
def meters() -> Meters:
    return Meters()


@pytest.fixture
async def health() -> Steps:
    return Steps()


def counted(meters: Meters, name: str, **labels: str) -> float | None:
    return meters.registry.get_sample_value(f"footnote_{name}", labels)


async def test_a_platform_is_ready_when_it_says_so_and_while_something_delivers(
    health: Steps, meters: Meters, caplog: pytest.LogCaptureFixture
) -> None:
    watch = Watch("slack", health, deaf_seconds=60, meter=meters.connections)
    assert not health.checks["slack"].ready
    assert counted(meters, "connections", platform="slack") == 0
    watch.connections(live=1, expected=2)
    assert not health.checks["slack"].ready
    watch.ready({"bot": "footnote"})
    assert health.checks["slack"].ready
    watch.connections(live=0, expected=2)
    assert not health.checks["slack"].ready
    assert health.checks["slack"].detail == "0 of 2 connections deliver events."
    watch.connections(live=2, expected=2)
    assert health.checks["slack"].ready
    assert counted(meters, "connections", platform="slack") == 2
    assert counted(meters, "deaf_total", platform="slack") == 0
    watch.close()


async def test_an_adapter_without_connection_reports_is_ready_when_it_says_so(health: Steps) -> None:
    watch = Watch("irc", health, deaf_seconds=60)
    watch.ready({})
    assert health.checks["irc"].ready


async def test_a_long_silence_of_events_is_reported_once_and_counted(
    health: Steps, meters: Meters, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="footnote")
    told = asyncio.Event()
    meter = meters.connections
    watch = Watch("discord", health, deaf_seconds=0.05, meter=meter)
    watch.ready({})
    watch.connections(live=0, expected=1)
    watch.connections(live=0, expected=1)
    asyncio.get_running_loop().call_later(0.1, told.set)
    async with asyncio.timeout(5):
        await told.wait()
    assert counted(meters, "deaf_total", platform="discord") == 1
    watch.connections(live=1, expected=1)
    events = [record.getMessage() for record in caplog.records]
    assert [each for each in events if each in {"deaf", "hears_again"}] == ["deaf", "hears_again"]
    watch.close()


async def test_what_was_fixed_and_what_the_operator_must_fix_is_counted(
    health: Steps, meters: Meters
) -> None:
    watch = Watch("slack", health, deaf_seconds=60, meter=meters.connections)
    watch.recovered("dead_ticket")
    watch.recovered("dead_ticket")
    watch.operator_needed("bad_signature")
    assert counted(meters, "recoveries_total", platform="slack", fault="dead_ticket") == 2
    assert counted(meters, "troubles_total", platform="slack", fault="bad_signature") == 1


async def test_a_platform_that_ended_for_good_is_reported_with_its_sentence(
    health: Steps, meters: Meters
) -> None:
    watch = Watch("slack", health, deaf_seconds=60, meter=meters.connections)
    watch.ready({})
    watch.connections(live=2, expected=2)
    watch.ended("Slack refuses the bot token.")
    assert not health.checks["slack"].ready
    assert health.checks["slack"].detail == "Slack refuses the bot token."
    assert counted(meters, "connections", platform="slack") == 0


# --- parts


@asynccontextmanager
async def probed(health: Health, ask: Callable[[], object], *, within: float = 5.0) -> AsyncGenerator[None]:
    async def asked() -> None:
        answer = ask()
        if isinstance(answer, asyncio.Event):
            await answer.wait()

    task = asyncio.create_task(probe("index", asked, health, every=0.01, within=within))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_part_is_ready_while_it_answers(health: Steps) -> None:
    away = False

    def ask() -> None:
        if away:
            raise IndexUnavailable("The search index cannot be reached; try again in a moment.")

    async with probed(health, ask):
        await health.until(lambda: "index" in health.checks and health.checks["index"].ready)
        away = True
        await health.until(lambda: not health.checks["index"].ready)
        assert health.checks["index"].detail.startswith("The search index cannot be reached")
        away = False
        await health.until(lambda: health.checks["index"].ready)


async def test_a_check_with_a_bug_fails_and_is_repeated(
    health: Steps, caplog: pytest.LogCaptureFixture
) -> None:
    asked = 0

    def ask() -> None:
        nonlocal asked
        asked += 1
        if asked == 1:
            raise KeyError("a secret")

    async with probed(health, ask):
        await health.until(lambda: "index" in health.checks and not health.checks["index"].ready)
        assert health.checks["index"].detail.startswith("Something broke (id ")
        await health.until(lambda: health.checks["index"].ready)


async def test_a_part_that_hangs_does_not_answer(health: Steps) -> None:
    async with probed(health, asyncio.Event, within=0.05):
        await health.until(lambda: "index" in health.checks)
        assert health.checks["index"].detail == "It did not answer within 0.05 s."


def _database(path: Path) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA user_version = 7")
        connection.execute("CREATE TABLE kept (value)")
        connection.commit()
    return path


def test_a_database_is_written_and_nothing_in_it_changes(tmp_path: Path) -> None:
    path = _database(tmp_path / "a database?.sqlite")
    with closing(sqlite3.connect(path)) as reader:
        before = reader.execute("PRAGMA data_version").fetchone()
        write_probe.write(path)
        assert reader.execute("PRAGMA data_version").fetchone() != before
        assert reader.execute("PRAGMA user_version").fetchone() == (7,)


def test_a_database_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    with pytest.raises(StorageUnavailable, match="cannot be written"):
        write_probe.write(tmp_path / "missing.sqlite")
    assert not (tmp_path / "missing.sqlite").exists()
    path = _database(tmp_path / "full.sqlite")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageUnavailable, match="another program is using"):
            write_probe.write(path, busy_seconds=0.05)


# --- the event loop


async def test_a_blocked_loop_is_reported_with_the_blocking_line(
    meters: Meters, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="footnote")
    never = threading.Event()
    async with event_loop_lag.watched(Health(), meters.event_loop):
        await asyncio.to_thread(int)  # so that the loop has turned once
        never.wait(2.2)  # the event loop stands here
        async with asyncio.timeout(5):
            while not (
                lagged := [each for each in caplog.records if each.getMessage() == "event_loop_lagged"]
            ):
                turned = asyncio.Event()
                asyncio.get_running_loop().call_later(0.05, turned.set)
                await turned.wait()
    (line,) = lagged
    fields = line.__dict__["fields"]
    assert fields["seconds"] > 1
    assert "threading.py:" in fields["where"]
    assert "never" not in str(fields)
    assert (counted(meters, "event_loop_lag_seconds_bucket", le="1.0") or 0) < (
        counted(meters, "event_loop_lag_seconds_count") or 0
    )


def test_the_blocking_line_of_our_own_code_is_reported_too() -> None:
    """Below the innermost line, which may be a library's."""
    told: list[str] = []
    library = compile("told.append(place_of(sys._getframe()))", "/opt/site-packages/slow/work.py", "exec")
    ours = compile("\n\nexec(library)", str(BOT / "answering.py"), "exec")
    names = {"told": told, "place_of": event_loop_lag.place_of, "sys": sys, "library": library}
    exec(ours, names)  # noqa: S102 - code that claims to stand in those files
    assert told == ["slow/work.py:1 < bot/answering.py:3"]
    assert event_loop_lag.place_of(None) == ""
