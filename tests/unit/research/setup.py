"""A researching engine: real files, index, history and steps; a model whose replies are functions of what it is sent."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from rag_engine.embedders import hashing
from rag_engine.engine import Engine
from rag_engine.errors import IndexUnavailable
from rag_engine.indexes import embedded
from rag_engine.models import extractive
from rag_engine.pipeline import NamedStep
from rag_engine.ports import IndexIdentity, Ports
from rag_engine.research.budget import ResearchLimits
from rag_engine.research.research import Research
from rag_engine.steps import context, evidence, fuse, pack, retrieve, understand
from rag_engine.storage.history import SqliteHistory
from rag_engine.storage.research_findings import SqliteFindings
from rag_engine.storage.sqlite.database import connect
from rag_engine.text import analyzer
from rag_engine.types import (
    Answer,
    AnswerOptions,
    Chunk,
    ChunkId,
    ConversationId,
    Document,
    DocumentId,
    KnowledgeBaseId,
    Query,
    TurnId,
)
from rag_engine.wrappers.delegation import DelegatingIndex

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
    from pathlib import Path

    from rag_engine.types import AnswerEvent, Prompt, Ranking, Search

FILES = {
    "projects.md": "The Aurora project is led by Nadia Petrov since March 2024.",
    "people.md": "Nadia Petrov works in the Lisbon office of the company.",
    "offices.md": "The Lisbon office has the address Rua Augusta 17 and opens at nine.",
    "canteen.md": "The canteen serves soup and bread on every Friday.",
    "parking.md": "Parking permits cost forty euros and are given out by reception.",
    **{
        f"minutes-{number}.md": f"Item {number}: the council spoke about {thing} and put it off to {month}."
        for number, (thing, month) in enumerate(
            zip(
                ("lamps", "chairs", "paint", "windows", "lifts", "carpets", "doors", "heating"),
                ("January", "April", "May", "June", "July", "August", "October", "December"),
                strict=True,
            ),
            1,
        )
    },
}
QUESTION = "Where does the person who leads the Aurora project work?"
HOPS = ("Who leads the Aurora project?", "Where does Nadia Petrov work?")
FACTS = {
    HOPS[0]: "Nadia Petrov leads the Aurora project.",
    HOPS[1]: "Nadia Petrov works in the Lisbon office.",
}


@dataclass(kw_only=True)
class ReplyingModel:
    """`reply` is called with the task and the last message; an exception that it returns is raised."""

    reply: Callable[[str, str], object]
    name: str = "replying"
    context_tokens: int = 32_000
    window_is_assumed: bool = False
    hangs: str = ""
    """The task whose replies never come."""
    asked: list[tuple[str, Prompt]] = field(default_factory=list["tuple[str, Prompt]"])

    @property
    def tasks(self) -> list[str]:
        return [task for task, _ in self.asked]

    def sent(self, task: str) -> list[str]:
        return [prompt.messages[-1].content for name, prompt in self.asked if name == task]

    @asynccontextmanager
    async def stream(self, prompt: Prompt, *, task: str) -> AsyncGenerator[AsyncIterator[str]]:
        self.asked.append((task, prompt))
        if task == self.hangs:
            await asyncio.Event().wait()
        said = self.reply(task, prompt.messages[-1].content)
        if isinstance(said, Exception):
            raise said
        text = said if isinstance(said, str) else json.dumps(said)

        async def pieces() -> AsyncGenerator[str]:
            await asyncio.sleep(0)
            for start in range(0, len(text), 1_000_000):
                yield text[start : start + 1_000_000]

        async with aclosing(pieces()) as opened:
            yield opened


@dataclass(frozen=True, slots=True)
class FlakyIndex(DelegatingIndex):
    """Fails searches whose tokens hold one of `broken`, and counts all."""

    broken: set[str] = field(default_factory=set[str])
    searched: list[Sequence[Search]] = field(default_factory=list["Sequence[Search]"])

    async def search(self, searches: Sequence[Search]) -> list[Ranking]:
        self.searched.append(searches)
        if any(self.broken & set(search.tokens) for search in searches):
            raise IndexUnavailable("The index does not answer.")
        return await self.index.search(searches)


@dataclass(kw_only=True)
class Bench:
    engine: Engine
    model: ReplyingModel
    index: FlakyIndex
    history: SqliteHistory
    findings: SqliteFindings

    async def events(self, question: str = QUESTION, *bases: str, **values: object) -> list[AnswerEvent]:
        query = Query(
            text=question,
            knowledge_bases=frozenset(map(KnowledgeBaseId, bases or ("kb",))),
            conversation=ConversationId("c"),
            scope="files",
            options=AnswerOptions(research=True),
        )
        query = replace(query, **values)  # type: ignore[arg-type]
        async with asyncio.timeout(60), aclosing(self.engine.answer(query)) as answering:
            return [event async for event in answering]

    async def ask(self, question: str = QUESTION, *bases: str, **values: object) -> Answer:
        answer = (await self.events(question, *bases, **values))[-1]
        assert isinstance(answer, Answer)
        return answer

    async def noted(self) -> dict[str, Any]:
        """What the newest trace says of the research."""
        trace = await self.history.trace()
        assert trace is not None
        return cast("dict[str, Any]", trace.details["research"])

    async def add(self, title: str, text: str, *, base: str = "kb") -> None:
        document = Document(
            id=DocumentId(f"{base}/{title}"),
            knowledge_base=KnowledgeBaseId(base),
            title=title,
            uri=f"chat://{base}/{title}",
            media_type="text/markdown",
            digest=title,
        )
        chunk = Chunk(
            id=ChunkId(f"{base}/{title}#0"),
            document=document.id,
            knowledge_base=document.knowledge_base,
            ordinal=0,
            text=text,
            title=title,
            language="en",
        )
        vectors = await self.engine.embedder.embed([text], side="passage")
        await self.index.put(document, [(chunk, vectors[0])])


def two_hops(task: str, sent: str) -> object:
    """As a planner that learns the second hop from the first one's fact."""
    if task == "subqueries":
        return {"questions": [HOPS[0]]}
    if task == "extract":
        return {"facts": facts_in(sent)}
    if task == "sufficiency":
        if FACTS[HOPS[1]] in sent:
            return {"sufficient": True, "missing": [], "questions": []}
        return {"sufficient": False, "missing": ["her office"], "questions": [HOPS[1]]}
    return written(sent)


