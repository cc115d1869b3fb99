"""A chat with the bot: a double of the platform, a scripted language model, and `footnote run` as a process.

People are ada (an administrator), ben and cleo. Nothing sleeps: everything waits for what a person would see.
"""

from __future__ import annotations

import asyncio
import itertools
from asyncio.subprocess import DEVNULL
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from tests.conftest import PROJECT
from tests.doubles import chats, commands
from tests.doubles.chat_server import Upload
from tests.doubles.model_servers import openai_server
from tests.doubles.model_servers.openai_server import DONE, Reply, chunk
from tests.journeys.conftest import environment

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable
    from pathlib import Path

    from tests.doubles.chat_server import Shown
    from tests.doubles.chats import Chat
    from tests.doubles.commands import Command
    from tests.doubles.model_servers.openai_server import OpenAIServer

SECONDS = 30.0
Seen = TypeVar("Seen")
OPENING = "The handbook names everything that is kept here, and for each kind of it how long that is. "
"""The start of a slow answer, longer than the text that the engine may hold back for a marker."""
STARTING_SECONDS = 60.0
STOPPING_SECONDS = 30.0


class Bot:
    def __init__(self, process: Command) -> None:
        self.process = process
        self.ready = asyncio.Event()
        self.logged = asyncio.Event()
        """Set with every log line; clear it before waiting."""
        self._lines: list[str] = []

    def log(self) -> str:
        """Its log."""
        return "".join(self._lines)

    async def until(self, predicate: Callable[[], Seen], seconds: float = SECONDS) -> Seen:
        """The first true result of the predicate. Raises `TimeoutError`."""
        async with asyncio.timeout(seconds):
            while not (seen := predicate()):
                self.logged.clear()
                await self.logged.wait()
        return seen

    async def listen(self) -> None:
        assert self.process.stderr is not None
        while line := await self.process.stderr.readline():
            self._lines.append(line.decode())
            self.logged.set()
            if '"event": "ready"' in self._lines[-1]:
                self.ready.set()


@asynccontextmanager
async def running(folder: Path, chat: Chat, **settings: str) -> AsyncGenerator[Bot]:
    """The connected bot; stopped at the end of the context."""
    own = {
        "PYTHONPATH": str(PROJECT),
        "FOOTNOTE_DATA_DIR": str(folder / "data"),
        "FOOTNOTE_EMBEDDER__KIND": "hashing",
        **chat.environment(),
        **settings,
    }
    process = await commands.start(
        "run", stdout=DEVNULL, limit=1 << 20, folder=folder, environment=environment(folder, **own)
    )
    bot = Bot(process)
    listening = asyncio.create_task(bot.listen(), name="log of the bot")
    try:
        await _ready(bot, listening)
        yield bot
    finally:
        await _stop(process)
        await listening


async def _ready(bot: Bot, listening: asyncio.Task[None]) -> None:
    """Raises with the bot's output if it ended instead."""
    waiting = asyncio.create_task(bot.ready.wait(), name="ready")
    try:
        await asyncio.wait(
            {waiting, listening}, timeout=STARTING_SECONDS, return_when=asyncio.FIRST_COMPLETED
        )
        if not bot.ready.is_set():
            raise AssertionError(f"the bot is not there; its log:\n{bot.log()}")
    finally:
        waiting.cancel()


