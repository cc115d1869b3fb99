"""`footnote run`, killed at random moments while it answers, with every event delivered again: each question gets one
answer.

`python -m tests.faults.random_kills slack 50` prints the figures.
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests.doubles.model_servers.openai_server import DONE, Reply, chunk
from tests.faults.mortal import Mortal, mortal
from tests.journeys.chat.interrupted import HANDBOOK, WHOLE
from tests.journeys.chat.scenario import has

if TYPE_CHECKING:
    from tests.doubles.model_servers.openai_server import Part

ROOMS = 3
AT_ONCE = 2
"""So many people's questions are under way at each moment."""
SPAN = 0.9
"""Seconds from the first question within which the bot is killed: all of an answer, and a little of what comes after."""
_PIECES = ("Logs ", "are ", "kept ", "for ", "two ", "weeks ", "[1].")
_PIECE_SECONDS = 0.08


@dataclass(kw_only=True)
class Figures:
    """The results of the questions. `caught`: how far they were when the bot was killed; the others are ids."""

    moments: int = 0
    questions: int = 0
    caught: Counter[str] = field(default_factory=Counter[str])
    unanswered: list[str] = field(default_factory=list[str])
    doubled: list[str] = field(default_factory=list[str])
    orphaned: list[str] = field(default_factory=list[str])
    """Their messages look as if somebody still wrote at them."""

    @property
    def flawless(self) -> bool:
        """Whether each has exactly one whole answer."""
        return not (self.unanswered or self.doubled or self.orphaned)


async def random_kills(platform: str, folder: Path, *, moments: int, seed: int) -> Figures:
    """Kill the bot at so many moments; the figures over all that was asked, taken at the very end."""
    chance = random.Random(seed)
    figures = Figures()
    asked: list[tuple[str, str]] = []
    async with mortal(platform, folder) as bot:
        rooms = [bot.town.room() for _ in range(ROOMS)]
        for room in rooms:
            await bot.town.knows(room, HANDBOOK)
        for moment in range(moments):
            asked += await _killed(bot, chance, rooms, figures, moment)
        for room, question in asked:
            _judge(bot, room, question, figures)
    return figures


async def _killed(
    bot: Mortal, chance: random.Random, rooms: list[str], figures: Figures, moment: int
) -> list[tuple[str, str]]:
    """Some questions, a kill while they are answered, and every event once more."""
    asked: list[tuple[str, str]] = []
    for number, room in enumerate(chance.sample(rooms, AT_ONCE)):
        kind = f"kind{moment}x{number}"
        bot.town.model.on(_told_slowly(), task="answer", matching=f"{kind} logs")
        asked.append((room, await bot.town.says("ben", room, f"@footnote How long are {kind} logs kept?")))
    try:  # a moment passes, unless the bot ends by itself
        async with asyncio.timeout(chance.uniform(0, SPAN)):
            await bot.town.bot.process.wait()
    except TimeoutError:
        await bot.kill()
    figures.moments += 1
    figures.questions += len(asked)
    figures.caught.update((bot.states(question) or ["not claimed"])[0] for _, question in asked)
    await bot.start()
    for _, question in asked:
        await bot.town.chat.redelivers(question)
    await bot.settled(*(question for _, question in asked))
    return asked


def _told_slowly() -> Reply:
    """The answer, a word at a time: a part of it is shown when the bot is killed."""
    loop = asyncio.get_running_loop()
    parts: list[Part] = [chunk({"role": "assistant", "content": ""})]
    for piece in _PIECES:
        parts += [_Pause(loop), chunk({"content": piece})]
    return Reply(parts=[*parts, chunk(finish="stop"), DONE])


class _Pause(asyncio.Event):
    """Is over a moment after somebody begins to wait for it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._loop = loop

    async def wait(self) -> bool:
        self._loop.call_later(_PIECE_SECONDS, self.set)
        return await super().wait()


def _judge(bot: Mortal, room: str, question: str, figures: Figures) -> None:
    shown = bot.in_thread(room, question)
    whole = [each for each in shown if each.text.startswith(WHOLE) and has(each, "Regenerate")]
    if len(whole) != 1 or bot.states(question) != ["final"]:
        (figures.doubled if len(whole) > 1 else figures.unanswered).append(question)
    if len(shown) > len(whole) or any(each.streaming for each in shown):
        figures.orphaned.append(question)


async def _main(platform: str, moments: int, seed: int) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        figures = await random_kills(platform, Path(folder), moments=moments, seed=seed)
    print(f"{platform}, {figures.moments} moments, seed {seed}: {figures.questions} questions")
    for state, number in figures.caught.most_common():
        print(f"  {number} were {state} when the bot was killed")
    for name in ("unanswered", "doubled", "orphaned"):
        listed = getattr(figures, name)
        print(f"  {name}: {len(listed)}", *listed)
    return figures.flawless


if __name__ == "__main__":
    _platform, _moments, _seed = (*sys.argv[1:], "50", "1")[:3]
    sys.exit(not asyncio.run(_main(_platform, int(_moments), int(_seed))))
