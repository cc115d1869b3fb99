"""The history of a channel as a source, read beside live answers in fast motion: one minute of Slack's limits takes `--minute` seconds.

`python -m benchmarks.chat.history [--messages 50000] [--minute 3]`
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sqlite3
import tempfile
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.chat.__main__ import ms, p95, words
from benchmarks.chat.town import TOKENS_PER_SECOND, Town, town
from tests.doubles.chats import SlackChat
from tests.doubles.slack_double.world import Message

if TYPE_CHECKING:
    from tests.doubles.slack_double.server import SlackServer

ROOMS: Final = 4
IN_THREADS: Final = 5
"""Every so many messages begin a thread of as many replies, until a fifth of all are in threads."""
METHODS: Final = ("conversations.history", "conversations.replies")
CALLS: Final = 25


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=50_000)
    parser.add_argument("--minute", type=float, default=3.0)
    parser.add_argument("--answers", type=int, default=30)
    arguments = parser.parse_args()
    asyncio.run(measured(arguments.messages, arguments.minute, arguments.answers))


async def measured(messages: int, minute: float, answers: int) -> None:
    settings = {
        "FOOTNOTE_SLACK__HISTORY_CALLS": str(CALLS),
        "FOOTNOTE_SLACK__HISTORY_SECONDS": str(minute),
        "FOOTNOTE_EMBEDDER__KIND": "hashing",
        "FOOTNOTE_CHAT__QUESTIONS_PER_HOUR": "100000",
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        async with town("slack", folder, **settings) as (place, _, _):
            assert isinstance(place.chat, SlackChat)
            server = place.chat.server
            for method in METHODS:
                server.limits[method] = (50, minute)
            await place.furnish(ROOMS)
            room = place.chat.add_room("history", list(place.chat.people.values()))
            fill(server, room, messages)
            await first_texts(place, 5)
            alone = await first_texts(place, answers)
            began, busy = time.monotonic(), processor(place)
            await place.chat.commands(place.chat.people["ada"], room, f"/kb source add <#{room}|history>")
            while not rows(folder, "SELECT count(*) FROM channel_sources"):  # noqa: ASYNC110
                await asyncio.sleep(0.1)
            beside: list[float] = []
            while len(beside) < answers and not read(folder):
                beside += await first_texts(place, 5)
            await to_the_end(folder)
            seconds = time.monotonic() - began
            calls = {method: len(server.calls_of(method)) for method in METHODS}
            print(
                f"{messages:,} messages, one minute of limits in {minute:g} s, model at {TOKENS_PER_SECOND} tokens/s"
            )
            print(
                f"calls: {calls}; refused: {sum(place.too_many().values())}; limits broken: {len(server.windows.violations)}"
            )
            print(
                f"stored: {stored(folder):,}; read and searchable after {seconds:.0f} s; processor {processor(place) - busy:.0f} s"
            )
            print(f"pages alone at this pace: {sum(calls.values()) * minute / CALLS:.0f} s")
            print(
                f"question to first text, p95: alone {ms(p95(alone))}, beside {ms(p95(beside))} ({p95(beside) / p95(alone):.2f} x); answers {len(alone)}, {len(beside)}"
            )
            middle = sorted(beside)[len(beside) // 2] / sorted(alone)[len(alone) // 2]
            print(f"median {middle:.2f} x; memory {place.resident() / 2**20:.0f} MB")


def fill(server: SlackServer, room: str, messages: int) -> None:
    """From the year before, without events."""
    chance = random.Random(7)
    people = [user.id for user in server.world.users.values() if not user.bot]
    start = int(time.time()) - 300 * 86_400
    vocabulary = words(2_000)
    roots: list[str] = []
    for number in range(messages):
        ts = f"{start + number * 500}.{number % 1_000_000:06d}"
        in_thread = number % 5 == 4 and len(roots) > IN_THREADS
        thread = chance.choice(roots[-IN_THREADS:]) if in_thread else ""
        if not in_thread and number % 20 == 0:
            roots.append(ts)
        text = " ".join(chance.choices(vocabulary, k=chance.randint(4, 30)))
        server.world.messages[ts] = Message(
            ts=ts, channel=room, user=chance.choice(people), text=text, thread=thread
        )


async def first_texts(place: Town, count: int) -> list[float]:
    """Without answers that were only seen whole."""
    waits: list[float] = []
    for _ in range(count):
        with suppress(ValueError):
            answered = await place.ask(words(TOKENS_PER_SECOND))
            waits.append(answered.first_text - answered.at)
    return waits


def rows(folder: Path, sql: str) -> int:
    with closing(sqlite3.connect(folder / "data" / "chat.sqlite")) as database:
        return int(database.execute(sql).fetchone()[0])


def read(folder: Path) -> bool:
    return not rows(
        folder,
        "SELECT (SELECT count(*) FROM channel_spans) + (SELECT count(*) FROM channel_threads) + "
        "(SELECT count(*) FROM channel_documents WHERE version > written)",
    )


def stored(folder: Path) -> int:
    return rows(folder, "SELECT count(*) FROM channel_messages WHERE text <> ''")


async def to_the_end(folder: Path) -> None:
    while not read(folder):  # noqa: ASYNC110
        await asyncio.sleep(0.5)


def processor(place: Town) -> float:
    fields = Path(f"/proc/{place.process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100.0


if __name__ == "__main__":
    main()
