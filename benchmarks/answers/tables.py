"""Questions about single cells, asked of the whole program without a model: `python -m benchmarks.answers.tables [--verbose]`.

Uses `tests/tables`: XLSX, ODS, CSV, DOCX, HTML and Markdown with confusable rows, columns and sheets. A passage is right if it
holds the row of the right file and sheet, an answer if its first line names the row and the cell; a citation is exact if it
leads only to the row.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import tempfile
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bot import settings
from bot.composition import application as composition
from rag_engine.ingestion.ingestion import blob_from_path
from rag_engine.types import Answer, Query
from tests.tables import files
from tests.tables.questions import Question, questions

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from bot.composition.application import Application
    from rag_engine.types import Chunk, KnowledgeBaseId

DEPTHS = (1, 3, 8)
_GROUP_SEPARATOR = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


@dataclass(frozen=True, slots=True, kw_only=True)
class CellOutcome:
    """One question: rank of the row's passage (0: none), and the answer."""

    question: Question
    rank: int
    answered: bool
    exact: bool
    text: str
    anchor: str


def holds(chunk: Chunk, question: Question) -> bool:
    sheet = question.anchor.partition("!")[0] if "!" in question.anchor else ""
    if chunk.title != question.file or (sheet and not chunk.anchor.startswith(f"{sheet}!")):
        return False
    return any(all(words in f"{line} |" for words in question.row) for line in chunk.text.split("\n"))


def first_quotation(text: str) -> str:
    """The first quote of an answer, without its introduction."""
    lines = [line for line in text.split("\n") if line.strip()]
    return lines[1] if len(lines) > 1 and "**" not in lines[0] else lines[0] if lines else text


def _is_right(quotation: str, question: Question) -> bool:
    key = [word.strip(" |") for words in question.row for word in words.split("|") if word.strip(" |")]
    shown = (quotation, _GROUP_SEPARATOR.sub("", quotation))
    return any(question.value in each for each in shown) and all(word in quotation for word in key)


@asynccontextmanager
async def asked(folder: Path) -> AsyncGenerator[tuple[Application, KnowledgeBaseId]]:
    """The program with all files of the set in one knowledge base."""
    made = folder / "files"
    made.mkdir()
    files.write_all(made)
    chosen = settings.read().model_copy(update={"data_dir": folder / "data"})
    async with composition.application(chosen) as application:
        base = await application.catalog.open("tables", model=application.library.embedder.model)
        for path in sorted(made.iterdir()):
            record = (
                await application.library.ingestion.ingest(await blob_from_path(path), knowledge_base=base.id)
            ).record
            if record.state != "ready":
                raise RuntimeError(f"{path.name}: {record.reason}")
        yield application, base.id


async def outcome(application: Application, base: KnowledgeBaseId, question: Question) -> CellOutcome:
    query = Query(text=question.text, knowledge_bases=frozenset({base}))
    found = await application.engine.search(query)
    rank = next((hit.rank for hit in found.hits if holds(hit.chunk, question)), 0)
    answer = [event async for event in application.engine.answer(query) if isinstance(event, Answer)][-1]
    quotation = first_quotation(answer.text)
    right = _is_right(quotation, question)
    anchor = answer.citations[0].anchor if answer.citations else ""
    cited = [citation.anchor for citation in answer.citations]
    return CellOutcome(
        question=question,
        rank=rank,
        answered=right,
        exact=right and question.anchor in cited,
        text=quotation,
        anchor=anchor if question.anchor not in cited else question.anchor,
    )


async def measure(asked_questions: Sequence[Question]) -> list[CellOutcome]:
    with tempfile.TemporaryDirectory() as folder:
        async with asked(Path(folder)) as (application, base):
            return [await outcome(application, base, question) for question in asked_questions]


def table(outcomes: Sequence[CellOutcome]) -> str:
    lines = [f"{'file':26} {'asked':>5} {'top 1':>6} {'top 3':>6} {'top 8':>6} {'cell':>6} {'place':>6}"]
    names = dict.fromkeys(item.question.file for item in outcomes)
    for name in (*names, "all"):
        own = [item for item in outcomes if name in {item.question.file, "all"}]
        ranks = [sum(0 < item.rank <= depth for item in own) for depth in DEPTHS]
        cells = sum(item.answered for item in own)
        places = sum(item.exact for item in own)
        shares = " ".join(f"{count / len(own):6.0%}" for count in (*ranks, cells, places))
        lines.append(f"{name:26} {len(own):5} {shares}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--verbose", action="store_true", help="also what was quoted where it is wrong")
    arguments = parser.parse_args()
    outcomes = asyncio.run(measure(questions()))
    print(table(outcomes))
    for item in outcomes if arguments.verbose else ():
        if not (item.rank == 1 and item.answered and item.exact):
            print(f"\n{item.question.text}\n  wanted {item.question.value} at {item.question.anchor}")
            print(f"  rank {item.rank}; {item.text[:300]} ({item.anchor})")


if __name__ == "__main__":
    main()
