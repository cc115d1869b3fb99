"""Fits the coefficients of `rag_engine/evidence/calibration.py`, and shows the curve on the half that was not used.

python -m benchmarks.answers.evidence [SET ...]

The sets: XQuAD in three languages and RGB's news beside the project, the questions of `tests/documents` about real files, and
those of `tests/answers`. A question becomes unanswerable when its paragraph (near miss) or its article or file (off the topic) is
taken from the hits, when its first number or a name in it is changed, or when it is asked of another set (elsewhere). Halves are
by article, file or question. HotpotQA, SciFact and Cranfield are fitted on by nothing; their questions need several passages or
are no questions. Only questions whose passage is among the hits are fitted on as answerable.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import random
import re
import sys
import tempfile
import zlib
from collections import defaultdict
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bot import settings
from bot.composition.laboratory import retrieval_laboratory
from rag_engine.evidence.calibration import COEFFICIENTS, COMPOUNDING, COMPOUNDING_SHIFT
from rag_engine.evidence.features import read
from rag_engine.steps import fuse, retrieve
from rag_engine.text.chunk_text import searchable_text
from rag_engine.text.language import detect
from rag_engine.types import Document, DocumentId, KnowledgeBaseId, Query, Section
from tests.documents.corpus import manifest, readings
from tests.documents.questions import questions as document_questions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from bot.composition.laboratory import EvaluationComponents
    from rag_engine.types import Ranking

_DATA: Final = Path(__file__).parents[3] / "shared" / "data"
_OWN: Final = Path(__file__).parents[2] / "tests" / "answers"
_BASE: Final = KnowledgeBaseId("evidence")
_ARTICLE: Final = 5
"""Paragraphs of XQuAD."""
_LARGE: Final = "872p"
"""A file that takes as long as all others."""
_SHARES: Final = {"near_miss_of_news": 0.25, "other_name": 0.5, "other_number": 0.5, "elsewhere": 0.7}
"""RGB's unrelated passages often hold the answer in other words."""
_NAME: Final = re.compile(r"(?<=[a-z,] )[A-ZÁÉÍÓÚ][\w'’-]+(?: [A-ZÁÉÍÓÚ][\w'’-]+)*")
_READ: Final = 6
"""Hits."""
_RIDGE: Final = 0.5
_SETS: Final = (
    *(f"xquad-{language}" for language in ("en", "es", "zh")),
    "german",
    "german-paragraphs",
    "office",
    *(f"rgb-{name}" for name in ("en_fact", "zh_fact", "zh_refine")),
    "hotpotqa-100",
    "scifact",
    "cranfield",
)
_ELSEWHERE: Final = {
    "xquad-en": (("hotpotqa-100", "queries", 100), ("cranfield", "queries", 80), ("rgb-en_fact", "qa", 50)),
    "xquad-zh": (("rgb-zh_refine", "qa", 100), ("rgb-zh_int", "qa", 50)),
    "rgb-en_fact": (("xquad-en", "queries", 100),),
    "rgb-zh_fact": (("xquad-zh", "queries", 100),),
    "rgb-zh_refine": (("xquad-zh", "queries", 100),),
    "hotpotqa-100": (("xquad-en", "queries", 100), ("cranfield", "queries", 40)),
    "scifact": (("xquad-en", "queries", 100), ("hotpotqa-100", "queries", 40)),
    "cranfield": (("xquad-en", "queries", 100), ("hotpotqa-100", "queries", 40)),
}
_NEVER_FITTED: Final = frozenset({"hotpotqa-100", "scifact", "cranfield"})


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceQuestion:
    """`without` are the documents to leave out, by the kind of unanswerable question that this makes."""

    text: str
    group: str
    kind: str = ""
    without: dict[str, frozenset[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedSet:
    name: str
    documents: Sequence[tuple[Document, Sequence[Section]]]
    questions: Sequence[EvidenceQuestion]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    set: str
    language: str
    kind: str
    is_fitted: bool
    is_found: bool
    values: tuple[float, ...]


def _lines(path: Path) -> list[dict[str, Any]]:
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in content.decode("utf-8").splitlines()]


def _document(id_: str, title: str, sections: Sequence[Section]) -> tuple[Document, Sequence[Section]]:
    return (
        Document(id=DocumentId(id_), knowledge_base=_BASE, title=title, uri="", media_type="", digest=id_),
        sections,
    )


def _texts(rows: Iterable[dict[str, Any]]) -> list[tuple[Document, Sequence[Section]]]:
    return [_document(row["id"], row["title"], [Section(text=row["text"])]) for row in rows]


def _xquad(language: str) -> JudgedSet:
    folder = _DATA / f"xquad-{language}"
    gold = dict(line.split("\t")[:2] for line in (folder / "qrels.tsv").read_text().splitlines()[1:])
    asked: list[EvidenceQuestion] = []
    for row in _lines(folder / "queries.jsonl.gz")[::4]:
        first = int(gold[row["id"]][1:]) // _ARTICLE * _ARTICLE
        article = frozenset(f"p{number:03d}" for number in range(first, first + _ARTICLE))
        without = {"near_miss": frozenset({gold[row["id"]]}), "off_topic": article}
        asked.append(EvidenceQuestion(text=row["text"], group=f"{first}", without=without))
    rows = _lines(folder / "corpus.jsonl.gz")
    asked += [one for one in _listed("off_topic", "off_topic") if detect(one.text) == language]
    return JudgedSet(name=f"xquad-{language}", documents=_texts(rows), questions=asked)


def _news(name: str, most: int) -> JudgedSet:
    texts: dict[str, str] = {}
    asked: list[EvidenceQuestion] = []
    for row in _lines(_DATA / name / "qa.jsonl.gz")[:most]:
        gold: set[str] = set()
        for key in ("positive", "negative"):
            for text in row[key]:
                id_ = f"{zlib.crc32(text.encode()):x}"
                texts[id_] = text
                gold |= {id_} if key == "positive" else set()
        without = {"near_miss_of_news": frozenset(gold)}
        asked.append(EvidenceQuestion(text=row["query"], group=f"{row['id']}", without=without))
    rows = [{"id": id_, "title": "", "text": text} for id_, text in texts.items()]
    return JudgedSet(name=name, documents=_texts(rows), questions=asked)


def _listed(name: str, kind: str) -> list[EvidenceQuestion]:
    rows = _lines(_OWN / f"{name}.jsonl")
    return [
        EvidenceQuestion(text=text, group=text, kind=kind, without={})
        for row in rows
        for text in row["questions"]
    ]


def _foreign(name: str) -> list[EvidenceQuestion]:
    asked: list[EvidenceQuestion] = []
    for other, file, most in _ELSEWHERE.get(name, ()):
        rows = _lines(_DATA / other / f"{file}.jsonl.gz")
        step = max(1, len(rows) // most)
        texts = [str(row.get("text") or row.get("query")) for row in rows[::step]][:most]
        asked += [EvidenceQuestion(text=text, group=text, kind="elsewhere", without={}) for text in texts]
    return asked


def _judged_passages(name: str, most: int) -> JudgedSet:
    folder = _DATA / name
    gold: dict[str, set[str]] = defaultdict(set)
    for line in (folder / "qrels.tsv").read_text().splitlines()[1:]:
        query, document, grade = line.split("\t")
        gold[query] |= {document} if int(grade) > 0 else set()
    asked = [
        EvidenceQuestion(text=row["text"], group=row["id"], without={"near_miss": frozenset(gold[row["id"]])})
        for row in _lines(folder / "queries.jsonl.gz")
        if gold[row["id"]]
    ]
    return JudgedSet(name=name, documents=_texts(_lines(folder / "corpus.jsonl.gz")), questions=asked[:most])


def _german_paragraphs() -> JudgedSet:
    rows = _lines(_OWN / "german_paragraphs.jsonl")
    articles: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        articles[row["title"]].add(row["id"])
    asked = [
        EvidenceQuestion(
            text=text,
            group=row["title"],
            without={
                "near_miss": frozenset({row["id"]}),
                "off_topic": frozenset(articles[row["title"]]),
            },
        )
        for row in rows
        for text in row["questions"]
    ]
    asked += [
        EvidenceQuestion(text=text, group=row["id"], kind="elsewhere", without={})
        for row in _lines(_OWN / "german.jsonl")
        for text, _ in row["answerable"]
    ]
    return JudgedSet(name="german-paragraphs", documents=_texts(rows), questions=asked)


def _german() -> JudgedSet:
    rows = _lines(_OWN / "german.jsonl")
    asked = [
        EvidenceQuestion(text=text, group=row["id"], without={"off_topic": frozenset({row["id"]})})
        for row in rows
        for text, _ in row["answerable"]
    ]
    asked += [
        EvidenceQuestion(text=text, group=row["id"], kind="near_miss", without={})
        for row in rows
        for text in row["near_miss"]
    ]
    return JudgedSet(
        name="german", documents=_texts(rows), questions=[*asked, *_listed("off_topic", "off_topic")]
    )


async def _office() -> JudgedSet:
    asked = [question for question in document_questions() if _LARGE not in question.file]
    files = {question.file for question in asked}
    found = await readings([row for row in manifest() if row["path"] in files])
    return JudgedSet(
        name="office",
        documents=[_document(one.path, Path(one.path).name, one.sections) for one in found],
        questions=[
            *(
                EvidenceQuestion(
                    text=one.question, group=one.file, without={"off_topic": frozenset({one.file})}
                )
                for one in asked
            ),
            *_listed("office_near_misses", "near_miss"),
            *_listed("off_topic", "off_topic"),
        ],
    )


async def _rows(judged: JudgedSet, laboratory: EvaluationComponents) -> list[Row]:
    trust = fuse.judge_of(laboratory.embedder)
    contrast = await trust.contrast()
    for document, sections in judged.documents:
        chunks = list(laboratory.splitter(document, sections))
        vectors = await laboratory.embedder.embed(list(map(searchable_text, chunks)), side="passage")
        await laboratory.index.put(document, list(zip(chunks, vectors, strict=True)))
    rows: list[Row] = []
    names = [match[0] for question in judged.questions for match in _NAME.finditer(question.text)]
    chance = random.Random(judged.name)

    async def search(text: str) -> Sequence[Ranking]:
        query = Query(text=text, knowledge_bases=frozenset({_BASE}))
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
        reading = read(text, fused.hits, rankings, familiarity=trust.familiarity(text), contrast=contrast)
        if reading is not None:
            half = zlib.crc32(f"{judged.name}{group}".encode()) % 2 == 1
            found = {hit.chunk.document for hit in fused.hits[:_READ]}
            rows.append(
                Row(
                    set=judged.name,
                    language=detect(text),
                    kind=kind,
                    is_fitted=half and judged.name not in _NEVER_FITTED,
                    is_found=not answering or not found.isdisjoint(answering),
                    values=astuple(reading.features),
                )
            )

    for question in [*judged.questions, *_foreign(judged.name)]:
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


def _fit(rows: Sequence[Row]) -> tuple[dict[str, float], float]:
    """Logistic regression by Newton's method; in each set answerable and unanswerable rows weigh the same."""
    counts: dict[tuple[str, bool], float] = defaultdict(float)
    for row in rows:
        counts[row.set, not row.kind] += _SHARES.get(row.kind, 1.0)
    shares = np.array([_SHARES.get(row.kind, 1.0) / counts[row.set, not row.kind] for row in rows])
    shares /= shares.mean()
    values = np.array([row.values for row in rows])
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
    return dict(zip(COEFFICIENTS, map(float, raw), strict=True)), float(weights[-1] - raw @ middle)


def _probability(row: Row, coefficients: dict[str, float], bias: float) -> float:
    value = bias + sum(a * b for a, b in zip(coefficients.values(), row.values, strict=True))
    value += COMPOUNDING_SHIFT if row.language in COMPOUNDING else 0.0
    return 1 / (1 + float(np.exp(-value)))


def _curve(rows: Sequence[Row], found: Sequence[float], key: Callable[[Row], str]) -> str:
    groups: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row, value in zip(rows, found, strict=True):
        groups[key(row), row.kind or "refused"].append(value)
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


async def _made(name: str) -> JudgedSet:
    if name.startswith("xquad"):
        return _xquad(name.removeprefix("xquad-"))
    if name.startswith("rgb"):
        return _news(name, 70)
    if name in _NEVER_FITTED:
        return _judged_passages(name, 120)
    if name == "german-paragraphs":
        return _german_paragraphs()
    return _german() if name == "german" else await _office()


async def main() -> None:
    rows: list[Row] = []
    for name in sys.argv[1:] or _SETS:
        judged = await _made(name)
        with tempfile.TemporaryDirectory() as folder:
            async with retrieval_laboratory(settings.read(), Path(folder)) as laboratory:
                rows += await _rows(judged, laboratory)
        print(f"{name}: {len(rows)} rows", file=sys.stderr, flush=True)
    coefficients, bias = _fit([row for row in rows if row.is_fitted and (row.kind or row.is_found)])
    for name, value in coefficients.items():
        print(f'    "{name}": {value:.3f},')
    print(f"BIAS: Final = {bias:.3f}\n")
    unseen = [row for row in rows if not row.is_fitted]
    found = [_probability(row, coefficients, bias) for row in unseen]
    print(_curve(unseen, found, lambda row: row.set), end="\n\n")
    print(_curve(unseen, found, lambda row: row.language or "unknown"))


if __name__ == "__main__":
    asyncio.run(main())
