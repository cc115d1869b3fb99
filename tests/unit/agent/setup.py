"""An engine with tools: real files, index and steps; a model whose replies to the task `agent` are a script."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from bot.composition import loader
from rag_engine.agent.agent import Agent
from rag_engine.agent.loop import AgentLimits
from rag_engine.agent.tool import Tool, ToolPorts
from rag_engine.errors import QueryRefused
from rag_engine.types import AnswerOptions, Document, DocumentId, DocumentRecord, KnowledgeBaseId
from tests.unit.research.setup import FILES, Bench, bench

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
    from pathlib import Path

    from rag_engine.pipeline import Inquiry
    from rag_engine.ports import LanguageModel
    from rag_engine.types import Answer, AnswerEvent, Hit

QUESTION = "Where does the person who leads the Aurora project work?"
ALLOWED = AnswerOptions(tools="on", agent=True)


def calling(*calls: tuple[str, Mapping[str, object]]) -> str:
    return json.dumps({"calls": [{"tool": name, "arguments": arguments} for name, arguments in calls]})


@dataclass(kw_only=True)
class Script:
    """The replies to the task `agent` in order, then "done"; the answer cites every passage."""

    replies: list[object] = field(default_factory=list[object])
    answer: Callable[[str], str] | None = None

    def __call__(self, task: str, sent: str) -> object:
        if task == "agent":
            return self.replies.pop(0) if self.replies else "done"
        return self.answer(sent) if self.answer else cited(sent)


def cited(sent: str) -> str:
    """The first line of each passage with its number."""
    lines: list[str] = []
    for piece in sent.split('<passage id="')[1:]:
        text = piece.partition(">\n")[2].partition("\n</passage>")[0].splitlines()
        lines.append(f"{text[0].rstrip('.')} [{piece.partition(chr(34))[0]}].")
    return "\n\n".join(lines) or "I did not find this."


@dataclass(kw_only=True)
class ToolBench:
    bench: Bench

    async def events(self, question: str = QUESTION, **values: object) -> list[AnswerEvent]:
        return await self.bench.events(question, **{"options": ALLOWED, **values})

    async def ask(self, question: str = QUESTION, **values: object) -> Answer:
        return await self.bench.ask(question, **{"options": ALLOWED, **values})

    @property
    def prompts(self) -> list[str]:
        """All that the task `agent` was sent, each as one text."""
        asked = self.bench.model.asked
        return [
            "\n".join(one.content for one in prompt.messages) for task, prompt in asked if task == "agent"
        ]

    async def noted(self) -> dict[str, Any]:
        trace = await self.bench.history.trace()
        assert trace is not None
        return cast("dict[str, Any]", trace.details["agent"])

    async def made(self) -> list[dict[str, Any]]:
        return (await self.noted())["made"]


async def nothing_computed(question: str, inquiry: Inquiry, model: LanguageModel) -> tuple[Hit, ...]:
    raise QueryRefused("No table holds this.")


async def records(base: KnowledgeBaseId) -> list[DocumentRecord]:
    names = FILES if base == "kb" else ("secret.md",) if base == "other" else ()
    return [
        DocumentRecord(
            document=Document(
                id=DocumentId(f"{base}/{name}"),
                knowledge_base=base,
                title=name,
                uri="",
                media_type="text/markdown",
                digest=name,
            ),
            state="ready",
            chunks=1,
        )
        for name in sorted(names)
    ]


@asynccontextmanager
async def tool_bench(
    folder: Path,
    *replies: object,
    answer: Callable[[str], str] | None = None,
    more: Sequence[Tool] = (),
    has_model: bool = True,
    **limits: float,
) -> AsyncGenerator[ToolBench]:
    async with bench(folder, Script(replies=[*replies], answer=answer), has_model=has_model) as made:
        ports = ToolPorts(contents=made.index, records=records, compute=nothing_computed)
        agent = Agent(tools=[*loader.tools(ports), *more], limits=replace(AgentLimits(), **limits))
        made.engine = replace(made.engine, agent=agent)
        yield ToolBench(bench=made)
