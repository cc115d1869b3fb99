"""What understanding a follow-up costs until the first token: `python -m benchmarks.answers.understanding [--seconds 0.5]`.

The whole engine over the documents of HotpotQA-100 with the local embedder. Each question is asked as a follow-up of another one, in
turns without a model for understanding and with one whose reply ends after so many seconds: nothing for half of them, then the whole
question, three further queries and keywords, piece by piece. The answer's model begins at once. `after the reply` is the time from that reply to the first token; the first search has
ended by then. Beside it is the processor time of the steps of the pipeline.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import statistics
import tempfile
import time
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING
from unittest.mock import patch

from benchmarks.answers.research import BASE, fill, questions, rows_of
from benchmarks.corpus import DATA, SETS
from bot import settings as bot_settings
from bot.composition import application
from rag_engine.steps import understand
from rag_engine.types import ConversationId, Delta, Query, Turn, TurnId

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from rag_engine.engine import Engine
    from rag_engine.types import Prompt, Role


@dataclass(kw_only=True)
class DelayedModel:
    """Understands the current question after `seconds`, and answers at once."""

    seconds: float
    question: str = ""
    name: str = "delayed"
    context_tokens: int = 32_000
    window_is_assumed: bool = False
    understood_at: list[float] = field(default_factory=list[float])

    @asynccontextmanager
    async def stream(self, prompt: Prompt, *, task: str) -> AsyncGenerator[AsyncIterator[str]]:
        async def pieces() -> AsyncGenerator[str]:
            if task != "understand":
                yield "It is there [1]."
                return
            await asyncio.sleep(self.seconds / 2)
            pieces = re.findall(r"\s?\S{1,6}", self._reply())
            ends = [self.seconds / 2 * number / len(pieces) for number in range(1, len(pieces) + 1)]
            started = time.perf_counter()
            for piece, end in zip(pieces, ends, strict=True):
                await asyncio.sleep(max(started + end - time.perf_counter(), 0))
                self.understood_at[:] = [time.perf_counter()]
                yield piece

        async with aclosing(pieces()) as opened:
            yield opened

    def _reply(self) -> str:
        words = self.question.rstrip("?").split()
        return json.dumps(
            {
                "route": "search",
                "confidence": 0.9,
                "question": f"{self.question} Please.",
                "queries": [" ".join(words[::2]), " ".join(words[1::2]), " ".join(reversed(words))],
                "keywords": words[-2:],
            }
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstToken:
    """Milliseconds."""

    waited: float
    processor: float
    after_the_reply: float = 0.0


async def _first_token(engine: Engine, model: DelayedModel, text: str, earlier: str) -> FirstToken:
    model.question = text
    model.understood_at.clear()
    spoken: tuple[tuple[Role, str], ...] = (("user", earlier), ("assistant", "It is there."))
    said = [
        Turn(id=TurnId(role), conversation=ConversationId("one"), role=role, text=words, at=number)
        for number, (role, words) in enumerate(spoken)
    ]
    query = Query(text=f"And {text}", knowledge_bases=frozenset({BASE}), other_turns=tuple(said))
    started, processor = time.perf_counter(), time.process_time()
    async with aclosing(engine.answer(query)) as events:
        async for event in events:
            if isinstance(event, Delta):
                break
    ended = time.perf_counter()
    return FirstToken(
        waited=(ended - started) * 1000,
        processor=(time.process_time() - processor) * 1000,
        after_the_reply=(ended - model.understood_at[-1]) * 1000 if model.understood_at else 0.0,
    )


def _medians(found: list[FirstToken]) -> dict[str, float]:
    return {
        name.replace("_", " "): round(statistics.median(getattr(one, name) for one in found), 1)
        for name in ("waited", "processor", "after_the_reply")
    }


def _with_understanding(engine: Engine, model: DelayedModel | None) -> Engine:
    step = partial(
        understand.understand, settings=understand.Settings(), model=model, embedder=engine.embedder
    )
    return replace(
        engine,
        search_steps=[
            replace(each, run=step) if each.name == "understand" else each for each in engine.search_steps
        ],
    )


async def measure(seconds: float, most: int) -> dict[str, object]:
    """Medians in milliseconds."""
    folder = SETS / "hotpotqa-100"
    rows = rows_of(folder / "corpus.jsonl.gz")
    asked = questions(folder, {str(row["title"]): str(row["text"]) for row in rows})[:most]
    with tempfile.TemporaryDirectory() as directory:
        values = {"FOOTNOTE_DATA_DIR": directory, "FOOTNOTE_MODEL__KIND": "scripted"}
        with patch.dict(os.environ, values):
            read = bot_settings.read()
        async with application.application(read, vectors=DATA) as opened:
            await fill(opened.library, rows)
            model = DelayedModel(seconds=seconds)
            plain = replace(opened.engine, models=[model])
            ways = {"without": _with_understanding(plain, None), "with": _with_understanding(plain, model)}
            found: dict[str, list[FirstToken]] = {way: [] for way in ways}
            for number, question in enumerate(asked):
                for way, engine in ways.items():
                    once = await _first_token(engine, model, question.text, asked[number - 1].text)
                    found[way].append(once)
    return {
        "questions": len(asked),
        "seconds": seconds,
        **{way: _medians(each) for way, each in found.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--questions", type=int, default=100)
    arguments = parser.parse_args()
    print(json.dumps(asyncio.run(measure(arguments.seconds, arguments.questions)), indent=2))


if __name__ == "__main__":
    main()
