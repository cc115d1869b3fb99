"""A day in fast motion: thousands of questions and hundreds of files on both platforms at once, while everything goes wrong in turn.

One `footnote run` serves both doubles, which keep their limits as the platforms do: the bot is given no faster clock. Every question must
end in exactly one answer; at the end the process must hold no more than it held after the first tenth of the day.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import re
import time
from collections import Counter
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

import aiohttp

from tests.doubles import chats
from tests.doubles.chat_server import Upload
from tests.doubles.discord_double.server import DiscordServer
from tests.doubles.mischief import mischief, names
from tests.journeys.chat.scenario import Bot, running
from tests.soak import model as soak_model
from tests.soak.resources import Resources, held
from tests.soak.standing import Standing, forget, under

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence
    from pathlib import Path

    from tests.doubles.chats import Chat
    from tests.soak.model import Model

_LOOK_SECONDS: Final = 0.5
_PATIENCE_SECONDS: Final = 300.0
"""A question that has no whole answer by then is lost."""
_MISCHIEF_SECONDS: Final = 2.0
_ROOMS: Final = 12
_AT_ONCE: Final[Mapping[str, int]] = {"slack": 24, "discord": 16}
_HANDBOOK: Final = "# Leave\n\nEveryone has 28 days of leave a year. The head of the station approves them.\n"
_QUESTION: Final = "@footnote How many days of leave do I have, and who approves them? No. {number}"
_READS: Final = re.compile(r"^footnote_event_loop_tasks (\S+)", re.MULTILINE)
_SETTINGS: Final = {
    "FOOTNOTE_SLACK__PING_SECONDS": "2",
    "FOOTNOTE_SLACK__DEAD_SECONDS": "2",
    "FOOTNOTE_DISCORD__RETRY_SECONDS": "0.5",
    "FOOTNOTE_MODEL__BACK_OFF_SECONDS": "0.1",
    "FOOTNOTE_METRICS__PORT": "0",
    "FOOTNOTE_LOG_LEVEL": "warning",
}


@dataclass(slots=True, kw_only=True)
class Asked:
    """A question on its way."""

    number: int
    at: float
    whole_at: float = 0.0
    answer: str = ""


@dataclass(slots=True, kw_only=True)
class Report:
    """What came of a day."""

    questions: int = 0
    files: int = 0
    seconds: float = 0.0
    lost: list[str] = field(default_factory=list[str])
    doubled: list[str] = field(default_factory=list[str])
    slowest: float = 0.0
    """Seconds from a question to its whole answer."""
    kinds: Counter[str] = field(default_factory=Counter[str])
    """How answers ended: as the model wrote them, quoted instead, broken off, or by a sentence."""
    faults: Counter[str] = field(default_factory=Counter[str])
    troubles: Mapping[str, int] = field(default_factory=dict[str, int])
    refused: Counter[str] = field(default_factory=Counter[str])
    """Calls beyond a platform's limits, by limit: one that a fault delays arrives later than the bot can know."""
    log: str = ""
    """What the bot logged."""
    early: Resources | None = None
    late: Resources | None = None

    def failures(self) -> list[str]:
        """What must not be; nothing on a good day."""
        found = [f"lost: {each}" for each in self.lost] + [f"doubled: {each}" for each in self.doubled]
        if self.early is None or self.late is None:
            return [*found, "nothing was measured"]
        if self.late.resident > 1.1 * self.early.resident:
            found.append(f"memory grew from {self.early.resident >> 20} to {self.late.resident >> 20} MB")
        for name, slack in (("descriptors", 8), ("tasks", 8), ("threads", 4), ("processes", 1)):
            before, after = getattr(self.early, name), getattr(self.late, name)
            if after > before + slack:
                found.append(f"{name} grew from {before} to {after}")
        return found

    def lines(self) -> list[str]:
        """The report for people."""
        told = [
            f"{self.questions:,} questions and {self.files} files in {self.seconds:,.0f} s",
            f"lost {len(self.lost)}, doubled {len(self.doubled)}, slowest {self.slowest:.1f} s",
            "answers: " + ", ".join(f"{kind} {count:,}" for kind, count in self.kinds.most_common()),
            f"{sum(self.faults.values())} faults of {len(self.faults)} kinds; model: "
            + ", ".join(f"{name} {count:,}" for name, count in self.troubles.items()),
            f"calls beyond a limit: {dict(self.refused) or 0}",
        ]
        for name, resources in (("early", self.early), ("late", self.late)):
            if resources is not None:
                told.append(
                    f"{name}: {resources.resident / (1 << 20):.0f} MB ({resources.mapped / (1 << 20):.0f} of files), "
                    f"{', '.join(f'{number} {kind}' for kind, number in sorted(resources.kinds.items()))}, {resources.tasks} tasks, {resources.threads} threads, {resources.processes} processes"
                )
        return told


