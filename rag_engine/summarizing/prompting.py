"""What a language model is given of a document to summarise: all of it, one part of it, or the notes on its parts. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from rag_engine import prompts, tokens
from rag_engine.budget import messages_size
from rag_engine.errors import BadSettings
from rag_engine.types import Message
from rag_engine.untrusted import attribute, neutral

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.prompts import SummaryStage
    from rag_engine.summarizing.lengths import Wishes
    from rag_engine.types import Hit

MOST_NUMBERED = 900
"""Passages of one prompt: a marker has three digits at most."""
_LARGEST_PART = 12_000
"""Tokens: of more at once, models leave things out."""
_SMALLEST_ROOM = 160
_NUMBER = 999
_LONGEST_REQUEST = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A passage as it is sent, cut only where it would not fit by itself, and how many tokens it takes."""

    hit: Hit
    text: str
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What was asked for, in words for the model."""

    question: str
    wishes: Wishes
    language: str
    """To write in; empty: that of the request."""
    focus: str = ""
    """What else was said with the request: what to look for."""


def room_for(stage: SummaryStage, task: Task, *, budget: int, count: tokens.Count) -> int:
    """Tokens that are left for what is to be summarised. Raises `BadSettings` where that is next to nothing."""
    room = budget - messages_size(messages(stage, [], task), count) - 2 * count("<passages></passages>\n")
    if room < _SMALLEST_ROOM:
        raise BadSettings(
            "The language model's window is too small to summarise in: set FOOTNOTE_MODEL__CONTEXT_TOKENS to what the "
            "model really takes, or choose a model with a larger window."
        )
    return room


def blocks(hits: Sequence[Hit], *, room: int, count: tokens.Count) -> list[Block]:
    """The passages, none of them larger than the room."""
    made: list[Block] = []
    for hit in hits:
        text = hit.chunk.text
        size = count(prompts.passage(_NUMBER, hit, text)) + 1
        while size > room and text:
            text = tokens.cut(text, max(count(text) - (size - room) - 8, 0), count=count).rstrip()
            size = count(prompts.passage(_NUMBER, hit, text)) + 1
        made.append(Block(hit=hit, text=text, tokens=size))
    return made


def parts(made: Sequence[Block], *, room: int) -> list[list[Block]]:
    """Consecutive blocks that fit the room; of one document each, and cut between sections where that fills half of it."""
    limit = min(room, _LARGEST_PART)
    found: list[list[Block]] = []
    for _, run in groupby(made, key=lambda block: block.hit.chunk.document):
        part: list[Block] = []
        size = 0
        for block in run:
            full = size + block.tokens > limit or len(part) >= MOST_NUMBERED
            if part and (full or (2 * size > limit and _begins(block, part[-1]))):
                found.append(part)
                part, size = [], 0
            part.append(block)
            size += block.tokens
        if part:
            found.append(part)
    return found


def _begins(block: Block, before: Block) -> bool:
    """Whether an outermost section begins with it."""
    return block.hit.chunk.headings[:1] != before.hit.chunk.headings[:1]


def messages(stage: SummaryStage, listed: Sequence[str], task: Task, *, of: str = "") -> tuple[Message, ...]:
    """The rules, then passages or notes with the request, which stands at the very end. `of` says which part it is."""
    tag = "notes" if stage == "notes" else "passages"
    material = "\n".join((f"<{tag}>", *listed, f"</{tag}>"))
    lines = [of, _language(stage, task), *(_form(task.wishes) if stage != "part" else ())]
    # Notes serve every request for the same document: only what to look for is said with them.
    said = task.focus if stage == "part" else task.question
    if said:
        lines.append(f"\nRequest:\n{neutral(_shortened(said), keep_markers=True)}")
    return (
        Message(role="system", content=prompts.summary_instructions(stage)),
        Message(role="user", content="\n".join((f"{material}\n", *filter(None, lines)))),
    )


def _shortened(said: str) -> str:
    return tokens.cut_middle(said, _LONGEST_REQUEST, count=tokens.estimate)


def numbered(part: Sequence[Block]) -> list[str]:
    """The blocks of passages, counted from 1."""
    return [prompts.passage(number, block.hit, block.text) for number, block in enumerate(part, 1)]


def note(number: int, of: int, title: str, text: str) -> str:
    """The notes on one part; their markers are numbers of passages already, and nothing else in them is structure."""
    return f'<note part="{number} of {of}" title="{attribute(title)}">\n{text}\n</note>'


def _language(stage: SummaryStage, task: Task) -> str:
    if stage == "part":
        return "Write in the language of the passages."
    name = prompts.language_name(task.language)
    return f"Write in {name}." if name else "Write in the language of the request."


def _form(wishes: Wishes) -> list[str]:
    """How long, in English, whatever the language of the request."""
    said: list[str] = []
    if wishes.words:
        said.append(f"Length: about {wishes.words} words, and not more.")
    if wishes.paragraphs:
        said.append(f"Form: {_many(wishes.paragraphs, 'paragraph')}.")
    if wishes.sentences:
        said.append(f"Length: {_many(wishes.sentences, 'sentence')}.")
    if wishes.points:
        said.append(f"Form: a list of {_many(wishes.points, 'bullet point')}.")
    elif wishes.bullets:
        said.append("Form: a list of bullet points.")
    if wishes.is_counted:
        return said
    if wishes.size == "short":
        said.append("Length: short, a few sentences.")
    elif wishes.size == "long":
        said.append("Length: detailed, a paragraph for each section.")
    elif not said:
        said.append("Length: one or two sentences for each section; fewer where there are many sections.")
    return said


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
