from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from rag_engine.errors import BadSettings
from rag_engine.generation import prompts
from rag_engine.generation.context_budget import messages_size
from rag_engine.generation.passage_blocks import passage
from rag_engine.generation.prompt_safety import attribute, neutral
from rag_engine.text import tokens
from rag_engine.types import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.generation.prompts import SummaryStage
    from rag_engine.summaries.length_and_language import LengthAndLanguage
    from rag_engine.types import Hit

MOST_NUMBERED = 900
"""A marker has at most three digits."""
_LARGEST_PART = 12_000
"""In tokens: with larger parts, models omit things."""
_SMALLEST_ROOM = 160
_NUMBER = 999
_LONGEST_REQUEST = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptBlock:
    hit: Hit
    text: str
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    question: str
    style: LengthAndLanguage
    language: str
    """Empty: that of the request."""
    focus: str = ""
    persona: str = ""
    temperature: float | None = None


def room_for(stage: SummaryStage, task: Task, *, budget: int, count: tokens.Count) -> int:
    """Tokens left for the material. Raises `BadSettings` if there is almost no room."""
    room = budget - messages_size(messages(stage, [], task), count) - 2 * count("<passages></passages>\n")
    if room < _SMALLEST_ROOM:
        raise BadSettings(
            "The language model's window is too small to summarise in: set FOOTNOTE_MODEL__CONTEXT_TOKENS to what the "
            "model really takes, or choose a model with a larger window."
        )
    return room


def blocks(hits: Sequence[Hit], *, room: int, count: tokens.Count) -> list[PromptBlock]:
    made: list[PromptBlock] = []
    for hit in hits:
        text = hit.chunk.text
        size = count(passage(_NUMBER, hit, text)) + 1
        while size > room and text:
            text = tokens.cut(text, max(count(text) - (size - room) - 8, 0), count=count).rstrip()
            size = count(passage(_NUMBER, hit, text)) + 1
        made.append(PromptBlock(hit=hit, text=text, tokens=size))
    return made


def parts(made: Sequence[PromptBlock], *, room: int) -> list[list[PromptBlock]]:
    """Of one document, cut between sections if that fills half of the room."""
    limit = min(room, _LARGEST_PART)
    found: list[list[PromptBlock]] = []
    for _, run in groupby(made, key=lambda block: block.hit.chunk.document):
        part: list[PromptBlock] = []
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


def _begins(block: PromptBlock, before: PromptBlock) -> bool:
    return block.hit.chunk.headings[:1] != before.hit.chunk.headings[:1]


def messages(stage: SummaryStage, listed: Sequence[str], task: Task, *, of: str = "") -> tuple[Message, ...]:
    tag = "notes" if stage == "notes" else "passages"
    material = "\n".join((f"<{tag}>", *listed, f"</{tag}>"))
    lines = [of, _language(stage, task), *(_form(task.style) if stage != "part" else ())]
    # Notes serve every request for a document, so only the focus is included.
    said = task.focus if stage == "part" else task.question
    persona = "" if stage == "part" else task.persona
    if said:
        lines.append(f"\nRequest:\n{neutral(_shortened(said), keep_markers=True)}")
    return (
        Message(role="system", content=prompts.summary_instructions(stage, persona)),
        Message(role="user", content="\n".join((f"{material}\n", *filter(None, lines)))),
    )


def _shortened(said: str) -> str:
    return tokens.cut_middle(said, _LONGEST_REQUEST, count=tokens.estimate)


def numbered(part: Sequence[PromptBlock]) -> list[str]:
    return [passage(number, block.hit, block.text) for number, block in enumerate(part, 1)]


def note(number: int, of: int, title: str, text: str) -> str:
    """In notes, only the markers (passage numbers) are structure."""
    return f'<note part="{number} of {of}" title="{attribute(title)}">\n{text}\n</note>'


def _language(stage: SummaryStage, task: Task) -> str:
    if stage == "part":
        return "Write in the language of the passages."
    name = prompts.language_name(task.language)
    return f"Write in {name}." if name else "Write in the language of the request."


def _form(style: LengthAndLanguage) -> list[str]:
    said: list[str] = []
    if style.words:
        said.append(f"Length: about {style.words} words, and not more.")
    if style.paragraphs:
        said.append(f"Form: {_many(style.paragraphs, 'paragraph')}.")
    if style.sentences:
        said.append(f"Length: {_many(style.sentences, 'sentence')}.")
    if style.points:
        said.append(f"Form: a list of {_many(style.points, 'bullet point')}.")
    elif style.bullets:
        said.append("Form: a list of bullet points.")
    if style.is_counted:
        return said
    if style.size == "short":
        said.append("Length: short, a few sentences.")
    elif style.size == "long":
        said.append("Length: detailed, a paragraph for each section.")
    elif not said:
        said.append("Length: one or two sentences for each section; fewer where there are many sections.")
    return said


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
