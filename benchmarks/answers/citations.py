"""Adds missing citations and reads existing ones: `python -m benchmarks.answers.citations [--answers 120] [--json]`.

Labelled answers come from XQuAD (five paragraphs per article); the passages are four paragraphs of one article and four of
others. Of four claims, two come from the article, one from another, and one, unsupported, from the article's fifth paragraph.
`verbatim` claims are sentences of the paragraph, `restated` ones are questions merged with their answers. Tests
`citations.finish`.

precision = share of citations that are right; recall = share of supported claims cited to their paragraph; unsupported = share of
unsupported claims cited; quote = share of right verbatim citations whose quote holds the sentence. `cosine` is the baseline of
whole-passage cosines with the same thresholds.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import random
import re
import statistics
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from benchmarks.memoized_embedder import MemoizedEmbedder
from rag_engine.citations import DraftAnswer, MarkerStream, finish
from rag_engine.embedders import local
from rag_engine.text.sentences import split_sentences
from rag_engine.types import Chunk, ChunkId, DocumentId, Hit, KnowledgeBaseId

if TYPE_CHECKING:
    from rag_engine.ports import Embedder

SHARED = Path(__file__).parents[3] / "shared" / "data"
LANGUAGES = ("en", "es", "zh")
KINDS: tuple[Kind, ...] = ("verbatim", "restated")
_ARTICLE = 5
_LEAST = 0.32256
_QUESTION_WORDS = {
    "en": r"^(?:in |on |at |by |from |to |for )?(?:what|which|who|whom|whose|when|where|why|how)\b"
    r"(?: (?:many|much|long|often|old|did|does|do|is|was|were|are))*",
    "es": r"^¿?(?:en |a |por |de |con |para )?(?:qué|cuál(?:es)?|quién(?:es)?|cuándo|dónde|por qué|cómo|cuánt[oa]s?)\b",
    "zh": r"(?:什么|哪(?:个|些|里|一|位|年)?|谁|何时|为什么|如何|怎么|多少|几|吗)",
}

Kind = Literal["verbatim", "restated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """Answer by claim, with each claim's paragraph (none: unsupported)."""

    passages: tuple[Hit, ...]
    claims: tuple[tuple[str, str | None], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationFigures:
    language: str
    kind: str
    by: str
    answers: int
    precision: float
    recall: float
    unsupported: float
    quote: float


def read(language: str) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Paragraphs by id, with the statements made from their questions and answers."""
    folder = SHARED / f"xquad-{language}"
    with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        paragraphs = {row["id"]: row["text"] for row in map(json.loads, lines)}
    judged = dict(line.split("\t")[:2] for line in (folder / "qrels.tsv").read_text("utf-8").splitlines()[1:])
    statements: dict[str, list[str]] = {}
    with gzip.open(folder / "queries.jsonl.gz", "rt", encoding="utf-8") as lines:
        for query in map(json.loads, lines):
            statement = restated(query["text"], query["answers"][0], language)
            statements.setdefault(judged[query["id"]], []).append(statement)
    return paragraphs, statements


def restated(question: str, answer: str, language: str) -> str:
    bare = question.strip().rstrip("?？").lstrip("¿").strip()
    if language == "zh":
        words = re.sub(_QUESTION_WORDS["zh"], answer, bare, count=1)
        return f"{words if words != bare else bare + answer}。"
    return f"{re.sub(_QUESTION_WORDS[language], '', bare, flags=re.IGNORECASE).strip()} {answer}."


def labelled(language: str, kind: Kind, count: int) -> list[Labelled]:
    """`count` answers with the support of each claim; deterministic."""
    paragraphs, statements = read(language)
    chance = random.Random(f"{language} {kind}")
    ids = sorted(paragraphs)
    articles = [ids[start : start + _ARTICLE] for start in range(0, len(ids), _ARTICLE)]

    def claim(paragraph: str) -> str:
        if kind == "restated":
            return chance.choice(statements[paragraph])
        sentences = [sentence.strip() for sentence in split_sentences(paragraphs[paragraph])]
        return chance.choice([sentence for sentence in sentences if len(sentence) > 15] or sentences)

    answers: list[Labelled] = []
    for number in range(count):
        article = chance.sample(articles[number % len(articles)], _ARTICLE)
        others = chance.sample([paragraph for paragraph in ids if paragraph not in article], _ARTICLE - 1)
        held_out, near = article[0], article[1:]
        claims: list[tuple[str, str | None]] = [
            (claim(paragraph), paragraph) for paragraph in (*near[:2], others[0])
        ]
        claims.append((claim(held_out), None))
        chance.shuffle(claims)
        shown = chance.sample(near + others, 2 * (_ARTICLE - 1))
        passages = tuple(hit(paragraphs[paragraph], paragraph, language) for paragraph in shown)
        answers.append(Labelled(passages=passages, claims=tuple(claims)))
    return answers


def hit(text: str, paragraph: str, language: str) -> Hit:
    chunk = Chunk(
        id=ChunkId(paragraph),
        document=DocumentId(paragraph),
        knowledge_base=KnowledgeBaseId("xquad"),
        ordinal=0,
        text=text,
        language=language,
    )
    return Hit(chunk=chunk, score=1.0, rank=1)


async def cited_by_us(answer: Labelled, embedder: Embedder) -> list[dict[str, str]]:
    """The paragraphs cited for each claim, with quotes. Claims are list items, so none shares a marker."""
    text = "\n".join(f"- {words}" for words, _ in answer.claims)
    cited = await finish(DraftAnswer(text=text), answer.passages, question="", embedder=embedder)
    quotes: dict[int, tuple[str, str]] = {}
    for citation in cited.citations:
        _, before = quotes.get(citation.number, ("", ""))
        quotes[citation.number] = (str(citation.document), f"{before}\n{citation.quote}".strip())
    return [
        dict(quotes[int(number)] for number in re.findall(r"\[(\d+)\](?=[^\w]*\Z|\[)", line))
        for line in cited.text.split("\n")
    ]


async def cited_by_cosine(answer: Labelled, embedder: Embedder) -> list[dict[str, str]]:
    texts = [words for words, _ in answer.claims] + [passage.chunk.text for passage in answer.passages]
    vectors = await embedder.embed(texts, side="passage")
    cosines = vectors[: len(answer.claims)] @ vectors[len(answer.claims) :].T
    return [
        {
            str(answer.passages[index].chunk.document): ""
            for index, cosine in enumerate(row)
            if cosine >= max(_LEAST, 0.99 * row.max())
        }
        for row in cosines
    ]


async def measure(language: str, kind: Kind, by: str, count: int, embedder: Embedder) -> CitationFigures:
    right = cited = supported = found = unsupported = leaked = quoted = 0
    answers = labelled(language, kind, count)
    for answer in answers:
        cite = cited_by_us if by == "finish" else cited_by_cosine
        for (words, gold), sources in zip(answer.claims, await cite(answer, embedder), strict=True):
            cited += len(sources)
            if gold is None:
                unsupported += 1
                leaked += bool(sources)
                continue
            supported += 1
            if gold in sources:
                found += 1
                right += 1
                quoted += sources[gold] in words or words in sources[gold]
    return CitationFigures(
        language=language,
        kind=kind,
        by=by,
        answers=len(answers),
        precision=right / max(1, cited),
        recall=found / supported,
        unsupported=leaked / unsupported,
        quote=quoted / max(1, found) if kind == "verbatim" and by == "finish" else float("nan"),
    )


async def seconds_per_answer(embedder: Embedder) -> float:
    times: list[float] = []
    for answer in labelled("en", "restated", 12):
        started = time.perf_counter()
        await cited_by_us(answer, embedder)
        times.append(time.perf_counter() - started)
    return statistics.median(times[2:])


def stream_seconds(size: int = 3) -> float:
    """Processor time for a megabyte of cited prose in pieces of three characters."""
    sentence = "The notice period is four weeks to the end of a month [1]. Holidays, says the handbook, are granted by the lead [2, 3]. "
    text = (sentence * (1_000_000 // len(sentence) + 1))[:1_000_000]
    passages = [hit("", str(number), "en") for number in range(3)]
    stream = MarkerStream(passages)
    started = time.process_time()
    for at in range(0, len(text), size):
        stream.feed(text[at : at + size])
    stream.close()
    return time.process_time() - started


def shown(figure: float) -> str:
    return "" if figure != figure else f"{figure:.3f}"


async def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--answers", type=int, default=120)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if not SHARED.is_dir():
        print(f"no data in {SHARED}: nothing to measure")
        return 0
    rows: list[CitationFigures] = []
    with tempfile.TemporaryDirectory() as folder:
        async with local.connect(local.Settings(), data_dir=Path(folder)) as embedder:
            memoized = MemoizedEmbedder(embedder)
            for language in LANGUAGES:
                for kind in KINDS:
                    for by in ("finish", "cosine"):
                        rows.append(await measure(language, kind, by, arguments.answers, memoized))
            per_answer = await seconds_per_answer(embedder)
    stream = stream_seconds()
    if arguments.json:
        print(
            json.dumps(
                {
                    "rows": [asdict(row) for row in rows],
                    "fallback_seconds": per_answer,
                    "stream_seconds": stream,
                }
            )
        )
        return 0
    print(
        "| language | claims | by | precision | recall | unsupported cited | quote |\n|---|---|---|---|---|---|---|"
    )
    for row in rows:
        print(
            f"| {row.language} | {row.kind} | {row.by} | {row.precision:.3f} | {row.recall:.3f} | {row.unsupported:.3f} |"
            f" {shown(row.quote)} |"
        )
    print(f"\nthe fallback takes {1000 * per_answer:.0f} ms an answer (4 claims, 8 passages)")
    print(f"a megabyte streamed in pieces of 3 characters takes {stream:.2f} s of processor time")
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
