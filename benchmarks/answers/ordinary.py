"""What tables, graphs, research, tools and the web cost a question that needs none of them: `python -m benchmarks.answers.ordinary`.

Paragraphs of HotpotQA-100 with its questions, but those for numbers, asked in turns: of an engine without these parts over
a knowledge base of the paragraphs alone, and of the whole engine over one that also has a graph of them (but `--without-graph`) and
`--sheets` sheets. The language model answers at once, or there is none (`--without-model`). Medians of the time until the first token, and of the processor time until then.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import tempfile
import time
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

from benchmarks.answers.research import questions, rows_of
from benchmarks.corpus import DATA, SETS
from bot import settings as bot_settings
from bot.composition import application
from bot.composition.layers.graph import build_graphs
from rag_engine.ingestion.blobs import blob_from_path
from rag_engine.tables.answers.requests import asks_to_compute
from rag_engine.types import Delta, KnowledgeBaseId, Query

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Mapping

    from bot.composition.components import Application
    from rag_engine.engine import Engine
    from rag_engine.types import Prompt

_PARTS = {"graph", "entity", "web"}


class ReadyModel:
    """Counts what it is asked."""

    name = "ready"
    context_tokens = 32_000
    window_is_assumed = False
    calls = 0

    @asynccontextmanager
    async def stream(self, prompt: Prompt, *, task: str) -> AsyncGenerator[AsyncIterator[str]]:
        self.calls += 1

        async def pieces() -> AsyncGenerator[str]:
            yield '{"sql": ""}' if task == "sql" else "It is there [1]."

        async with aclosing(pieces()) as opened:
            yield opened


def _without_parts(engine: Engine) -> Engine:
    kept = [step for step in engine.search_steps if step.name not in _PARTS]
    return replace(engine, search_steps=kept, computation=None, research=None, agent=None)


def _sheet(number: int) -> str:
    numbers = random.Random(number)
    rows = [f"Team {at},2025-{at % 12 + 1:02},{numbers.randint(10, 900)}" for at in range(200)]
    return "\n".join(["Team,Month,Amount", *rows])


async def _filled(opened: Application, folder: Path, name: str, files: Mapping[str, str]) -> KnowledgeBaseId:
    base = await opened.catalog.open(name, model=opened.library.embedder.model)
    for file, text in files.items():
        (folder / file).write_text(text, encoding="utf-8")
        await opened.library.ingestion.ingest(await blob_from_path(folder / file), knowledge_base=base.id)
    return base.id


async def _first_token(engine: Engine, base: KnowledgeBaseId, text: str) -> tuple[float, float]:
    """Milliseconds: waited, and of the processor."""
    started, processor = time.perf_counter(), time.process_time()
    async with aclosing(engine.answer(Query(text=text, knowledge_bases=frozenset({base})))) as events:
        async for event in events:
            if isinstance(event, Delta):
                break
    return (time.perf_counter() - started) * 1000, (time.process_time() - processor) * 1000


async def measure(
    documents: int, tables: int, most: int, rounds: int, *, has_graph: bool = True, has_model: bool = True
) -> dict[str, object]:
    folder = SETS / "hotpotqa-100"
    rows = rows_of(folder / "corpus.jsonl.gz")
    asked = questions(folder, {str(row["title"]): str(row["text"]) for row in rows})
    texts = [one.text for one in asked if not asks_to_compute(one.text)][:most]
    wanted = {title for one in asked for title in one.hops}
    rows.sort(key=lambda row: row["title"] not in wanted)
    files = {f"{row['id']}.md": f"# {row['title']}\n\n{row['text']}\n" for row in rows[:documents]}
    sheets = {f"sheet-{number}.csv": _sheet(number) for number in range(tables)}
    with tempfile.TemporaryDirectory() as directory:
        values = {"FOOTNOTE_DATA_DIR": directory, "FOOTNOTE_WEB_SEARCH__KIND": "wikipedia"}
        if has_model:
            values["FOOTNOTE_MODEL__KIND"] = "scripted"
        with patch.dict(os.environ, values):
            read = bot_settings.read()
        async with application.application(read, vectors=DATA) as opened:
            plain = await _filled(opened, Path(directory), "plain", files)
            rich = await _filled(opened, Path(directory), "rich", {**files, **sheets})
            report = None
            if has_graph:
                await opened.catalog.graph.switch(rich, "rules")
                report = await build_graphs(read, opened.library, rich)
            model = ReadyModel()
            engine = replace(opened.engine, models=[model]) if has_model else opened.engine
            ways = {"without": (_without_parts(engine), plain), "with": (engine, rich)}
            found: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
            calls = dict.fromkeys(ways, 0)
            for turn in range(rounds + 1):
                for number, text in enumerate(texts):
                    for way, (running, base) in sorted(ways.items(), reverse=bool((number + turn) % 2)):
                        before = model.calls
                        once = await _first_token(running, base, text)
                        # The first round warms what is read once.
                        if turn:
                            found[way].append(once)
                            calls[way] += model.calls - before
    medians = {
        way: {
            "waited": round(statistics.median(waited for waited, _ in each), 1),
            "processor": round(statistics.median(processor for _, processor in each), 1),
            "calls of the model per question": calls[way] / len(each),
        }
        for way, each in found.items()
    }
    ratios = {
        name: round(medians["with"][name] / medians["without"][name], 3) for name in ("waited", "processor")
    }
    return {
        "documents": len(files),
        "sheets": tables,
        "questions": len(texts),
        "graph": report and str(report),
        **medians,
        "with / without": ratios,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=400)
    parser.add_argument("--sheets", type=int, default=20)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--without-graph", action="store_true", help="tables alone")
    parser.add_argument("--without-model", action="store_true", help="answers are quoted")
    arguments = parser.parse_args()
    found = asyncio.run(
        measure(
            arguments.documents,
            arguments.sheets,
            arguments.questions,
            arguments.rounds,
            has_graph=not arguments.without_graph,
            has_model=not arguments.without_model,
        )
    )
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
