"""A model whose replies are written beforehand: for tests, demonstrations and recorded conversations. Deterministic."""

from __future__ import annotations

import asyncio
import re
import time
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field, Json

from rag_engine.errors import ModelUnavailable, RagError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Sequence

    from rag_engine.ports import Embedder, LanguageModel
    from rag_engine.types import Prompt

_PIECE = re.compile(r"\s*\S{1,12}|\s+")


class ScriptedReply(BaseModel):
    """A reply to prompts of `task` in which `pattern` is found; both may be empty for any."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    task: str = ""
    pattern: str = ""


class Settings(BaseModel):
    """The replies; the first that fits is given."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = "scripted"
    replies: tuple[ScriptedReply, ...] | Json[tuple[ScriptedReply, ...]] = ()
    """In the environment: as JSON."""
    context_tokens: int = Field(default=8192, ge=512)
    pieces_per_second: float = Field(default=0, ge=0)
    """How fast a reply is told; 0: at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What is said to a prompt of `task` whose messages match `pattern`: pieces, and perhaps a fault after some of them."""

    pieces: tuple[str, ...] = ()
    task: str = ""
    pattern: str = ""
    fault: RagError | None = None
    """Raised after the pieces; with no pieces, on opening."""
    gates: tuple[asyncio.Event, ...] = ()
    """Gate i is waited for before piece i."""
    pieces_per_second: float = 0.0
    """How fast the pieces come; 0: at once."""

    def fits(self, prompt: Prompt, task: str) -> bool:
        """Whether this is the line for the prompt."""
        said = "\n".join(message.content for message in prompt.messages)
        return self.task in ("", task) and re.search(self.pattern, said) is not None


@asynccontextmanager
async def connect(settings: Settings, *, embedder: Embedder) -> AsyncGenerator[LanguageModel]:
    """A model that says what the settings have for each prompt, in pieces of a word or so."""
    script = [
        Line(
            pieces=tuple(_PIECE.findall(reply.text)),
            task=reply.task,
            pattern=reply.pattern,
            pieces_per_second=settings.pieces_per_second,
        )
        for reply in settings.replies
    ]
    yield ScriptedModel(script, name=settings.name, context_tokens=settings.context_tokens)


class ScriptedModel:
    """Gives the first line that fits; keeps every prompt it was given, and counts the replies that are open."""

    def __init__(self, script: Sequence[Line], *, name: str = "scripted", context_tokens: int = 8192) -> None:
        self._script = tuple(script)
        self._name = name
        self._context_tokens = context_tokens
        self.prompts: list[tuple[str, Prompt]] = []
        """Task and prompt of each call, in order."""
        self.open_replies = 0
        self.opened = asyncio.Event()
        """Set when a reply has been opened."""

    @property
    def name(self) -> str:
        return self._name

    @property
    def context_tokens(self) -> int:
        return self._context_tokens

    @asynccontextmanager
    async def stream(self, prompt: Prompt, *, task: str) -> AsyncGenerator[AsyncIterator[str]]:
        """Raises `ModelUnavailable` for a prompt that no line fits."""
        self.prompts.append((task, prompt))
        line = next((line for line in self._script if line.fits(prompt, task)), None)
        if line is None:
            raise ModelUnavailable(f"The script has no reply to this {task!r} prompt.")
        if line.fault and not line.pieces:
            raise line.fault
        self.open_replies += 1
        self.opened.set()
        try:
            async with aclosing(_say(line)) as pieces:
                yield pieces
        finally:
            self.open_replies -= 1


async def _say(line: Line) -> AsyncGenerator[str]:
    started = time.monotonic()
    for number, piece in enumerate(line.pieces):
        if number < len(line.gates):
            await line.gates[number].wait()
        if line.pieces_per_second:
            await asyncio.sleep(started + number / line.pieces_per_second - time.monotonic())
        yield piece
    if line.fault:
        raise line.fault