class Side:
    """One platform's part of the day."""

    def __init__(
        self, chat: Chat, rooms: Sequence[str], report: Report, *, seed: int, settled_seconds: float
    ) -> None:
        self.chat = chat
        self.open: dict[str, Asked] = {}
        """By the id of the question."""
        self._rooms = rooms
        self._report = report
        self._settled_seconds = settled_seconds
        self._people = list(chat.people.values())
        self._random = random.Random(seed)

    async def ask(self, number: int) -> None:
        """One question; it is looked after by `look`."""
        room = self._random.choice(self._rooms)
        text = _QUESTION.format(number=number)
        question = await self.chat.says(self._random.choice(self._people), room, text)
        self.open[question] = Asked(number=number, at=time.monotonic())

    async def drop(self, number: int) -> None:
        """One file, in a message that mentions the bot; it is looked after as a question is."""
        upload = Upload(name=f"note-{number}.md", content=_note(number).encode(), media_type="text/markdown")
        room, ada = self._random.choice(self._rooms), self.chat.people["ada"]
        question = await self.chat.says(ada, room, "@footnote", files=(upload,))
        self.open[question] = Asked(number=-number, at=time.monotonic())

    @property
    def waiting(self) -> int:
        """How many have no whole answer yet."""
        return sum(not asked.whole_at for asked in self.open.values())

    def look(self) -> None:
        """See what has become of every open question."""
        now = time.monotonic()
        standing = under(self.chat, self.open)
        settled: list[str] = []
        for question, asked in self.open.items():
            ours = standing.get(question, [])
            if asked.whole_at:
                if now - asked.whole_at > self._settled_seconds:
                    self._settle(asked, ours)
                    settled.append(question)
            elif _is_whole(asked, ours):
                asked.whole_at = now
                self._report.slowest = max(self._report.slowest, now - asked.at)
            elif now - asked.at > _PATIENCE_SECONDS:
                self._report.lost.append(f"{self._named(asked)}: {[each.text for each in ours]}")
                settled.append(question)
        for question in settled:
            del self.open[question]
        forget(self.chat, settled)

    def _settle(self, asked: Asked, ours: Sequence[Standing]) -> None:
        if len(ours) != 1:
            self._report.doubled.append(f"{self._named(asked)}: {[each.text for each in ours]}")
            return
        text = ours[0].text
        if asked.number < 0:
            self._report.files += 1
            self._report.kinds["file ready" if "searchable" in text else "file refused"] += 1
            return
        self._report.questions += 1
        expected = soak_model.sentence(str(asked.number))
        if text.startswith(expected):
            self._report.kinds["whole"] += 1
        elif text.startswith(expected[:20]):
            self._report.kinds["broken off, and says so"] += 1
        else:
            self._report.kinds["quoted instead" if "28 days" in text else "a sentence"] += 1

    def _named(self, asked: Asked) -> str:
        what = "question" if asked.number > 0 else "file"
        return f"{self.chat.platform} {what} {abs(asked.number)}"

    async def trouble(self) -> None:
        """One thing goes wrong, at a moment when something is going on."""
        going_on = [question for question, asked in self.open.items() if not asked.whole_at]
        if not going_on:
            return
        name = self._random.choice(names(self.chat.platform))
        if name == "edits too often, says cloudflare" or "older than slack" in name:
            return  # the clock of the double would make its limits meaningless
        self._report.faults[f"{self.chat.platform}: {name}"] += 1
        await mischief(self.chat.server, name, self._random.choice(going_on))


@asynccontextmanager
async def _town(folder: Path, *, seed: int, every: int) -> AsyncGenerator[tuple[Bot, list[Chat], Model]]:
    async with AsyncExitStack() as stack:
        both = [await stack.enter_async_context(chats.serve(name)) for name in ("slack", "discord")]
        model = await stack.enter_async_context(soak_model.serve(every=every, seed=seed))
        settings = {
            "OPENAI_BASE_URL": model.base_url,
            "OPENAI_API_KEY": "none",
            "FOOTNOTE_MODEL__NAME": "scripted",
            **both[1].environment(),
            **_SETTINGS,
        }
        settings["FOOTNOTE_LOG_LEVEL"] = "info"
        bot = await stack.enter_async_context(running(folder, both[0], **settings))
        for chat in both:
            await chat.connected()
        yield bot, both, model


