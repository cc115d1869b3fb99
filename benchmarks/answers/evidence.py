"""Fits the coefficients of `rag_engine/evidence/calibration.py` on all questions, and shows the curve of each half by the other half's fit.

python -m benchmarks.answers.evidence [--beside-a-model] [SET ...]

The sets: XQuAD in three languages and RGB's news beside the project, the questions of `tests/documents` about real files, and
those of `tests/answers`. A question becomes unanswerable when its paragraph (near miss) or its article or file (off the topic) is
taken from the hits, when its first number or a name in it is changed, or when it is asked of another set (elsewhere). Halves are
by article, file or question. HotpotQA, SciFact and Cranfield are fitted on by nothing; their questions need several passages or
are no questions. Only questions whose passage is among the hits are fitted on as answerable. A mistyped
question is judged by its correction, too, and sentences are compared, as in the product (beside a model: not).
"""

from __future__ import annotations

import asyncio
import random
import re
import sys
import tempfile
import zlib
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.answers.evidence_sets import BASE, NEVER_FITTED, SETS, asked_elsewhere, judged_set
from bot import settings
from bot.composition.laboratory import retrieval_laboratory
from rag_engine.evidence.calibration import BY_SENTENCES, BY_WORDS, COMPOUNDING, Calibration
from rag_engine.retrieval.queries.spelling_corrections import corrected_question, corrected_words
from rag_engine.retrieval.ranking.language_familiarity import word_check
from rag_engine.steps import fuse, retrieve
from rag_engine.steps.evidence import Settings, judged
from rag_engine.text.chunk_text import searchable_text
from rag_engine.text.language import detect
from rag_engine.types import Query

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.answers.evidence_sets import JudgedSet
    from bot.composition.laboratory import EvaluationComponents
    from rag_engine.evidence.features import Features
    from rag_engine.types import Ranking

_SHARES: Final = {"near_miss_of_news": 0.25, "other_name": 0.2, "other_number": 0.5, "elsewhere": 0.7}
"""RGB's unrelated passages often hold the answer in other words."""
_NAME: Final = re.compile(r"(?<=[a-z,] )[A-ZÁÉÍÓÚ][\w'’-]+(?: [A-ZÁÉÍÓÚ][\w'’-]+)*")
_READ: Final = 6
"""Hits."""
_RIDGE: Final = 0.5
_LINE: Final = Settings().line
_SHIFT: Final = "shift of compounding languages"
_BESIDE_A_MODEL: Final = "--beside-a-model"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRow:
    set: str
    language: str
    kind: str
    is_first_half: bool
    is_found: bool
    features: Features
    probability: float
    by_sentence: bool
    """One answers in other words."""


async def judged_rows(
    questions: JudgedSet, laboratory: EvaluationComponents, *, beside_a_model: bool = False
) -> list[JudgedRow]:
    trust = fuse.judge_of(laboratory.embedder)
    is_word = word_check(laboratory.embedder.count_tokens)
    for document, sections in questions.documents:
        chunks = list(laboratory.splitter(document, sections))
        vectors = await laboratory.embedder.embed(list(map(searchable_text, chunks)), side="passage")
        await laboratory.index.put(document, list(zip(chunks, vectors, strict=True)))
    rows: list[JudgedRow] = []
    names = [match[0] for question in questions.questions for match in _NAME.finditer(question.text)]
    chance = random.Random(questions.name)

    async def search(text: str) -> Sequence[Ranking]:
        query = Query(text=text, knowledge_bases=frozenset({BASE}))
        found = await retrieve.search_legs(
            text, query, embedder=laboratory.embedder, index=laboratory.index, settings=retrieve.Settings()
        )
        return found.rankings

    async def add(
        text: str,
        kind: str,
        group: str,
        rankings: Sequence[Ranking],
        answering: frozenset[str] = frozenset(),
    ) -> None:
        fused = await fuse.fuse_rankings(text, rankings, judge=trust, settings=fuse.Settings(), limit=50)
        lexical = next((one for one in rankings if one.leg == "lexical"), None)
        typed = corrected_words(text, lexical, is_word=is_word) if lexical else {}
        verdict = await judged(
            (text, corrected_question(text, typed)),
            fused.hits,
            rankings,
            embedder=None if beside_a_model else laboratory.embedder,
            trust=trust,
        )
        if verdict is not None:
            found = {hit.chunk.document for hit in fused.hits[:_READ]}
            rows.append(
                JudgedRow(
                    set=questions.name,
                    language=detect(text),
                    kind=kind,
                    is_first_half=zlib.crc32(f"{questions.name}{group}".encode()) % 2 == 1,
                    is_found=not answering or not found.isdisjoint(answering),
                    features=verdict.reading.features,
                    probability=verdict.probability,
                    by_sentence=verdict.by_sentence,
                )
            )

    for question in [*questions.questions, *asked_elsewhere(questions.name)]:
        rankings = await search(question.text)
        answering = min(question.without.values(), key=len, default=frozenset[str]())
        await add(question.text, question.kind, question.group, rankings, answering)
        for kind, documents in question.without.items():
            await add(question.text, kind, question.group, [_left(one, documents) for one in rankings])
        if not question.kind and (changed := _changed(question.text, names, chance)):
            await add(changed[1], changed[0], question.group, await search(changed[1]))
    return rows


