"""A platform double, a paced model and the real `footnote run`, with what people saw and when, for `benchmarks.chat`."""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
import time
from collections import Counter
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.chat.model import PacedModel, Script, serve
from tests.doubles import chats
from tests.doubles.chat_server import Upload

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from tests.doubles.chat_server import Shown
    from tests.doubles.chats import Chat

ROOT = Path(__file__).parents[2]
FACTS = (
    "Beginning in January, everyone has 28 days of leave a year.",
    "The head of the station approves each leave within five working days.",
    "Requests for leave in August must reach the office before the end of April.",
    "The night crew of the lighthouse takes its leave in two parts.",
    "Divers may add three days of leave after every winter expedition.",
    "The boat is not sent out while both of its pilots are on leave.",
    "Nobody is called back from leave unless a storm closes the harbour.",
    "Leave during a course in Bergen counts as work and is paid in full.",
    "The cook writes all leave into the green calendar beside the galley door.",
    "Up to six days of leave can be carried into the spring of the next year.",
    "Whatever is left in April reaches its ending.",
)
"""The handbook, and the answers of the model."""
HANDBOOK = "# Leave\n\n" + " ".join(FACTS) + "\n"
QUESTION = "@footnote How many days of leave do I have, and who approves them? No. {number}"
TOKENS_PER_SECOND = 40
_WRITES = frozenset(
    {"chat.postMessage", "chat.update", "chat.startStream", "chat.appendStream", "chat.stopStream"}
    | {"create_message", "edit_message"}
)
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredQuestion:
    """One question and its answer; times by `time.monotonic`."""

    script: Script
    at: float
    placeholder: float
    first_text: float
    final: float
    shown: Sequence[Shown]

    @property
    def text(self) -> str:
        return "\n".join(each.text for each in self.shown)


@dataclass(slots=True, kw_only=True)
class Town:
    """One platform with its people and the bot."""

    chat: Chat
    model: PacedModel
    process: int
    rooms: list[str] = field(default_factory=list)
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def resident(self) -> int:
        return int(Path(f"/proc/{self.process}/statm").read_text(encoding="ascii").split()[1]) * _PAGE

    async def furnish(self, rooms: int) -> None:
        people = list(self.chat.people.values())
        for number in range(rooms):
            room = self.chat.add_room(f"room{number}", people)
            self.rooms.append(room)
            upload = Upload(name="handbook.md", content=HANDBOOK.encode(), media_type="text/markdown")
            message = await self.chat.says(self.chat.people["ada"], room, "@footnote", files=(upload,))
            await self.chat.server.wait_for(partial(self._searchable, room, message), 60)

    def _searchable(self, room: str, message: str) -> bool:
        return any("searchable" in each.text for each in self.ours(room, message))

    def ours(self, room: str, question: str) -> list[Shown]:
        """The bot's messages under a question, oldest first."""
        ada = self.chat.people["ada"]
        return [each for each in self.chat.visible(ada, room, question) if each.ours]

    async def ask(
        self,
        pieces: Sequence[str],
        *,
        rate: float = TOKENS_PER_SECOND,
        at_once: int = 1,
        seconds: float = 600,
    ) -> AnsweredQuestion:
        """Asks in the next channel and waits until the answer is complete: it then has a button to ask again."""
        number = next(self._numbers)
        script = Script(pieces=pieces, pieces_per_second=rate, at_once=at_once)
        self.model.scripts[number] = script
        room = self.rooms[number % len(self.rooms)]
        person = list(self.chat.people.values())[number % len(self.chat.people)]
        at = self.chat.server.now()
        question = await self.chat.says(person, room, QUESTION.format(number=number))
        async with asyncio.timeout(seconds):
            await script.done.wait()
        await self._whole(room, question, seconds)
        return self._seen(script, at, room, question)

    async def _whole(self, room: str, question: str, seconds: float) -> None:
        """Polls slowly, because looking at every change would load the machine."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            shown = self.ours(room, question)
            if shown and any(button.label.startswith("Regenerate") for button in shown[-1].buttons):
                return
            await asyncio.sleep(0.5)
        raise TimeoutError(f"no whole answer to {question}: {[each.text[-300:] for each in shown]}")

    def _seen(self, script: Script, at: float, room: str, question: str) -> AnsweredQuestion:
        shown = self.ours(room, question)
        ids = {each.id for each in shown}
        first_word = script.text.split()[0]
        texts = [text for each in shown for text in each.texts]
        writes = [
            call.at
            for call in self.chat.server.calls
            if call.method in _WRITES
            and str(call.arguments.get("ts") or call.arguments.get("message")) in ids
        ]
        return AnsweredQuestion(
            script=script,
            at=at,
            placeholder=min(text.at for text in texts),
            first_text=min(text.at for text in texts if first_word in text.text),
            final=max([*writes, *(text.at for text in texts)]),
            shown=shown,
        )

    def too_many(self) -> Counter[str]:
        """Calls answered with 429, by method."""
        return Counter(call.method for call in self.chat.server.calls if call.status == 429)


@asynccontextmanager
async def town(platform: str, folder: Path, **settings: str) -> AsyncGenerator[tuple[Town, Path, Path]]:
    """The town, and the clock files of the bot and of an idle process."""
    async with AsyncExitStack() as stack:
        chat = await stack.enter_async_context(chats.serve(platform))
        model = await stack.enter_async_context(serve())
        environment = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        environment |= {
            "HOME": str(folder),
            "PYTHONPATH": str(ROOT),
            "PYTHONUTF8": "1",
            "FOOTNOTE_DATA_DIR": str(folder / "data"),
            "OPENAI_BASE_URL": model.base_url,
            "OPENAI_API_KEY": "none",
            "FOOTNOTE_MODEL__NAME": "paced",
            **(
                {"TIKTOKEN_CACHE_DIR": os.environ["TIKTOKEN_CACHE_DIR"]}
                if "TIKTOKEN_CACHE_DIR" in os.environ
                else {}
            ),
            **chat.environment(),
            **settings,
        }
        clock, idle = folder / "clock", folder / "idle"
        await stack.enter_async_context(_running(environment, folder, idle, "idle"))
        bot = await stack.enter_async_context(_running(environment, folder, clock, "run"))
        await chat.connected()
        yield Town(chat=chat, model=model, process=bot.pid), clock, idle


@asynccontextmanager
async def _running(
    environment: dict[str, str], folder: Path, clock: Path, *arguments: str
) -> AsyncGenerator[asyncio.subprocess.Process]:
    with (folder / f"{arguments[0]}.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "benchmarks.chat.process", str(clock)),
            *arguments,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=folder,
            env=environment,
        )
        try:
            yield process
        finally:
            if process.returncode is None:
                process.terminate()
                await process.wait()
