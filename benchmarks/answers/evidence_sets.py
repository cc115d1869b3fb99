"""The questions of `python -m benchmarks.answers.evidence`, with what makes them unanswerable."""

from __future__ import annotations

import gzip
import json
import zlib
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rag_engine.text.language import detect
from rag_engine.types import Document, DocumentId, KnowledgeBaseId, Section
from tests.documents.corpus import manifest, readings
from tests.documents.questions import questions as document_questions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_DATA: Final = Path(__file__).parents[3] / "shared" / "data"
_OWN: Final = Path(__file__).parents[2] / "tests" / "answers"
_SAMPLES: Final = Path(__file__).parents[2] / "samples" / "lumen-harbour"
BASE: Final = KnowledgeBaseId("evidence")
_ARTICLE: Final = 5
"""Paragraphs of XQuAD."""
_LARGE: Final = "872p"
"""A file that takes as long as all others."""
SETS: Final = (
    *(f"xquad-{language}" for language in ("en", "es", "zh")),
    "german",
    "german-paragraphs",
    "office",
    "paraphrased",
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
_PASSAGES: Final = frozenset({"hotpotqa-100", "scifact", "cranfield"})
NEVER_FITTED: Final = _PASSAGES | {"paraphrased"}


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


def _lines(path: Path) -> list[dict[str, Any]]:
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in content.decode("utf-8").splitlines()]


def _document(id_: str, title: str, sections: Sequence[Section]) -> tuple[Document, Sequence[Section]]:
    return (
        Document(id=DocumentId(id_), knowledge_base=BASE, title=title, uri="", media_type="", digest=id_),
        sections,
    )


def _texts(rows: Iterable[dict[str, Any]]) -> list[tuple[Document, Sequence[Section]]]:
    return [_document(row["id"], row["title"], [Section(text=row["text"])]) for row in rows]


def _xquad(language: str, first_asked: int) -> JudgedSet:
    folder = _DATA / f"xquad-{language}"
    gold = dict(line.split("\t")[:2] for line in (folder / "qrels.tsv").read_text().splitlines()[1:])
    asked: list[EvidenceQuestion] = []
    for row in _lines(folder / "queries.jsonl.gz")[first_asked::4]:
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


def asked_elsewhere(name: str) -> list[EvidenceQuestion]:
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


async def _paraphrased() -> JudgedSet:
    files = sorted(path for path in _SAMPLES.iterdir() if path.is_file())
    found = await readings([{"path": str(path), "expect": "text"} for path in files])
    asked: list[EvidenceQuestion] = []
    for row in _lines(_OWN / "paraphrased.jsonl"):
        texts = {"": [text for text, _ in row["answerable"]], "near_miss": row["near_miss"]}
        asked += [
            EvidenceQuestion(text=text, group=row["file"], kind=kind, without={})
            for kind, questions in texts.items()
            for text in questions
        ]
    return JudgedSet(
        name="paraphrased",
        documents=[_document(Path(one.path).name, Path(one.path).stem, one.sections) for one in found],
        questions=[*asked, *(one for one in _listed("off_topic", "off_topic") if detect(one.text) == "en")],
    )


async def judged_set(name: str) -> JudgedSet:
    if name.startswith("xquad"):
        language, _, first_asked = name.removeprefix("xquad-").partition(":")
        return _xquad(language, int(first_asked or 0))
    if name.startswith("rgb"):
        return _news(name, 70)
    if name in _PASSAGES:
        return _judged_passages(name, 120)
    if name == "german-paragraphs":
        return _german_paragraphs()
    if name == "paraphrased":
        return await _paraphrased()
    return _german() if name == "german" else await _office()
