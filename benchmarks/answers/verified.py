"""Verified answers among many passages: paraphrases that find theirs, near misses that get none.

python -m benchmarks.answers.verified [CHUNKS]

The passages are abstracts of `../shared/data` (20,000 by default), the questions `verified_questions.toml`. A paraphrase counts if
the first hit of `Engine.search` is its verified answer and the answer is shown as verified; a near miss if any is.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import sys
import tempfile
import time
import tomllib
from contextlib import aclosing
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bot import settings
from bot.composition import application
from rag_engine.answer_events import Answer
from rag_engine.ingestion.verified_editor import VerifiedEditor
from rag_engine.metadata.verified_answer import Verifier
from rag_engine.types import Document, DocumentId, Query, Section
from rag_engine.verified.reply import MODEL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bot.composition.components import Application
    from rag_engine.types import KnowledgeBaseId

_DATA: Final = Path(__file__).parents[3] / "shared" / "data"
_QUESTIONS: Final = Path(__file__).with_name("verified_questions.toml")
_SECTIONS: Final = 100
_CHARACTERS: Final = 400


def _texts() -> Iterator[str]:
    for path in sorted(_DATA.rglob("corpus.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                text = str(json.loads(line).get("text", ""))
                yield from (text[start : start + _CHARACTERS] for start in range(0, len(text), _CHARACTERS))


async def _fill(running: Application, base: KnowledgeBaseId, count: int) -> int:
    texts, made, number = (text for text in _texts() if text.strip()), 0, 0
    while made < count and (part := list(islice(texts, _SECTIONS))):
        number += 1
        document = Document(
            id=DocumentId(f"document{number}"),
            knowledge_base=base,
            title=f"Abstracts {number}",
            uri=f"file:///{number}",
            media_type="text/plain",
            digest=str(number),
        )
        sections = [Section(text=text, anchor=f"§ {place}") for place, text in enumerate(part)]
        made += (await running.library.ingestion.write(document, sections)).record.chunks
    return made


async def _shown(running: Application, base: KnowledgeBaseId, question: str) -> tuple[str, str]:
    """The document of the first hit, and that of the verified answer that is shown."""
    query = Query(text=question, knowledge_bases=frozenset({base}))
    hits = (await running.engine.search(query)).hits
    verified = ""
    async with aclosing(running.engine.answer(query)) as events:
        async for event in events:
            if isinstance(event, Answer) and event.model == MODEL:
                verified = event.citations[0].document
    return hits[0].chunk.document if hits else "", verified


async def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    sets = tomllib.loads(_QUESTIONS.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        own = settings.read().model_copy(update={"data_dir": Path(folder)})
        async with application.application(own) as running:
            base = (await running.catalog.open("benchmark", model=running.library.embedder.model)).id
            chunks = await _fill(running, base, count)
            editor = VerifiedEditor(ingestion=running.library.ingestion, catalog=running.catalog)
            answers = {
                entry["question"]: await editor.save(
                    base,
                    question=entry["question"],
                    answer=entry["answer"],
                    author=Verifier(name="benchmark"),
                )
                for entry in chain(*sets.values())
            }
            print(f"{chunks:,} passages, {len(answers)} verified answers")
            for name, entries in sets.items():
                started, first, marked, taken = time.perf_counter(), 0, 0, 0
                for entry in entries:
                    identity = answers[entry["question"]].id
                    hit, verified = await _shown(running, base, entry["paraphrase"])
                    first, marked = first + (hit == identity), marked + (verified == identity)
                    if not verified == hit == identity:
                        print("  missed:", entry["paraphrase"])
                    _, verified = await _shown(running, base, entry["near_miss"])
                    if verified:
                        taken += 1
                        print("  taken:", entry["near_miss"])
                seconds = (time.perf_counter() - started) / (2 * len(entries))
                print(
                    f"{name}: {first} of {len(entries)} first, {marked} shown as verified; "
                    f"{taken} near misses shown; {seconds:.2f} s a question"
                )


if __name__ == "__main__":
    asyncio.run(main())
