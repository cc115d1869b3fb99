"""What research finds beside one search: `python -m benchmarks.answers.research [--questions N]`.

HotpotQA-100 (two documents answer each question) is asked twice of the whole engine: ordinarily, and as `/research`. The language
model is scripted. As a planner that knows the hops it asks for the first supporting document by the question, and for the second
by name once the first is found; it extracts the supporting sentences from the passages it is shown, if they are there, and cites
them. Asked ordinarily it cites every passage that it is shown and that supports the answer: the most that one search can give.

Prints the share of questions with both documents among the cited, the searches, calls and tokens, and the seconds of each.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
import re
import statistics
import tempfile
import time
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast
from unittest.mock import patch

from benchmarks.corpus import DATA, SETS
from bot import settings as bot_settings
from bot.composition import application
from rag_engine.text.sentences import split_sentences
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
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Sequence
    from pathlib import Path

    from rag_engine.engine import Engine
    from rag_engine.types import Prompt

BASE = KnowledgeBaseId("hotpotqa")
_PASSAGE = re.compile(r'<passage id="(\d+)"([^>]*)>\n(.*?)\n</passage>', re.DOTALL)
_TITLE = re.compile(r'title="([^"]*)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class HopQuestion:
    id: str
    text: str
    hops: tuple[str, str]
    """The titles of the two documents."""
    sentences: dict[str, str]
    """The supporting sentence by title."""


@dataclass(kw_only=True)
class HopPlanner:
    """A language model that knows which documents answer the current question, and reads only what it is sent."""

    question: HopQuestion | None = None
    name: str = "planner"
    context_tokens: int = 32_000
    window_is_assumed: bool = False
    calls: int = 0
    known: dict[str, HopQuestion] = field(default_factory=dict[str, HopQuestion])

    @asynccontextmanager
    async def stream(self, prompt: Prompt, *, task: str) -> AsyncGenerator[AsyncIterator[str]]:
        self.calls += 1
        text = self._reply(task, prompt.messages[-1].content)

        async def pieces() -> AsyncGenerator[str]:
            yield text

        async with aclosing(pieces()) as opened:
            yield opened

    def _reply(self, task: str, sent: str) -> str:
        question = self.question
        assert question is not None
        shown = _shown(sent, question)
        match task:
            case "subqueries":
                return json.dumps({"questions": [question.text]})
            case "extract":
                facts = [{"fact": question.sentences[title], "passages": [n]} for title, n in shown.items()]
                return json.dumps({"facts": facts})
            case "sufficiency":
                missing = [
                    title for title in question.hops if _plain(question.sentences[title]) not in _plain(sent)
                ]
                asked = [f"What is {title}?" for title in missing]
                return json.dumps({"sufficient": not missing, "missing": missing, "questions": asked})
            case _:
                cited = [f"{question.sentences[title]} [{n}]" for title, n in shown.items()]
                return "\n\n".join(cited) or "I did not find this."


def _shown(sent: str, question: HopQuestion) -> dict[str, int]:
    """The supporting documents among the passages of a prompt, with their numbers."""
    found: dict[str, int] = {}
    title = ""
    for piece in re.finditer(r"<document([^>]*)>|" + _PASSAGE.pattern, sent, re.DOTALL):
        named = _TITLE.search(piece[1] or piece[3] or "")
        title = named[1] if named else title
        if piece[2]:
            for hop in question.hops:
                if _plain(hop) == _plain(title) and _plain(question.sentences[hop])[:60] in _plain(piece[4]):
                    found.setdefault(hop, int(piece[2]))
    return found


def _plain(text: str) -> str:
    return re.sub(r"\W+", " ", text.replace("&quot;", " ").replace("&amp;", " ")).casefold().strip()


def rows_of(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def questions(folder: Path, texts: dict[str, str]) -> list[HopQuestion]:
    """With the documents in the order of the judgements."""
    made: list[HopQuestion] = []
    for row in rows_of(folder / "queries.jsonl.gz"):
        supporting = cast("list[tuple[str, int]]", row["meta"]["supporting"])
        hops = list(dict.fromkeys(title for title, _ in supporting))
        sentences = {title: _sentence(texts[title], number) for title, number in reversed(supporting)}
        made.append(HopQuestion(id=row["id"], text=row["text"], hops=(hops[0], hops[1]), sentences=sentences))
    return made


def _sentence(text: str, number: int) -> str:
    listed = [one.strip() for one in split_sentences(text) if one.strip()]
    return listed[min(number, len(listed) - 1)][:380]


async def fill(library: Any, rows: Sequence[dict[str, Any]]) -> None:
    texts = [f"{row['title']}\n\n{row['text']}" for row in rows]
    vectors = await library.cached_embedder.embed(texts, side="passage")
    for row, vector in zip(rows, vectors, strict=True):
        document = Document(
            id=DocumentId(str(row["id"])),
            knowledge_base=BASE,
            title=str(row["title"]),
            uri=f"file:///{row['id']}",
            media_type="text/plain",
            digest=str(row["id"]),
        )
        chunk = Chunk(
            id=ChunkId(str(row["id"])),
            document=document.id,
            knowledge_base=BASE,
            ordinal=0,
            text=str(row["text"]),
            title=str(row["title"]),
            uri=document.uri,
            language="en",
        )
        await library.index.put(document, [(chunk, vector)])


async def _asked(
    engine: Engine, planner: HopPlanner, listed: Sequence[HopQuestion], *, research: bool
) -> dict[str, object]:
    both, searches, tokens, calls, seconds = 0, list[float](), list[float](), list[int](), list[float]()
    for number, question in enumerate(listed):
        planner.question, planner.calls = question, 0
        query = Query(
            text=question.text,
            knowledge_bases=frozenset({BASE}),
            conversation=ConversationId(f"{research}:{number}"),
            options=AnswerOptions(research=research),
        )
        started = time.perf_counter()
        async with aclosing(engine.answer(query)) as events:
            answer = [event async for event in events][-1]
        assert isinstance(answer, Answer)
        seconds.append(time.perf_counter() - started)
        cited = {citation.title for citation in answer.citations}
        both += cited >= set(question.hops)
        calls.append(planner.calls)
        spent = cast("dict[str, float]", answer.research)
        searches.append(spent.get("searches", 1))
        tokens.append(spent.get("tokens", 0) + answer.prompt_tokens)
    return {
        "both documents cited": round(both / len(listed), 3),
        "searches": {"mean": round(statistics.mean(searches), 2), "most": max(searches)},
        "calls": {"mean": round(statistics.mean(calls), 2), "most": max(calls)},
        "tokens": {"mean": round(statistics.mean(tokens)), "most": max(tokens)},
        "seconds": {"median": round(statistics.median(seconds), 3), "most": round(max(seconds), 3)},
    }


async def measure(most: int, *, others: int | None = None, **settings: str) -> dict[str, Any]:
    """Both ways of asking. `others`: only so many documents that answer nothing."""
    folder = SETS / "hotpotqa-100"
    rows = rows_of(folder / "corpus.jsonl.gz")
    texts = {str(row["title"]): str(row["text"]) for row in rows}
    listed = questions(folder, texts)[:most]
    wanted = {title for question in listed for title in question.hops}
    rows.sort(key=lambda row: row["title"] not in wanted)
    rows = rows if others is None else rows[: len(wanted) + others]
    with tempfile.TemporaryDirectory() as directory:
        values = {"FOOTNOTE_DATA_DIR": directory, "FOOTNOTE_MODEL__KIND": "scripted", **settings}
        with patch.dict(os.environ, values):
            read = bot_settings.read()
        async with application.application(read, vectors=DATA) as opened:
            await fill(opened.library, rows)
            planner = HopPlanner()
            engine = replace(opened.engine, models=[planner])
            ordinary = await _asked(engine, planner, listed, research=False)
            researched = await _asked(engine, planner, listed, research=True)
    return {"questions": len(listed), "one search": ordinary, "research": researched}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--questions", type=int, default=100)
    arguments = parser.parse_args()
    print(json.dumps(asyncio.run(measure(arguments.questions)), indent=2))


if __name__ == "__main__":
    main()