async def day(
    folder: Path,
    *,
    questions: int = 5000,
    files: int = 500,
    seed: int = 1,
    slack_share: float = 0.25,
    settled_seconds: float = 15.0,
) -> Report:
    """The whole day; `slack_share` of the questions are asked on Slack, which lets a workspace write little a minute.

    An answer that was seen whole is looked at again `settled_seconds` later: nothing more may have come.
    """
    report = Report()
    began = time.monotonic()
    async with _town(folder, seed=seed, every=40) as (bot, both, model):
        sides = [
            Side(chat, await _furnish(chat), report, seed=seed + number, settled_seconds=settled_seconds)
            for number, chat in enumerate(both)
        ]
        chance = random.Random(seed)
        numbers = itertools.count(1)
        dropped = 0
        asked = {side.chat.platform: 0 for side in sides}
        wanted = {"slack": int(questions * slack_share), "discord": questions - int(questions * slack_share)}

        async def run(side: Side) -> None:
            nonlocal dropped
            platform = side.chat.platform
            while asked[platform] < wanted[platform] or side.open:
                side.look()
                if report.early is None and report.questions >= questions // 10:
                    report.early = await _held(bot)
                while side.waiting < _AT_ONCE[platform] and asked[platform] < wanted[platform]:
                    asked[platform] += 1
                    await side.ask(next(numbers))
                    if dropped < files * sum(asked.values()) // questions:
                        dropped += 1
                        await side.drop(dropped)
                await asyncio.sleep(_LOOK_SECONDS)

        async def troubles() -> None:
            while True:
                await asyncio.sleep(_MISCHIEF_SECONDS * chance.uniform(0.5, 1.5))
                await chance.choice(sides).trouble()

        trouble = asyncio.create_task(troubles(), name="troubles")
        try:
            await asyncio.gather(*(run(side) for side in sides))
        finally:
            trouble.cancel()
            await asyncio.gather(trouble, return_exceptions=True)
        report.late = await _held(bot)
        report.log = bot.log()
        report.seconds = time.monotonic() - began
        report.troubles = dict(model.troubles)
        report.refused.update(_limit(key) for chat in both for key in _violations(chat))
    return report


async def _furnish(chat: Chat) -> list[str]:
    """Channels that know the handbook."""
    rooms = [chat.add_room(f"room{number}", list(chat.people.values())) for number in range(_ROOMS)]
    upload = Upload(name="handbook.md", content=_HANDBOOK.encode(), media_type="text/markdown")
    for room in rooms:
        message = await chat.says(chat.people["ada"], room, "@footnote", files=(upload,))
        await chat.server.wait_for(partial(_searchable, chat, message), 60)
    return rooms


def _violations(chat: Chat) -> list[tuple[str, ...]]:
    server = chat.server
    return server.violations if isinstance(server, DiscordServer) else server.windows.violations


def _limit(key: tuple[str, ...]) -> str:
    """The name of a limit, without the ids in it."""
    return " ".join(part for part in key if not any(character.isdigit() for character in part))


def _searchable(chat: Chat, message: str) -> bool:
    return any("searchable" in each.text for each in under(chat, {message}).get(message, []))


async def _held(bot: Bot) -> Resources:
    found = re.search(r'"url": "(\S+/metrics)"', bot.log())
    if found is None:
        raise AssertionError("the bot tells no metrics")
    limit = aiohttp.ClientTimeout(total=30)
    async with aiohttp.ClientSession(timeout=limit) as client, client.get(found[1]) as response:
        told = _READS.search(await response.text())
    if told is None:
        raise AssertionError("the bot does not tell how many tasks it has")
    return held(bot.process.pid, tasks=int(float(told[1])))


def _is_whole(asked: Asked, ours: Sequence[Standing]) -> bool:
    if asked.number < 0:  # files have no button to ask again
        return len(ours) == 1 and ("searchable" in ours[0].text or ours[0].whole)
    return bool(ours) and ours[-1].whole


def _note(number: int) -> str:
    words = random.Random(number).choices(("tide", "lamp", "buoy", "chart", "mooring", "signal"), k=60)
    return f"# Note {number}\n\nNote {number} is kept for {number % 90 + 1} days. {' '.join(words)}.\n"
