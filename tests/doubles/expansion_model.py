"""A language model that makes true summaries and questions of passages, always the same ones."""

from __future__ import annotations

import asyncio
import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from rag_engine.errors import ModelUnavailable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence

    from rag_engine.errors import RagError
    from rag_engine.types import Prompt

_PASSAGE = re.compile(r"<passage>\n(?P<text>.*)\n</passage>", re.DOTALL)


def passage_of(prompt: Prompt) -> str:
    said = prompt.messages[-1].content
    found = _PASSAGE.search(said)
    return found["text"] if found else said


def first_sentence(passage: str) -> str:
    return "Summary: " + re.split(r"(?<=[.!?])\s", passage.splitlines()[-1])[0]


class ExpansionModel:
    """`says` makes the reply of a task; an error in `faults` is raised for passages that contain its key."""

    def __init__(
        self,
        *,
        name: str = "maker",
        says: Callable[[str, str], str] | None = None,
        faults: dict[str, RagError] | None = None,
        gate: Callable[[str], asyncio.Event | None] = lambda passage: None,
    ) -> None:
        self.name = name
        self.context_tokens = 8_192
        self.window_is_assumed = False
        self.faults = faults or {}
        self.prompts: list[tuple[str, Prompt]] = []
        self.at_once = 0
        self.most_at_once = 0
        self.entered = asyncio.Semaphore(0)
        self._says = says or _said
        self._gate = gate

    @asynccontextmanager
    async def stream(self, prompt: Prompt, *, task: str) -> AsyncGenerator[AsyncIterator[str]]:
        self.prompts.append((task, prompt))
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.entered.release()
        passage = passage_of(prompt)
        try:
            if (gate := self._gate(passage)) is not None:
                await gate.wait()
            await asyncio.sleep(0)
            for part, fault in self.faults.items():
                if part in passage:
                    raise fault
            yield _pieces([self._says(task, passage)])
        finally:
            self.at_once -= 1

    def tasks(self) -> list[str]:
        return [task for task, _ in self.prompts]


def unavailable() -> RagError:
    return ModelUnavailable("The language model answered with an error (500).", backend="maker")


def _said(task: str, passage: str) -> str:
    sentence = first_sentence(passage)
    return sentence if task == "passage_summary" else f"1. What of {sentence}?\n- Why {sentence}?"


async def _pieces(texts: Sequence[str]) -> AsyncIterator[str]:
    for text in texts:
        yield text