async def _stop(process: Command) -> None:
    if process.returncode is None:
        process.terminate()
    try:
        async with asyncio.timeout(STOPPING_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
        raise


def file(name: str, text: str) -> Upload:
    """A file that a person drops."""
    return Upload(name=name, content=text.encode())


def paced(*parts: str | asyncio.Event) -> Reply:
    """A reply of the model that continues when its events are set."""
    opening = chunk({"role": "assistant", "content": ""})
    sent = [each if isinstance(each, asyncio.Event) else chunk({"content": each}) for each in parts]
    return Reply(parts=[opening, *sent, chunk(finish="stop"), DONE])


@dataclass(kw_only=True)
class Scenario:
    """One platform with its people, the bot and its model."""

    chat: Chat
    model: OpenAIServer
    bot: Bot
    folder: Path
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    # where

    def room(self, *people: str, private: bool = False) -> str:
        """A new channel with these people, or all."""
        named = [self.chat.people[name] for name in people or self.chat.people]
        return self.chat.add_room(f"room{next(self._numbers)}", named, private=private)

    def direct(self, person: str) -> str:
        """The person's direct messages with the bot."""
        return self.chat.direct(self.chat.people[person])

    # what people do

    async def says(
        self, person: str, room: str, text: str, *, thread: str = "", files: tuple[Upload, ...] = ()
    ) -> str:
        """Returns the message's id; `thread` is the root of the thread."""
        who = self.chat.people.get(person) or self.chat.bots[person]
        return await self.chat.says(who, room, text, thread=thread, files=files)

    async def clicks(self, person: str, message: Shown, button: str) -> None:
        await self.chat.clicks(self.chat.people[person], message.id, button)

    async def commands(self, person: str, room: str, line: str) -> None:
        await self.chat.commands(self.chat.people[person], room, line)

    async def knows(self, room: str, text: str, *, name: str = "handbook.md") -> None:
        """An administrator adds a file, and waits until it is searchable."""
        message = await self.says("ada", room, "@footnote", files=(file(name, text),))
        await self.until(lambda: any("searchable" in each.text for each in self.ours("ada", room, message)))

    async def stores(self, is_there: Callable[[], bool], *, seconds: float) -> None:
        """Looks after each line of the log, and five times a second: not all that is stored is logged after it."""
        async with asyncio.timeout(seconds):
            while not is_there():
                self.bot.logged.clear()
                try:
                    async with asyncio.timeout(0.2):
                        await self.bot.logged.wait()
                except TimeoutError:
                    continue

    # what people see

    def ours(self, person: str, room: str, question: str = "") -> list[Shown]:
        """The bot's messages that the person sees under a message or in the channel, oldest first."""
        who = self.chat.people[person]
        below = self.chat.visible(who, room, question) if question else []
        beside = [each for each in self.chat.visible(who, room) if not question or later(each.id, question)]
        listed = [each for each in (*below, *beside) if each.ours]
        return sorted({each.id: each for each in listed}.values(), key=lambda each: age(each.id))

    def answer(self, person: str, room: str, question: str) -> list[Shown]:
        """The messages of a finished answer, which has a Regenerate button."""
        listed = self.ours(person, room, question)
        if not listed or any(each.streaming for each in listed) or not has(listed[-1], "Regenerate"):
            return []
        return listed

    async def answered(self, person: str, room: str, question: str) -> list[Shown]:
        return await self.until(lambda: self.answer(person, room, question))

    async def written(self, person: str, room: str, question: str, expected: str) -> Shown:
        """Wait for our message with these words."""
        found = await self.until(
            lambda: [each for each in self.ours(person, room, question) if expected in words(each)]
        )
        return found[0]

    def story(self, shown: Shown) -> list[str]:
        """All versions that a person saw: status lines, then texts."""
        beside = self.chat.statuses(shown.channel, shown.thread)
        told = sorted([*beside, *shown.statuses, *shown.texts], key=lambda each: each.at)
        return [each.text for each in told if each.text.strip()]

    async def until(self, predicate: Callable[[], Seen], seconds: float = SECONDS) -> Seen:
        """The first true result of the predicate; raises with the bot's log."""
        try:
            return await self.chat.server.wait_for(predicate, seconds)
        except TimeoutError:
            raise AssertionError(f"it did not happen.\n{self._what_happened()}") from None

    def _what_happened(self) -> str:
        calls = [f"{each.method} {each.status} {each.error}" for each in self.chat.server.calls[-15:]]
        tasks = [f"{request.task}: {request.completed.is_set()}" for request in self.model.requests[-5:]]
        return "\n".join(["Calls:", *calls, "Model:", *tasks, "Log:", self.bot.log()[-6000:]])


def words(shown: Shown) -> str:
    """Without the joiners that keep file names from becoming links."""
    return shown.text.replace("\u200b", "")


def later(one: str, other: str) -> bool:
    """Whether one message is later than the other."""
    return age(one) > age(other)


def age(message: str) -> tuple[int, ...]:
    """Sort key: seconds and a number on Slack, a snowflake on Discord."""
    return tuple(int(part) for part in message.split("."))


def has(shown: Shown, button: str) -> bool:
    return any(each.label.startswith(button) for each in shown.buttons)


def speaking(model: OpenAIServer) -> dict[str, str]:
    """Settings for a bot with this model."""
    return {
        "OPENAI_BASE_URL": model.base_url,
        "OPENAI_API_KEY": "sk-test",
        "FOOTNOTE_MODEL__NAME": "scripted",
        "FOOTNOTE_MODEL__FIRST_TOKEN_SECONDS": "60",
        "FOOTNOTE_MODEL__BETWEEN_TOKENS_SECONDS": "60",
    }


@asynccontextmanager
async def scenario(
    platform: str, folder: Path, *, prepare: Callable[[Chat], None] | None = None, **settings: str
) -> AsyncGenerator[Scenario]:
    """Everything of one platform. `prepare` sees the platform before the bot starts."""
    async with chats.serve(platform) as chat, openai_server.serve() as model:
        if prepare is not None:
            prepare(chat)
        async with running(folder, chat, **{**speaking(model), **settings}) as bot:
            yield Scenario(chat=chat, model=model, bot=bot, folder=folder)
