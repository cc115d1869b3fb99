"""Computed questions over many tables: `python -m benchmarks.answers.table_questions [--half held_out|fresh|fourth|...|thirteenth|...|twenty_eighth] [--by rules sql] [--direct] [--made] [--verbose]`.

`rules`: without a language model; `sql`: with one that writes the right SELECT. All files of a half are in one knowledge base.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import json
import os
import re
import tempfile
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from bot import settings
from bot.composition import application as composition
from rag_engine.errors import QueryRefused, QueryTooHeavy
from rag_engine.ingestion.ingestion import blob_from_path
from rag_engine.tables import rules
from rag_engine.tables.execution import TableQueries
from rag_engine.tables.store import TableStore
from rag_engine.tables.types import QueryRefusal, WrittenQuery
from rag_engine.types import Answer, Query
from tests.doubles.model_servers import openai_server
from tests.tables.computed import strangers
from tests.tables.computed.classification import ShownAnswer, Verdict, verdict
from tests.tables.computed.question_set import UnknownName, resolved
from tests.tables.stored import stored_tables

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from tests.tables.computed.question_set import ComputedQuestion, QuestionSet

VERDICTS: tuple[Verdict, ...] = ("right", "warned", "wrong", "refused", "quoted")

_HALVES = (
    *("development", "held_out", "fresh", "fourth", "fifth", "sixth", "seventh", "eighth"),
    *("ninth", "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth"),
    *strangers.NAMES,
)
_SCRIPTED = {"FOOTNOTE_MODEL__NAME": "scripted"}


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedAnswer:
    question: ComputedQuestion
    verdict: Verdict
    shown: str


async def direct(half: QuestionSet, by: str, folder: Path) -> AsyncGenerator[JudgedAnswer]:
    files = folder / "files"
    files.mkdir()
    half.write_all(files)
    _, stored = await stored_tables(folder / "tables", sorted(files.iterdir()))
    tables, queries = [one.table for one in stored], TableQueries()
    for question in half.questions():
        if by == "sql" and not question.sql:
            continue
        shown, note = ShownAnswer(text=""), ""
        try:
            written = rules.write(question.text, tables) if by == "rules" else resolved(question, tables)
            if isinstance(written, QueryRefusal):
                note = f"{written.missing} {written.name} {written.available[:6]}"
            else:
                ruled = WrittenQuery(sql=written) if isinstance(written, str) else written
                answer = await queries.run(ruled.sql, stored)
                text = "\n".join(" | ".join(map(str, row)) for row in answer.rows)
                note = f"{answer.sql} -> {text[:200]!r} {[one.kind for one in answer.warnings]}"
                if len(answer.rows) <= ruled.most_rows:
                    warnings = sum(one.kind != "totals_left_out" for one in answer.warnings)
                    shown = ShownAnswer(
                        text=text,
                        rows=answer.rows,
                        warnings=warnings + bool(ruled.unread),
                        cited=any(source.count for source in answer.sources),
                    )
        except (UnknownName, QueryRefused, QueryTooHeavy) as error:
            note = f"{type(error).__name__}: {error}"
        yield JudgedAnswer(question=question, verdict=verdict(question, shown), shown=note)


async def asked(half: QuestionSet, by: str, folder: Path) -> AsyncGenerator[JudgedAnswer]:
    files = folder / "files"
    files.mkdir()
    half.write_all(files)
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(openai_server.serve()) if by == "sql" else None
        if server is not None:
            os.environ |= {"OPENAI_API_KEY": "sk-made", "OPENAI_BASE_URL": server.base_url, **_SCRIPTED}
        chosen = settings.read().model_copy(update={"data_dir": folder / "data"})
        application = await stack.enter_async_context(composition.application(chosen))
        base = await application.catalog.open("tables", model=application.library.embedder.model)
        for path in sorted(files.iterdir()):
            added = await application.library.ingestion.ingest(
                await blob_from_path(path), knowledge_base=base.id
            )
            if added.record.state != "ready":
                print(f"{path.name}: {added.record.reason}")
        stored = await TableStore(chosen.data_dir / "tables").tables({}, beside=[base.id], most=1000)
        for question in half.questions():
            if server is not None:
                try:
                    sql = resolved(question, [one.table for one in stored]) if question.sql else ""
                except UnknownName as error:
                    yield JudgedAnswer(question=question, verdict="refused", shown=f"UnknownName: {error}")
                    continue
                pattern = re.escape(json.dumps(question.text, ensure_ascii=False)[1:-1])
                server.on(openai_server.whole(json.dumps({"sql": sql})), task="sql", matching=pattern)
            query = Query(text=question.text, knowledge_bases=frozenset({base.id}))
            answer = [event async for event in application.engine.answer(query) if isinstance(event, Answer)][
                -1
            ]
            yield JudgedAnswer(
                question=question, verdict=verdict(question, _shown(answer)), shown=answer.text
            )


def _shown(answer: Answer) -> ShownAnswer:
    computed = answer.computed
    quotes = [line for line in answer.text.split("\n") if "[1]" in line or line.startswith(">")]
    return ShownAnswer(
        text=answer.text,
        rows=None if computed is None else computed.rows,
        quotes=quotes or [citation.quote for citation in answer.citations],
        warnings=sum(one.kind != "totals_left_out" for one in computed.warnings) if computed else 0,
        cited=bool(answer.citations),
    )


def table(asked_questions: Sequence[JudgedAnswer]) -> str:
    """By kind and by language."""
    lines = [f"{'':10} {'asked':>6} {' '.join(f'{name:>8}' for name in VERDICTS)}"]
    kinds = dict.fromkeys(f"{one.question.kind}" for one in asked_questions)
    languages = dict.fromkeys(one.question.language for one in asked_questions)
    for name in (*kinds, "computed", *languages, "all"):
        own = [
            one
            for one in asked_questions
            if name in (one.question.kind, one.question.language, "all")
            or (name == "computed" and one.question.kind not in ("lookup", "none"))
        ]
        counts = Counter(one.verdict for one in own)
        lines.append(f"{name:10} {len(own):6} {' '.join(f'{counts[each]:8}' for each in VERDICTS)}")
    return "\n".join(lines)


def _set(name: str) -> QuestionSet:
    if name in strangers.NAMES:
        return strangers.stranger_set(name)
    found: QuestionSet = getattr(importlib.import_module(f"tests.tables.computed.{name}"), name.upper())
    return found


def _made(half: QuestionSet) -> QuestionSet:
    questions = [one for one in half.questions() if set(one.files) <= set(half.makers)]
    return replace(half, real={}, questions=lambda: questions)


async def measure(half: str, by: str, *, is_direct: bool, is_made: bool) -> list[JudgedAnswer]:
    chosen = _set(half)
    if is_made:
        chosen = _made(chosen)
    with tempfile.TemporaryDirectory() as folder:
        run = (direct if is_direct else asked)(chosen, by, Path(folder))
        return [one async for one in run]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--half",
        choices=_HALVES,
        default="development",
    )
    parser.add_argument("--by", nargs="+", choices=("rules", "sql"), default=["rules", "sql"])
    parser.add_argument("--direct", action="store_true", help="without engine and index")
    parser.add_argument("--made", action="store_true", help="without the real files: one has 30,000 rows")
    parser.add_argument("--verbose", action="store_true", help="also every answer that is not right")
    parser.add_argument("--everything", action="store_true", help="also every answer")
    arguments = parser.parse_args()
    for by in arguments.by:
        found = asyncio.run(measure(arguments.half, by, is_direct=arguments.direct, is_made=arguments.made))
        print(f"\n{arguments.half}, {by}{', direct' if arguments.direct else ''}\n{table(found)}", flush=True)
        for one in found if arguments.verbose or arguments.everything else ():
            is_fine = one.verdict == ("right" if one.question.gold else "refused")
            if arguments.everything or not is_fine:
                print(f"\n{one.verdict}: {one.question.text} {one.question.gold}\n  {one.shown[:500]}")


if __name__ == "__main__":
    main()