def _changed(question: str, names: Sequence[str], chance: random.Random) -> tuple[str, str] | None:
    """Another number, else another name."""
    if number := re.search(r"\d+", question):
        other = str(int(number[0]) + chance.choice((1, 2, 3, 7, 10, -1, -4)))
        return "other_number", question.replace(number[0], other)
    own = list(_NAME.finditer(question))
    others = [name for name in names if name.casefold() not in question.casefold()]
    if not own or not others:
        return None
    place = chance.choice(own)
    return "other_name", f"{question[: place.start()]}{chance.choice(others)}{question[place.end() :]}"


def _left(ranking: Ranking, documents: frozenset[str]) -> Ranking:
    hits = [hit for hit in ranking.hits if hit.chunk.document not in documents]
    return replace(ranking, hits=tuple(replace(hit, rank=rank) for rank, hit in enumerate(hits, 1)))


def _fit(rows: Sequence[JudgedRow], names: Sequence[str]) -> tuple[dict[str, float], float]:
    """Logistic regression by Newton's method; in each set answerable and unanswerable rows weigh the same. Compounding
    languages have a bias of their own.
    """
    counts: dict[tuple[str, bool], float] = defaultdict(float)
    for row in rows:
        counts[row.set, not row.kind] += _SHARES.get(row.kind, 1.0)
    shares = np.array([_SHARES.get(row.kind, 1.0) / counts[row.set, not row.kind] for row in rows])
    shares /= shares.mean()
    values = np.array(
        [
            [*(getattr(row.features, name) for name in names), float(row.language in COMPOUNDING)]
            for row in rows
        ]
    )
    middle, spread = values.mean(axis=0), values.std(axis=0) + 1e-9
    scaled = np.c_[(values - middle) / spread, np.ones(len(rows))]
    answerable = np.array([float(not row.kind) for row in rows])
    weights = np.zeros(scaled.shape[1])
    for _ in range(60):
        found = 1 / (1 + np.exp(-scaled @ weights))
        slope = scaled.T @ ((found - answerable) * shares) + _RIDGE * np.r_[weights[:-1], 0]
        bend = (scaled.T * (found * (1 - found) * shares)) @ scaled + _RIDGE * np.eye(len(weights))
        weights -= np.linalg.solve(bend, slope)
    raw = weights[:-1] / spread
    return dict(zip([*names, _SHIFT], map(float, raw), strict=True)), float(weights[-1] - raw @ middle)


def _refitted(rows: Sequence[JudgedRow], used: Calibration) -> Calibration:
    """With the shifts by language that are in use, but for compounding languages."""
    fitted = [row for row in rows if row.set not in NEVER_FITTED and (row.kind or row.is_found)]
    coefficients, bias = _fit(fitted, list(used.coefficients))
    shift = coefficients.pop(_SHIFT)
    shifts = {**used.shifts, **dict.fromkeys(COMPOUNDING, shift)}
    return replace(used, coefficients=coefficients, bias=bias, shifts=shifts)


def _crossed(rows: Sequence[JudgedRow], used: Calibration) -> list[JudgedRow]:
    """Each half with the probabilities by the other half's fit, and by the shifts that are in use."""
    crossed: list[JudgedRow] = []
    for is_first in (False, True):
        other = _refitted([row for row in rows if row.is_first_half != is_first], used)
        found = replace(other, shifts=used.shifts)
        crossed += [
            replace(row, probability=_probability(found, row))
            for row in rows
            if row.is_first_half == is_first
        ]
    return crossed


def _probability(calibration: Calibration, row: JudgedRow) -> float:
    return 1 / (1 + float(np.exp(-calibration.value(row.features, row.language))))


def _curve(rows: Sequence[JudgedRow], key: Callable[[JudgedRow], str]) -> str:
    groups: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in rows:
        shown = max(row.probability, _LINE) if row.by_sentence else row.probability
        groups[key(row), row.kind or "refused"].append(shown)
    lines = [step / 20 for step in range(2, 13)]
    head = f"{'':14} {'kind':18} {'n':>4} " + " ".join(f"{line:5.2f}" for line in lines)
    return "\n".join(
        [
            head,
            *(
                f"{name:14} {kind:18} {len(values):4} "
                + " ".join(f"{np.mean([value < line for value in values]):5.0%}" for line in lines)
                for (name, kind), values in sorted(groups.items())
            ),
        ]
    )


async def main() -> None:
    beside_a_model = _BESIDE_A_MODEL in sys.argv[1:]
    used = BY_WORDS if beside_a_model else BY_SENTENCES
    rows: list[JudgedRow] = []
    for name in [name for name in sys.argv[1:] if name != _BESIDE_A_MODEL] or SETS:
        questions = await judged_set(name)
        with tempfile.TemporaryDirectory() as folder:
            async with retrieval_laboratory(settings.read(), Path(folder)) as laboratory:
                rows += await judged_rows(questions, laboratory, beside_a_model=beside_a_model)
        print(f"{name}: {len(rows)} rows", file=sys.stderr, flush=True)
    refitted = _refitted(rows, used)
    for name, value in refitted.coefficients.items():
        print(f'        "{name}": {value:.3f},')
    print(f"    bias={refitted.bias:.3f}, shift of compounding languages {refitted.shifts['de']:.3f}\n")
    for label, listed in (("as calibrated", rows), ("by the other half", _crossed(rows, used))):
        usual = [row for row in listed if row.set not in NEVER_FITTED]
        print(label)
        print(_curve(listed, lambda row: row.set), end="\n\n")
        print(_curve(usual, lambda row: row.language or "unknown"), end="\n\n")


if __name__ == "__main__":
    asyncio.run(main())
