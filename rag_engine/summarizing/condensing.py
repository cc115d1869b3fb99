"""A document of any length becomes one prompt: all of it where it fits, else notes on its parts, and on those where they are many."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_engine import tokens
from rag_engine.budget import messages_size, prompt_budget, reply_reserve
from rag_engine.errors import ContentFiltered
from rag_engine.summarizing import prompting
from rag_engine.summarizing.outline import representative
from rag_engine.summarizing.quoting import quoted_notes
from rag_engine.types import Prompt, Stage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

    from rag_engine.prompts import SummaryStage
    from rag_engine.summarizing.notes import Note, NoteTaker
    from rag_engine.summarizing.prompting import Block, Task
    from rag_engine.types import Hit, Message

STAGE = "summarise"
_WHOLE_SHARE = 0.6
"""Of the budget: up to this much a document is given whole."""
_NOTES_SHARE = 0.8
_FEWEST_NOTE_TOKENS, _MOST_NOTE_TOKENS = 160, 600
_MOST_ROUNDS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Condensed:
    """The prompt, and what became of the parts."""

    prompt: Prompt
    parts: int = 0
    quoted: int = 0
    """Parts of which sentences were quoted, since the model would not summarise them."""
    shortened: bool = False
    """Only the beginning of each section was read: the parts would have been too many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Condenser:
    """Makes the prompt of a summary for one model."""

    taker: NoteTaker
    task: Task
    reply_tokens: int
    ratio: float
    at_once: int
    """Parts that are read at the same time."""
    most_parts: int

    @property
    def _budget(self) -> int:
        return prompt_budget(self.taker.model.context_tokens, self.reply_tokens, ratio=self.ratio)

    async def condense(self, hits: Sequence[Hit]) -> AsyncGenerator[Stage | Condensed]:
        """A stage whenever another part is begun with, the prompt last. Raises what the model and `room_for` raise."""
        room = self._room("whole")
        share = min(int(_WHOLE_SHARE * self._budget), room)
        made = await asyncio.to_thread(prompting.blocks, hits, room=share, count=self.taker.count)
        if sum(block.tokens for block in made) <= share and len(made) <= prompting.MOST_NUMBERED:
            listed = prompting.numbered(made)
            yield Condensed(prompt=self._prompt("whole", listed, tuple(hits)))
            return
        room = min(share, self._room("part"))
        parts = prompting.parts(made, room=room)
        everything = hits
        if len(parts) > self.most_parts:
            hits = representative(hits, most=len(hits) * self.most_parts // len(parts))
            kept = {hit.chunk.id for hit in hits}
            made = [block for block in made if block.hit.chunk.id in kept]
            parts = prompting.parts(made, room=room)
        notes: list[Note] = []
        async for item in self._read(parts):
            if isinstance(item, Stage):
                yield item
            else:
                notes = item
        quoted = sum(note.quoted for note in notes)
        listed, cited = await self._noted(notes, hits)
        passages = tuple(hits[one] for one in cited)
        yield Condensed(
            prompt=self._prompt("notes", listed, passages),
            parts=len(parts),
            quoted=quoted,
            shortened=len(hits) < len(everything),
        )

    async def _read(self, parts: Sequence[Sequence[Block]]) -> AsyncGenerator[Stage | list[Note]]:
        """Notes on the parts, which point to the passages of all of them together."""
        starts = [0]
        for part in parts:
            starts.append(starts[-1] + len(part))
        reply = self._note_tokens(len(parts))

        def reading(number: int) -> Callable[[], Awaitable[Note]]:
            async def read() -> Note:
                note = await self._note(parts[number], number + 1, len(parts), reply)
                return note.moved(range(starts[number], starts[number + 1]))

            return read

        async for item in each([reading(number) for number in range(len(parts))], at_once=self.at_once):
            yield (
                Stage(name=STAGE, detail=f"Reading part {item} of {len(parts)}…", number=item, of=len(parts))
                if isinstance(item, int)
                else item
            )

    async def _note(self, part: Sequence[Block], number: int, of: int, reply: int) -> Note:
        hits = [block.hit for block in part]
        label = f"Part {number} of {of}."
        messages = prompting.messages("part", prompting.numbered(part), self.task, of=label)
        try:
            return await self.taker.take(messages, hits, reply_tokens=reply)
        except ContentFiltered:
            # What a filter stops in one part is no reason to leave the others out.
            return await asyncio.to_thread(quoted_notes, hits)

    async def _noted(self, notes: Sequence[Note], hits: Sequence[Hit]) -> tuple[list[str], tuple[int, ...]]:
        """The notes as they are sent, and which passages their markers number; notes on notes until they fit."""
        room = int(_NOTES_SHARE * self._room("notes"))
        for _ in range(_MOST_ROUNDS):
            listed, cited = numbered_notes(notes, hits)
            if len(notes) == 1 or sum(map(self.taker.count, listed)) <= room:
                break
            groups = _groups([self.taker.count(text) for text in listed], room)
            notes = await self._fewer([notes[start:end] for start, end in groups], hits)
        else:
            listed, cited = numbered_notes(notes, hits)
        size = max(room // max(len(listed), 1), 1)
        if sum(map(self.taker.count, listed)) > room:
            listed = [tokens.cut(text, size, count=self.taker.count) for text in listed]
        return listed, cited

    async def _fewer(self, groups: Sequence[Sequence[Note]], hits: Sequence[Hit]) -> list[Note]:
        def joining(group: Sequence[Note]) -> Callable[[], Awaitable[Note]]:
            async def join() -> Note:
                listed, cited = numbered_notes(group, hits)
                passages = [hits[one] for one in cited]
                messages = prompting.messages("part", listed, self.task)
                note = await self.taker.take(messages, passages, reply_tokens=self._note_tokens(len(groups)))
                return note.moved(cited)

            return join

        notes: list[Note] = []
        async for item in each([joining(group) for group in groups], at_once=self.at_once):
            if not isinstance(item, int):
                notes = item
        return notes

    def _note_tokens(self, parts: int) -> int:
        share = int(_NOTES_SHARE * self._budget) // max(parts, 1)
        return max(_FEWEST_NOTE_TOKENS, min(_MOST_NOTE_TOKENS, share))

    def _room(self, stage: SummaryStage) -> int:
        return prompting.room_for(stage, self.task, budget=self._budget, count=self.taker.count)

    def _prompt(self, stage: SummaryStage, listed: Sequence[str], passages: tuple[Hit, ...]) -> Prompt:
        messages: tuple[Message, ...] = prompting.messages(stage, listed, self.task)
        return Prompt(
            messages=messages,
            question=self.task.question,
            passages=passages,
            tokens=messages_size(messages, self.taker.count),
            reply_tokens=reply_reserve(self.taker.model.context_tokens, self.reply_tokens),
            language=self.task.language,
            summary=self.task.wishes,
        )


def numbered_notes(notes: Sequence[Note], hits: Sequence[Hit]) -> tuple[list[str], tuple[int, ...]]:
    """The notes with their passages numbered anew, from 1, and which these are; of too many, every so many."""
    cited = list(dict.fromkeys(one for note in notes for one in note.cited))
    if len(cited) > prompting.MOST_NUMBERED:
        step = len(cited) / prompting.MOST_NUMBERED
        cited = [cited[int(place * step)] for place in range(prompting.MOST_NUMBERED)]
    numbers = {passage: number for number, passage in enumerate(cited, 1)}
    listed = [
        prompting.note(
            place, len(notes), hits[note.cited[0]].chunk.title if note.cited else "", note.text(numbers)
        )
        for place, note in enumerate(notes, 1)
    ]
    return listed, tuple(cited)


def _groups(sizes: Sequence[int], room: int) -> list[tuple[int, int]]:
    """Runs that fit the room, of two at least where they are more than one."""
    groups: list[tuple[int, int]] = []
    start = total = 0
    for place, size in enumerate(sizes):
        if place - start >= 2 and total + size > room:
            groups.append((start, place))
            start, total = place, 0
        total += size
    return [*groups, (start, len(sizes))]


async def each(
    work: Sequence[Callable[[], Awaitable[Note]]], *, at_once: int
) -> AsyncGenerator[int | list[Note]]:
    """The number (from 1) of the piece of work that comes next, whenever one is done; all results last, in order.

    The first failure ends the others, and so does whoever stops listening.
    """
    gate = asyncio.Semaphore(at_once)

    async def run(one: Callable[[], Awaitable[Note]]) -> Note:
        async with gate:
            return await one()

    tasks = [asyncio.create_task(run(one), name="summarise a part") for one in work]
    pending = set(tasks)
    try:
        while pending:
            yield len(tasks) - len(pending) + 1
            done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    yield [task.result() for task in tasks]
