"""Every fault during an answer: it ends once, whole or marked, and the next question is answered."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from tests.doubles.mischief import mischief, names
from tests.journeys.chat.interrupted import WHOLE, answers_again, taught
from tests.journeys.chat.scenario import Scenario, paced, scenario

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from pathlib import Path

    from tests.doubles.chat_server import Shown

pytestmark = pytest.mark.asyncio(loop_scope="module")

_QUICK = {
    "FOOTNOTE_SLACK__PING_SECONDS": "2",
    "FOOTNOTE_SLACK__DEAD_SECONDS": "2",
    "FOOTNOTE_DISCORD__RETRY_SECONDS": "0.5",
}
# last, as the bot then avoids streams for a while
_STREAMED = sorted(
    (name for name in names("slack") if "stream" in name.casefold()), key=lambda name: "startStream" in name
)
_EDITED = [name for name in names("slack") if name not in _STREAMED]
_CASES: Mapping[str, Sequence[str]] = {
    # Slack allows twenty streams and fifty edits a minute
    "slack streams": _STREAMED[::2],
    "more slack streams": _STREAMED[1::2],
    "slack edits": _EDITED[::3],
    "more slack edits": _EDITED[1::3],
    "still more slack edits": _EDITED[2::3],
    "discord": names("discord"),
}
_NEED_NOT_HAPPEN = frozenset({"conversations.replies", "conversations.info", "users.info"})
"""Known people and messages are not looked up each time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bot:
    """One channel for the disturbed answer, one for the next question."""

    town: Scenario
    troubled: str
    next: str


@dataclass(slots=True, kw_only=True)
class Bots:
    """Each bot starts on first use and runs to the end of the module."""

    folder: Path
    stack: AsyncExitStack
    running: dict[str, Bot] = field(default_factory=dict[str, Bot])

    async def of(self, name: str) -> Bot:
        if name not in self.running:
            platform = "discord" if name == "discord" else "slack"
            own = {"FOOTNOTE_SLACK__STREAMS": "false"} if name.endswith("edits") else {}
            folder = self.folder / name
            folder.mkdir()
            town = await self.stack.enter_async_context(scenario(platform, folder, **_QUICK, **own))
            self.running[name] = Bot(town=town, troubled=await taught(town), next=await taught(town))
        return self.running[name]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bots(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Bots]:
    async with AsyncExitStack() as stack:
        yield Bots(folder=tmp_path_factory.mktemp("mischief"), stack=stack)


@pytest.mark.parametrize(
    ("which", "name"), [(which, name) for which, listed in _CASES.items() for name in listed]
)
async def test_it_ends_once_and_the_next_is_answered(bots: Bots, which: str, name: str) -> None:
    bot = await bots.of(which)
    town, more, rest = bot.town, asyncio.Event(), asyncio.Event()
    logs = "".join(character if character.isalnum() else "-" for character in name)
    reply = paced("Logs are kept ", more, "for two ", rest, "weeks [1].")
    town.model.on(reply, task="answer", matching=f"{logs} logs", times=1)
    question = await town.says("ben", bot.troubled, f"@footnote How long are {logs} logs kept?")
    await town.written("ben", bot.troubled, question, "Logs are")
    await mischief(town.chat.server, name, question)
    more.set()
    await answers_again(town, bot.next, f"next-{logs}")
    rest.set()
    answer = await town.until(lambda: _whole(town, bot.troubled, question))
    assert [each.id for each in town.ours("ben", bot.troubled, question) if each.thread] == [answer.id]
    assert _NEED_NOT_HAPPEN.issuperset(town.chat.server.unspent())
    town.chat.server.repair()


def _whole(town: Scenario, room: str, question: str) -> Shown | None:
    listed = [each for each in town.answer("ben", room, question) if each.text.startswith(WHOLE)]
    return listed[0] if listed else None
