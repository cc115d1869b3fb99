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
    """A reply to prompts of `task` that contain `pattern`; empty matches all."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    task: str = ""
    pattern: str = ""


IS_LOCAL = True


class Settings(BaseModel):
    """Prepared replies for tests; the first match is used."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = "scripted"
    """Name of the model."""
    replies: tuple[ScriptedReply, ...] | Json[tuple[ScriptedReply, ...]] = ()
    """The replies, as JSON."""
    context_tokens: int = Field(default=8192, ge=512)
    """Context window in tokens."""
    pieces_per_second: float = Field(default=0, ge=0)
    """Speed of a reply; 0 sends it at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedLine:
    pieces: tuple[str, ...] = ()
    task: str = ""
    pattern: str = ""
    fault: RagError | None = None
    gates: tuple[asyncio.Event, ...] = ()
    """Gate i is awaited before piece i."""
    pieces_per_second: float = 0.0

    def fits(self, prompt: Prompt, task: str) -> bool:
        said = "\n".join(message.content for message in prompt.messages)
        return self.task in ("", task) and re.search(self.pattern, said) is not None


@asynccontextmanager
async def connect(settings: Settings, *, embedder: Embedder) -> AsyncGenerator[LanguageModel]:
    script = [
        ScriptedLine(
            pieces=tuple(_PIECE.findall(reply.text)),
            task=reply.task,
            pattern=reply.pattern,
            pieces_per_second=settings.pieces_per_second,
        )
        for reply in settings.replies
    ]
    yield ScriptedModel(script, name=settings.name, context_tokens=settings.context_tokens)


class ScriptedModel:
    def __init__(
        self, script: Sequence[ScriptedLine], *, name: str = "scripted", context_tokens: int = 8192
    ) -> None:
        self._script = tuple(script)
        self._name = name
        self._context_tokens = context_tokens
        self.prompts: list[tuple[str, Prompt]] = []
        self.open_replies = 0
        self.opened = asyncio.Event()

    @property
    def name(self) -> str:
        return self._name

    @property
    def context_tokens(self) -> int:
        return self._context_tokens

    @property
    def window_is_assumed(self) -> bool:
        return False

    @asynccontextmanager
    async def stream(self, prompt: Prompt, *, task: str) -> AsyncGenerator[AsyncIterator[str]]:
        """Raises `ModelUnavailable` if no line matches."""
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


async def _say(line: ScriptedLine) -> AsyncGenerator[str]:
    started = time.monotonic()
    for number, piece in enumerate(line.pieces):
        if number < len(line.gates):
            await line.gates[number].wait()
        if line.pieces_per_second:
            await asyncio.sleep(started + number / line.pieces_per_second - time.monotonic())
        yield piece
    if line.fault:
        raise line.fault
