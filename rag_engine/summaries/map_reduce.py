from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_engine.errors import ContentFiltered
from rag_engine.generation.context_budget import messages_size, prompt_budget, reply_reserve
from rag_engine.summaries import prompts
from rag_engine.summaries.outline import representative
from rag_engine.summaries.quoted_notes import quoted_notes
from rag_engine.text import tokens
from rag_engine.types import Prompt, Stage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

    from rag_engine.generation.prompts import SummaryStage
    from rag_engine.summaries.notes import Note, NoteTaker
    from rag_engine.summaries.prompts import PromptBlock, Task
    from rag_engine.types import Hit, Message

STAGE = "summarise"
_WHOLE_SHARE = 0.6
_NOTES_SHARE = 0.8
_FEWEST_NOTE_TOKENS, _MOST_NOTE_TOKENS = 160, 600
_MOST_ROUNDS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Condensed:
    prompt: Prompt
    parts: int = 0
    quoted: int = 0
    """Parts that the model refused to summarise."""
    shortened: bool = False
    """Of too many parts, only the beginning of each section was read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Condenser:
    taker: NoteTaker
    task: Task
    reply_tokens: int
    ratio: float
    at_once: int
    most_parts: int

    @property
    def _budget(self) -> int:
        return prompt_budget(self.taker.model.context_tokens, self.reply_tokens, ratio=self.ratio)

    async def condense(self, hits: Sequence[Hit]) -> AsyncGenerator[Stage | Condensed]:
        """A stage before each part, then the prompt. Raises the model's errors."""
        room = self._room("whole")
        share = min(int(_WHOLE_SHARE * self._budget), room)
        made = await asyncio.to_thread(prompts.blocks, hits, room=share, count=self.taker.count)
        if sum(block.tokens for block in made) <= share and len(made) <= prompts.MOST_NUMBERED:
            listed = prompts.numbered(made)
            yield Condensed(prompt=self._prompt("whole", listed, tuple(hits)))
            return
        room = min(share, self._room("part"))
        parts = prompts.parts(made, room=room)
        everything = hits
        if len(parts) > self.most_parts:
            hits = representative(hits, most=len(hits) * self.most_parts // len(parts))
            kept = {hit.chunk.id for hit in hits}
            made = [block for block in made if block.hit.chunk.id in kept]
            parts = prompts.parts(made, room=room)
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

    async def _read(self, parts: Sequence[Sequence[PromptBlock]]) -> AsyncGenerator[Stage | list[Note]]:
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

    async def _note(self, part: Sequence[PromptBlock], number: int, of: int, reply: int) -> Note:
        hits = [block.hit for block in part]
        label = f"Part {number} of {of}."
        messages = prompts.messages("part", prompts.numbered(part), self.task, of=label)
        try:
            return await self.taker.take(messages, hits, reply_tokens=reply)
        except ContentFiltered:
            # A filtered part must not drop the others.
            return await asyncio.to_thread(quoted_notes, hits)

    async def _noted(self, notes: Sequence[Note], hits: Sequence[Hit]) -> tuple[list[str], tuple[int, ...]]:
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
                messages = prompts.messages("part", listed, self.task)
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
        return prompts.room_for(stage, self.task, budget=self._budget, count=self.taker.count)

    def _prompt(self, stage: SummaryStage, listed: Sequence[str], passages: tuple[Hit, ...]) -> Prompt:
        messages: tuple[Message, ...] = prompts.messages(stage, listed, self.task)
        return Prompt(
            messages=messages,
            passages=passages,
            tokens=messages_size(messages, self.taker.count),
            reply_tokens=reply_reserve(self.taker.model.context_tokens, self.reply_tokens),
            temperature=self.task.temperature,
        )


def numbered_notes(notes: Sequence[Note], hits: Sequence[Hit]) -> tuple[list[str], tuple[int, ...]]:
    """From 1, with their passages; evenly thinned if too many."""
    cited = list(dict.fromkeys(one for note in notes for one in note.cited))
    if len(cited) > prompts.MOST_NUMBERED:
        step = len(cited) / prompts.MOST_NUMBERED
        cited = [cited[int(place * step)] for place in range(prompts.MOST_NUMBERED)]
    numbers = {passage: number for number, passage in enumerate(cited, 1)}
    listed = [
        prompts.note(
            place, len(notes), hits[note.cited[0]].chunk.title if note.cited else "", note.text(numbers)
        )
        for place, note in enumerate(notes, 1)
    ]
    return listed, tuple(cited)


def _groups(sizes: Sequence[int], room: int) -> list[tuple[int, int]]:
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
    """The number (from 1) of the next piece whenever one is done, then all results. The first failure cancels the others."""
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
