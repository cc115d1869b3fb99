"""The real `footnote run` and clients against doubles of Slack and Discord, with a model at 40 tokens/s.

`python -m benchmarks.chat [--quick] [--log] [slack] [discord]`
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import math
import random
import re
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.chat.town import FACTS, TOKENS_PER_SECOND, AnsweredQuestion, Town, town
from tests.doubles.chats import PLATFORMS, DiscordChat, SlackChat

if TYPE_CHECKING:
    from collections.abc import Sequence

PARALLEL = 20
ROOMS = 4
ALPHABETS = ("abcdefghijklmnopqrstuvwxyz", "äéîøßčłż", "абвгджзиклмн", "水火山木金土日月", "🧩🚲🌊🗺")
LONGEST = 30_000
_CITATION = re.compile(r"\[\d+\](?:\([^)]*\))?")


@dataclass(slots=True, kw_only=True)
class ChatFigures:
    cells: dict[str, str] = field(default_factory=dict)

    def put(self, row: str, cell: str) -> None:
        self.cells[row] = cell


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("platforms", nargs="*", default=PLATFORMS)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter answers")
    arguments = parser.parse_args()
    figures = {name: asyncio.run(measured(name, quick=arguments.quick)) for name in arguments.platforms}
    command = "python -m benchmarks.chat" + (" --quick" if arguments.quick else "")
    print(f"`{command}`, model at {TOKENS_PER_SECOND} tokens/s, everything on one machine\n")
    print("| What | At least |" + "".join(f" {name.title()} |" for name in figures))
    print("| --- | --- |" + " --- |" * len(figures))
    for row, target in ROWS.items():
        print(
            f"| {row} | {target} |" + "".join(f" {each.cells.get(row, '–')} |" for each in figures.values())
        )


ROWS = {
    "mention to placeholder, one at a time, p95": "300 ms",
    "acknowledgement of events and commands, longest": "100 ms",
    "first token to first visible text, one at a time, p95": "250 ms",
    "last token to final edit, one at a time, p95": "500 ms",
    "20 parallel answers: mention to placeholder, p95": "–",
    "20 parallel answers: first token to first visible text, p95": "3 s",
    "20 parallel answers: last token to final edit, p95": "–",
    "20 parallel answers: whole texts, edits of one, longest between two": "20",
    "20 parallel answers: 429": "0",
    "20 parallel answers: event loop late, at most (an idle process)": "100 ms",
    "20 parallel answers: memory over idle, at most": "50 MB",
    "random answers: how many, characters": "200",
    "random answers: characters lost or doubled, 429": "0",
}


async def measured(platform: str, *, quick: bool) -> ChatFigures:
    figures = ChatFigures()
    with tempfile.TemporaryDirectory() as folder:
        async with town(platform, Path(folder)) as (place, clock, idle):
            await place.furnish(ROOMS)
            await place.ask(words(TOKENS_PER_SECOND))
            await one_at_a_time(place, figures, answers=5 if quick else 20)
            await acknowledgements(place, figures)
            await in_parallel(place, figures, clock, idle, seconds=15 if quick else 60)
            await at_random(place, figures, answers=40 if quick else 200)
    return figures


async def one_at_a_time(place: Town, figures: ChatFigures, *, answers: int) -> None:
    answered = [await place.ask(words(5 * TOKENS_PER_SECOND)) for _ in range(answers)]
    figures.put(
        "mention to placeholder, one at a time, p95",
        ms(p95([each.placeholder - each.at for each in answered])),
    )
    first = p95([each.first_text - each.script.first for each in answered])
    figures.put("first token to first visible text, one at a time, p95", ms(first))
    last = p95([each.final - each.script.last for each in answered])
    figures.put("last token to final edit, one at a time, p95", ms(last))


async def acknowledgements(place: Town, figures: ChatFigures) -> None:
    """Commands, and every event so far."""
    ada = place.chat.people["ada"]
    for _ in range(20):
        await place.chat.commands(ada, place.rooms[0], "/kb list")
        await asyncio.sleep(0.2)
    chat = place.chat
    if isinstance(chat, SlackChat):
        seconds = [each.seconds for each in chat.server.wire.deliveries if each.done.is_set()]
    else:
        assert isinstance(chat, DiscordChat)
        seconds = [each.seconds for each in chat.server.interactions.values()]
    figures.put("acknowledgement of events and commands, longest", f"{ms(max(seconds))} of {len(seconds)}")


async def in_parallel(place: Town, figures: ChatFigures, clock: Path, idle: Path, *, seconds: float) -> None:
    await asyncio.sleep(5)
    refused, before, began = place.too_many(), place.resident(), time.monotonic()
    scripts = [words(int(seconds * TOKENS_PER_SECOND)) for _ in range(PARALLEL)]
    asking = asyncio.gather(*(place.ask(script) for script in scripts))
    most = await _watched(place, asking)
    answered = await asking
    ended = time.monotonic()
    row = "20 parallel answers: "
    figures.put(
        row + "mention to placeholder, p95", ms(p95([each.placeholder - each.at for each in answered]))
    )
    first = p95([each.first_text - each.script.first for each in answered])
    figures.put(row + "first token to first visible text, p95", ms(first))
    figures.put(
        row + "last token to final edit, p95", ms(p95([each.final - each.script.last for each in answered]))
    )
    whole = sum(not differences(each) for each in answered)
    edits = [[text.at for message in each.shown for text in message.texts] for each in answered]
    waits = [
        later - earlier
        for times in edits
        for earlier, later in zip(sorted(times), sorted(times)[1:], strict=False)
    ]
    fewest = min(len(times) for times in edits)
    figures.put(
        row + "whole texts, edits of one, longest between two",
        f"{whole} of {len(answered)}, {fewest} to {max(len(times) for times in edits)}, {max(waits):.1f} s",
    )
    figures.put(row + "429", counted(place.too_many() - refused))
    figures.put(
        row + "event loop late, at most (an idle process)",
        f"{ms(late(clock, began, ended))} ({ms(late(idle, began, ended))})",
    )
    figures.put(
        row + "memory over idle, at most", f"{(most - before) / 2**20:.0f} MB over {before / 2**20:.0f} MB"
    )


async def _watched(place: Town, asking: asyncio.Future[list[AnsweredQuestion]]) -> int:
    """Peak memory of the bot meanwhile."""
    most = place.resident()
    while not asking.done():
        most = max(most, place.resident())
        await asyncio.sleep(0.25)
    return most


async def at_random(place: Town, figures: ChatFigures, *, answers: int) -> None:
    refused = place.too_many()
    chance = random.Random(11)
    turns = asyncio.Semaphore(PARALLEL)

    async def ask(number: int) -> AnsweredQuestion:
        pieces = random_answer(chance, number)
        async with turns:
            return await place.ask(pieces, rate=4000, at_once=100, seconds=1800)

    answered = await asyncio.gather(*(ask(number) for number in range(answers)))
    characters = sum(len(each.script.text) for each in answered)
    wrong = sum(differences(each) for each in answered)
    figures.put("random answers: how many, characters", f"{len(answered)}, {characters:,}")
    refusals = counted(place.too_many() - refused)
    figures.put("random answers: characters lost or doubled, 429", f"{wrong}, {refusals}")


# --- texts


def words(count: int) -> list[str]:
    """About `count` tokens of cited sentences from the handbook, with a unique beginning and end."""
    first, *middle, last = (f"{fact[:-1]} [1].".split() for fact in FACTS)
    answered = list(first)
    for sentence in itertools.cycle(middle):
        if len(answered) + len(last) >= count:
            break
        answered += sentence
    return [f"{word} " for word in answered + last[:-2]] + [" ".join(last[-2:])]


def random_answer(chance: random.Random, number: int) -> list[str]:
    """Paragraphs, lists, headings and code, from short to 30,000 characters."""
    length = int(math.exp(chance.uniform(math.log(100), math.log(LONGEST))))
    if number % 10 == 0:
        length = LONGEST
    # Where nothing rests on a file, "not found" is shown.
    blocks = [f"Beginning{number}", f"{FACTS[0][:-1]} [1].", _block(chance)]
    used = sum(map(len, blocks))
    while used < length - 1200:
        blocks.append(_block(chance))
        used += len(blocks[-1]) + 2
    text = "\n\n".join([*blocks, f"Ending{number}"])
    cuts = sorted(chance.choices(range(len(text)), k=len(text) // 5))
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def _block(chance: random.Random) -> str:
    kind = chance.choice(("paragraph", "paragraph", "list", "code", "heading"))
    if kind == "heading":
        return "## " + _words(chance, 4)
    if kind == "list":
        return "\n".join("- " + _words(chance, chance.randint(1, 12)) for _ in range(chance.randint(1, 8)))
    if kind == "code":
        lines = (_words(chance, chance.randint(1, 8)) for _ in range(chance.randint(1, 8)))
        return "```\n" + "\n".join(lines) + "\n```"
    return _words(chance, chance.randint(5, 120))


def _words(chance: random.Random, count: int) -> str:
    made = ("".join(chance.choices(chance.choice(ALPHABETS), k=chance.randint(1, 9))) for _ in range(count))
    return " ".join(made)


def differences(asked: AnsweredQuestion) -> int:
    """Characters not shown exactly once and in order, ignoring Markdown and white space."""
    answered, shown = letters(asked.script.text), letters(asked.text)
    last = [word for word in map(letters, asked.script.text.split()) if word][-1]
    if shown.startswith(answered) and last not in shown[len(answered) :]:
        return 0
    return max(
        1,
        sum(
            (
                (Counter(answered) - Counter(shown)) + (Counter(shown[: len(answered)]) - Counter(answered))
            ).values()
        ),
    )


def letters(text: str) -> str:
    """The text without citation markers, Markdown and white space."""
    bare = _CITATION.sub("", text)
    return "".join(character for character in bare if character.isalnum() or character > "\uffff")


# --- figures


def late(file: Path, began: float, ended: float) -> float:
    """Maximum lag of the event loop in the interval, in seconds."""
    lines = (line.split() for line in file.read_text(encoding="ascii").splitlines())
    return max((float(each[1]) for each in lines if began <= float(each[0]) <= ended), default=0.0)


def p95(values: Sequence[float]) -> float:
    return sorted(values)[math.ceil(len(values) * 0.95) - 1]


def counted(calls: Counter[str]) -> str:
    which = ", ".join(f"{count} {name}" for name, count in calls.items())
    return f"{calls.total()} ({which})" if which else "0"


def ms(seconds: float) -> str:
    return f"{seconds * 1e3:,.0f} ms"


if __name__ == "__main__":
    main()