def facts_in(sent: str) -> list[object]:
    part = sent.rpartition("Part:\n")[2].strip()
    fact = FACTS.get(part)
    names = {HOPS[0]: "projects.md", HOPS[1]: "people.md"}
    number = number_of(sent, names.get(part, ""))
    return [{"fact": fact, "passages": [number]}] if fact and number else []


def number_of(sent: str, title: str) -> int:
    """Of the passage of this file in a prompt; 0 if it is not there."""
    for piece in sent.split('<passage id="')[1:]:
        head, _, _ = piece.partition(">")
        if f'title="{title}"' in head:
            return int(piece.partition('"')[0])
    return 0


def written(sent: str) -> str:
    """A report of the findings, each with its numbers."""
    found = sent.partition("<findings>")[2].partition("</findings>")[0]
    lines = [line.removeprefix("- ") for line in found.splitlines() if line.startswith("- ")]
    return "## Found\n\n" + "\n\n".join(lines) if lines else "I did not find this."


@asynccontextmanager
async def bench(
    folder: Path, reply: Callable[[str, str], object] = two_hops, *, has_model: bool = True, **limits: float
) -> AsyncGenerator[Bench]:
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(connect(folder / "footnote.sqlite"))
        embedder = await stack.enter_async_context(hashing.connect(hashing.Settings(), data_dir=folder))
        identity = IndexIdentity(
            model=embedder.model, dimensions=embedder.dimensions, analyzer=analyzer.VERSION
        )
        opened = await stack.enter_async_context(
            embedded.connect(embedded.Settings(), data_dir=folder, identity=identity)
        )
        quoting = await stack.enter_async_context(
            extractive.connect(extractive.Settings(), embedder=embedder)
        )
        index, model = FlakyIndex(opened), ReplyingModel(reply=reply)
        ports = Ports(embedder=embedder, index=index, contents=index, model=model if has_model else None)
        findings = SqliteFindings(database)

        def steps(*modules: object) -> list[NamedStep]:
            return [
                NamedStep(
                    name=module.__name__.rpartition(".")[2],  # type: ignore[attr-defined]
                    run=module.build(module.Settings(), ports),  # type: ignore[attr-defined]
                )
                for module in modules
            ]

        engine = Engine(
            search_steps=steps(understand, retrieve, fuse),
            prompt_steps=steps(evidence, context, pack),
            models=[model] if has_model else [],
            answerer=quoting,
            embedder=embedder,
            history=SqliteHistory(database),
            research=Research(
                embedder=embedder,
                contents=index,
                store=findings,
                limits=replace(ResearchLimits(), **limits),
            ),
        )
        made = Bench(
            engine=engine, model=model, index=index, history=SqliteHistory(database), findings=findings
        )
        for title, text in FILES.items():
            await made.add(title, text)
        yield made


TURN = TurnId("turn-1")
