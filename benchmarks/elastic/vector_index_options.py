"""Compares vector `index_options` of Elasticsearch: `python -m benchmarks.elastic.vector_index_options`.

Each kind gets its own index on a new node and is searched with various numbers of candidates and rescored vectors
(`rescore_vector`), through filters that keep 100 %, 10 % and 1 % of the chunks, before and after merging to one segment. Chunks
are the judged sets, if present, and `--chunks` synthetic ones, which are unusually hard to quantise.

Recall is against exact search, with ties as found; the error is the largest difference between a hit's score as a cosine and its
cosine. Milliseconds are the server's `took`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import orjson
from elasticsearch import Elasticsearch
from elasticsearch.helpers import pack_dense_vector

from benchmarks.corpus import CHUNKS_PER_DOCUMENT, DIMENSIONS, Corpus, judged_chunks
from tests.elastic.node import THOROUGH, running_node

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from rag_engine.types import Matrix, Vector

INDEX = "vector-index-options"
BASES = 100
UNFILTERED = "all"
VIEWS: Mapping[str, int] = {UNFILTERED: BASES, "100 %": BASES, "10 %": 10, "1 %": 1}
"""Knowledge bases that a question sees; 100 % is a filter that keeps every chunk."""
CANDIDATES: Mapping[int, tuple[int, ...]] = {10: (50, 100, 200, 500), 100: (200, 500, 1000)}
"""`num_candidates` by `k`."""
OVERSAMPLES = (0.0, 2.0, 5.0)
EXACT_KINDS = frozenset({"hnsw", "flat"})
"""Kinds with exact vectors, so there is nothing to rescore."""
KINDS = (
    "hnsw:16:200",
    "int8_hnsw",
    "int8_hnsw:16:200",
    "int4_hnsw:16:200",
    "bbq_hnsw:16:200",
    "int8_flat",
)
QUESTIONS = 98
QUESTIONS_PER_SET = 14
WARM_UP = 3
BULK = 500
MADE_UP = 10_000
"""Chunks if there are no judged sets."""
REFRESHED_EVERY = 10_000
SECONDS = 600.0
_TIE = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """The chunks and questions; chunk `number` is in the knowledge base `bases[number]`."""

    name: str
    vectors: Matrix
    questions: Matrix

    @property
    def bases(self) -> NDArray[np.int64]:
        """Runs of neighbouring chunks: a knowledge base with one subject is harder for a graph."""
        return np.arange(len(self.vectors)) * BASES // len(self.vectors)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    k: int
    candidates: int
    oversample: float
    view: str

    def knn(self, vector: Vector, number: int) -> dict[str, object]:
        knn: dict[str, object] = {
            "field": "vector",
            "query_vector": vector.tolist(),
            "k": self.k,
            "num_candidates": self.candidates,
            "rescore_vector": {"oversample": self.oversample},
        }
        if self.view != UNFILTERED:
            knn["filter"] = {"terms": {"base": [str(base) for base in self.bases(number)]}}
        return knn

    def bases(self, number: int) -> list[int]:
        """The knowledge bases of a question, mostly without the one of its answer."""
        return [(number * 37 + step) % BASES for step in range(VIEWS[self.view])]


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionFigures:
    recall_at_10: float
    recall_at_k: float
    worst: float
    """The 5th percentile of recall at 10."""
    error: float
    took_p50: float
    took_p95: float


def made_up(chunks: int) -> Data:
    corpus = Corpus()
    for number in range(chunks // CHUNKS_PER_DOCUMENT):
        corpus.document(number)
    questions = [corpus.question(number).vector for number in range(QUESTIONS)]
    return Data(name="made up", vectors=np.array(corpus.vectors), questions=np.array(questions))


def judged() -> Data | None:
    found = asyncio.run(judged_chunks(questions_per_set=QUESTIONS_PER_SET))
    if found is None:
        return None
    return Data(name="judged sets", vectors=found.vectors, questions=found.question_vectors)


def write(client: Elasticsearch, data: Data, kind: str) -> float:
    """Builds the index; returns the seconds of writing."""
    client.options(ignore_status=404).indices.delete(index=INDEX)
    vector = {
        "type": "dense_vector",
        "dims": DIMENSIONS,
        "similarity": "cosine",
        "index_options": index_options(kind),
    }
    client.indices.create(
        index=INDEX,
        settings={"number_of_shards": 1, "number_of_replicas": 0, "refresh_interval": -1},
        mappings={"dynamic": "strict", "properties": {"base": {"type": "keyword"}, "vector": vector}},
    )
    started = time.perf_counter()
    for start in range(0, len(data.vectors), BULK):
        lines = cast("list[dict[str, Any]]", list(_operations(data, start)))  # bytes go as they are
        answer = client.bulk(index=INDEX, operations=lines)
        if answer["errors"]:
            raise RuntimeError(str(answer["items"])[:500])
        if (start + BULK) % REFRESHED_EVERY == 0:
            client.indices.refresh(index=INDEX)
    client.indices.refresh(index=INDEX)
    return time.perf_counter() - started


def index_options(kind: str) -> dict[str, object]:
    """`kind`, or `kind:m:ef_construction`, as mapping options."""
    name, *graph = kind.split(":")
    return {"type": name, **dict(zip(("m", "ef_construction"), map(int, graph), strict=False))}


def _operations(data: Data, start: int) -> Iterator[bytes]:
    bases = data.bases
    for number in range(start, min(start + BULK, len(data.vectors))):
        yield orjson.dumps({"index": {"_id": str(number)}})
        yield orjson.dumps({"base": str(bases[number]), "vector": pack_dense_vector(data.vectors[number])})


def ask(client: Elasticsearch, data: Data, asked: Ask, cosines: NDArray[np.float32]) -> OptionFigures:
    bases = data.bases
    rows: list[tuple[float, float, float, float]] = []
    for number in range(WARM_UP):
        _search(client, data, asked, number)
    for number in range(len(data.questions)):
        answer = _search(client, data, asked, number)
        hits = answer["hits"]["hits"]
        true = cosines[number, [int(hit["_id"]) for hit in hits]]
        seen = cosines[number, np.isin(bases, asked.bases(number))]
        scored = np.array([hit["_score"] for hit in hits]) * 2 - 1
        error = float(np.abs(scored - true).max(initial=0))
        rows.append((_recall(true[:10], seen, 10), _recall(true, seen, asked.k), error, answer["took"]))
    at_10, at_k, errors, times = np.array(rows).T
    return OptionFigures(
        recall_at_10=float(at_10.mean()),
        recall_at_k=float(at_k.mean()),
        worst=float(np.quantile(at_10, 0.05)),
        error=float(errors.max()),
        took_p50=float(np.quantile(times, 0.5)),
        took_p95=float(np.quantile(times, 0.95)),
    )


def _search(client: Elasticsearch, data: Data, asked: Ask, number: int) -> Mapping[str, Any]:
    knn = asked.knn(data.questions[number], number)
    return client.search(index=INDEX, knn=knn, size=asked.k, source=False).body


def _recall(found: NDArray[np.float32], seen: NDArray[np.float32], k: int) -> float:
    k = min(k, len(seen))
    least = -np.partition(-seen, k - 1)[k - 1]
    return float((found >= least - _TIE).sum() / k)


def asks(kind: str, ks: Sequence[int], oversamples: Sequence[float]) -> list[Ask]:
    exact, flat = kind.partition(":")[0] in EXACT_KINDS, kind.endswith("flat")
    return [
        Ask(view=view, k=k, candidates=candidates, oversample=oversample)
        for k in ks
        for oversample in ((0.0,) if exact else oversamples)
        for candidates in (CANDIDATES[k][:1] if flat else CANDIDATES[k])
        for view in VIEWS
    ]


def sizes(client: Elasticsearch, chunks: int) -> dict[str, float]:
    """Bytes per chunk: on disk, and of the files that should fit in memory for searches."""
    client.indices.flush(index=INDEX)
    total = client.indices.stats(index=INDEX, metric=["store", "dense_vector", "segments"])["_all"]["total"]
    bytes_by_file = {
        file: total["dense_vector"]["off_heap"][f"total_{file}_size_bytes"] / chunks
        for file in ("vec", "veq", "veb", "vex")
    }
    codes, graph = bytes_by_file["veq"] + bytes_by_file["veb"], bytes_by_file["vex"]
    return {
        "disk": round(total["store"]["size_in_bytes"] / chunks),
        "searched": round(graph + (codes or bytes_by_file["vec"])),
        "graph": round(graph),
        "segments": total["segments"]["count"],
    }


def measure(
    client: Elasticsearch, data: Data, kind: str, chosen: Sequence[Ask]
) -> Iterator[dict[str, object]]:
    """One row per set of options, before and after merging, with the cost of writing and storage."""
    cosines = data.questions @ data.vectors.T
    about: dict[str, object] = {"data": data.name, "chunks": len(data.vectors), "kind": kind}
    about["seconds"] = round(write(client, data, kind), 1)
    for state in ("as written", "merged"):
        if state == "merged":
            started = time.perf_counter()
            client.indices.forcemerge(index=INDEX, max_num_segments=1)
            client.indices.refresh(index=INDEX)
            about["seconds"] = round(time.perf_counter() - started, 1)
        about |= {"state": state, **sizes(client, len(data.vectors))}
        for asked in chosen:
            yield about | asdict(asked) | asdict(ask(client, data, asked, cosines))
    client.indices.delete(index=INDEX)


@contextmanager
def _client(url: str) -> Generator[Elasticsearch]:
    if not url:
        with running_node(heap="1g", options=THOROUGH) as node, _client(node.url) as client:
            yield client
        return
    with Elasticsearch(url, request_timeout=SECONDS) as client:
        yield client


COLUMNS = (
    "data, chunks | kind | state | seconds | segments | bytes on disk | bytes searched | k | candidates"
    " | oversample | recall@10 all, 100 %, 10 %, 1 % | of one in twenty | recall@k all, 100 %, 10 %, 1 % | error | took p50"
)


def _line(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows of one set of options through each filter, as a line of Markdown."""
    row = rows[0]
    cells = (
        f"{row['data']}, {row['chunks']:,}",
        *(row[name] for name in ("kind", "state", "seconds", "segments", "disk", "searched")),
        *(row["k"], row["candidates"], f"{row['oversample']:g}"),
        " ".join(f"{view['recall_at_10']:.3f}" for view in rows),
        " ".join(f"{view['worst']:.1f}" for view in rows),
        " ".join(f"{view['recall_at_k']:.3f}" for view in rows),
        f"{max(view['error'] for view in rows):.0e}",
        " ".join(f"{view['took_p50']:.0f}" for view in rows),
    )
    return f"| {' | '.join(map(str, cells))} |"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--chunks", type=int, default=0, help="made-up chunks to measure too")
    parser.add_argument("--no-judged", action="store_true", help="leave the judged sets out")
    parser.add_argument("--kinds", nargs="+", default=KINDS, metavar="KIND[:M:EF_CONSTRUCTION]")
    parser.add_argument("--k", type=int, nargs="+", default=[100], choices=[*CANDIDATES])
    parser.add_argument("--oversample", type=float, nargs="+", default=OVERSAMPLES)
    parser.add_argument("--url", default="", help="a node to use instead of one started now")
    parser.add_argument("--json", action="store_true", help="one JSON object per way to ask and line")
    return parser.parse_args()


def main() -> None:
    arguments = _arguments()
    real = None if arguments.no_judged else judged()
    chunks = arguments.chunks or (0 if real else MADE_UP)
    every = [real, made_up(chunks) if chunks else None]
    if not arguments.json:
        print(f"| {COLUMNS} |\n{'|---' * (COLUMNS.count('|') + 1)}|", flush=True)
    with _client(arguments.url) as client:
        for data in filter(None, every):
            for kind in arguments.kinds:
                rows = measure(client, data, kind, asks(kind, arguments.k, arguments.oversample))
                for _, views in groupby(
                    rows, lambda row: [row[name] for name in ("state", "k", "oversample", "candidates")]
                ):
                    several = list(views)
                    print(
                        "\n".join(map(json.dumps, several)) if arguments.json else _line(several), flush=True
                    )


if __name__ == "__main__":
    main()
