"""Server time of every view of the page over a made history: `python -m benchmarks.page [TURNS] [DOCUMENTS]`.

Requests over loopback, one after another, of the operator and of an administrator of one workspace; the time is from the request to the whole
response, so with HTTP and rendering. 100,000 questions of 90 days in 40 channels; 20,000 documents.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import sys
import tempfile
import time
from contextlib import aclosing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bot.store.web_sessions import OPERATOR
from rag_engine.types import ChunkId, Citation, DocumentId, Query, Trace, Turn
from tests.unit.bot.web.stand import ANN_IN_T1, Stand, add_holder, empty_stand

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_DAY: Final = 86_400
_ROUNDS: Final = 20
_WORDS: Final = [
    "travel",
    "expense",
    "notice",
    "leave",
    "laptop",
    "contract",
    "invoice",
    "holiday",
    "parking",
    "badge",
    "server",
    "deploy",
    "budget",
]
_OUTCOMES: Final = (("final", 82), ("unanswered", 12), ("failed", 2), ("stopped", 4))
_ANSWER: Final = (
    "INSERT INTO answers (id, platform, workspace, channel, thread, message, uri, person, name, language, private, by_bot, question, "
    "asked_at, state, messages, conversation, turn, citations, updated_at) VALUES (?, ?, ?, ?, ?, ?, '', ?, ?, 'en', 0, 0, ?, ?, "
    "'streaming', '[]', '', ?, ?, ?)"
)


def _citation(number: int, document: str, quote: str) -> Citation:
    return Citation(
        number=number,
        document=DocumentId(document),
        title=document,
        anchor="p. 1",
        quote=quote,
        uri="",
        chunk=ChunkId(document),
    )


def _rows(turns: int, days: int) -> Iterator[tuple[tuple[object, ...], str, float, str]]:
    """A row of `answers`, its state, the seconds it took and its rating."""
    chance, now = random.Random(7), time.time()
    outcomes, weights = zip(*_OUTCOMES, strict=True)
    for number in range(turns):
        asked_at = now - days * _DAY * (1 - number / turns) - chance.random() * 600
        workspace, channel = "T1" if chance.random() < 0.8 else "T2", chance.choice(("C1", "C2"))
        words = " ".join(chance.choices(_WORDS, k=5))
        state = chance.choices(outcomes, weights)[0]
        documents = [f"d{chance.randrange(200)}" for _ in range(3)] if state == "final" else []
        citations = json.dumps([asdict(_citation(*each, words)) for each in enumerate(documents, 1)])
        row = (
            f"{number:016x}",
            "slack",
            workspace,
            channel,
            "",
            f"{number}.1",
            f"U{number % 300}",
            f"Person {number % 300}",
            f"How do I handle {words}?",
            asked_at,
            "" if state == "failed" else f"t{number}",
            citations,
            asked_at + 5,
        )
        rating = chance.choices(("", "up", "down"), (90, 7, 3))[0]
        yield row, "final" if state == "unanswered" else state, 1.5 + chance.expovariate(0.4), rating


async def fill(stand: Stand, turns: int, *, days: int = 90) -> None:
    """Questions with their answers and ratings."""
    rows = list(_rows(turns, days))
    async with stand.parts.chat.transaction() as transaction:
        await transaction.execute_many(_ANSWER, [row for row, *_ in rows])
        await transaction.execute_many(
            "UPDATE answers SET state = ? WHERE id = ?", [(state, row[0]) for row, state, *_ in rows]
        )
        await transaction.execute_many(
            "INSERT OR IGNORE INTO turn_citations SELECT json_extract(value, '$.document'), ? FROM json_each(?)",
            [(row[0], row[11]) for row, *_ in rows],
        )
        await transaction.execute_many(
            "UPDATE turn_figures SET seconds = ?, first_seconds = ? WHERE answer = ?",
            [(seconds, seconds / 3, row[0]) for row, _, seconds, _ in rows],
        )
        await transaction.execute_many(
            "INSERT INTO feedback (answer, person, rating, turn, at, reason) VALUES (?, ?, ?, ?, ?, ?)",
            [(row[0], row[6], rating, row[10], row[9], "outdated" if rating == "down" else "") for row, _, _, rating in rows if rating],
        )  # fmt: skip
        tokens = [
            (int(time.time() // _DAY) - day, "slack", "T1", "gpt-4.1-mini", 30, 90_000 + day * 500, 9_000)
            for day in range(days)
        ]
        await transaction.execute_many("INSERT INTO model_days VALUES (?, ?, ?, ?, ?, ?, ?)", tokens)


async def _traced(stand: Stand, identity: str) -> None:
    """A question with the trace of an answer."""
    passages = [{"document": f"d{number}", "chunk": f"c{number}", "title": f"document {number}", "anchor": "p. 1", "score": 0.5,
                 "legs": [{"leg": "lexical", "rank": number + 1, "score": 4.2}]} for number in range(8)]  # fmt: skip
    details = {
        "question": "How?",
        "knowledge_bases": [],
        "found": {"lexical": 8},
        "passages": passages,
        "citations": [],
    }
    rows = await stand.parts.chat.fetch("SELECT turn FROM answers WHERE id = ?", (identity,))
    turn = rows[0][0]
    said = Turn(id=turn, conversation="made", role="assistant", text="So.", at=1.0)
    await stand.parts.history.write(
        [said],
        Trace(turn=turn, conversation="made", at=1.0, seconds={"answer": 1.0}, fallbacks=(), details=details),
    )


async def _documents(stand: Stand, count: int) -> str:
    base = await stand.parts.application.catalog.open("handbook", model="hashing")
    now = time.time()
    async with stand.parts.engine.transaction() as transaction:
        await transaction.execute_many(
            "INSERT INTO documents (id, knowledge_base, title, uri, media_type, digest, size, state, reason, chunks, pages, created_at, "
            "updated_at) VALUES (?, ?, ?, ?, 'text/plain', ?, 2000, ?, '', 12, 3, ?, ?)",
            [
                (f"d{n}", base.id, f"document {n}.txt", f"https://files.example/{n}", str(n), "failed" if n % 97 == 0 else "ready", now, now)
                for n in range(count)
            ],
        )  # fmt: skip
    return base.id


async def _answers(stand: Stand, count: int) -> list[float]:
    """Milliseconds to whole answers, one after another."""
    spent: list[float] = []
    for number in range(count):
        query = Query(
            text=f"What is the launch code of the harbour project, number {number}?",
            knowledge_bases=frozenset({stand.bases["public"]}),
        )
        started = time.perf_counter()
        async with aclosing(stand.parts.application.engine.answer(query)) as events:
            async for _ in events:
                pass
        spent.append(1000 * (time.perf_counter() - started))
    return spent


async def _visits(stand: Stand, paths: Sequence[str]) -> None:
    """A person who opens a page every second."""
    async with stand.signed_in() as client:
        for path in itertools.cycle(paths):
            await client.get(path)
            await asyncio.sleep(1)


async def _beside_answers(stand: Stand, paths: Sequence[str]) -> None:
    """In turns, because the machine is not always equally busy."""
    alone: list[float] = []
    beside: list[float] = []
    await _answers(stand, 20)
    for _ in range(6):
        alone += await _answers(stand, 50)
        visitors = [asyncio.create_task(_visits(stand, paths)) for _ in range(3)]
        await asyncio.sleep(0.5)
        beside += await _answers(stand, 50)
        for each in visitors:
            each.cancel()
        await asyncio.gather(*visitors, return_exceptions=True)
    for name, spent in (("alone", alone), ("while three people open a page each second", beside)):
        spent.sort()
        median, most = spent[len(spent) // 2], spent[int(0.95 * len(spent))]
        print(f"{len(spent)} answers {name}: median {median:.1f} ms, 95 % within {most:.1f} ms")


async def main(turns: int, documents: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with empty_stand(Path(folder)) as stand:
            await fill(stand, turns)
            base = await _documents(stand, documents)
            traced = f"{turns // 2:016x}"
            await _traced(stand, traced)
            paths = (
                "/static/page.css",
                *(f"/?days={days}" for days in (7, 30, 91)),
                "/questions",
                "/questions?outcome=unanswered",
                "/questions?outcome=down",
                "/questions?in=slack:T1:C2",
                "/questions?text=no-such-word",
                f"/questions?before={time.time() - 60 * _DAY}~x",
                f"/questions/{traced}",
                "/documents",
                f"/documents/{base}",
                f"/documents/{base}?state=failed",
                f"/documents/{base}?text=no-such-title",
                "/knowledge-bases",
                "/gaps",
                "/feedback",
            )
            everything: list[float] = []
            for name, visitor in (("operator", OPERATOR), ("administrator", ANN_IN_T1)):
                async with stand.signed_in(visitor) as client:
                    for path in paths:
                        spent: list[float] = []
                        for _ in range(_ROUNDS):
                            started = time.perf_counter()
                            response = await client.get(path)
                            spent.append(1000 * (time.perf_counter() - started))
                            assert response.status_code == 200, response.text
                        spent.sort()
                        everything += spent
                        print(
                            f"{name:14} {path:45} median {spent[len(spent) // 2]:6.1f} ms, most {spent[-1]:6.1f} ms"
                        )
            await add_holder(stand, "public", Path(folder))
            await _beside_answers(stand, paths)
            everything.sort()
            share = everything[int(0.95 * len(everything))]
            print(
                f"{turns:,} questions, {documents:,} documents: 95 % of {len(everything)} requests within {share:.1f} ms"
            )


if __name__ == "__main__":
    given = [int(each) for each in sys.argv[1:]]
    asyncio.run(main(*(given or [100_000]), *([] if len(given) > 1 else [20_000])))
