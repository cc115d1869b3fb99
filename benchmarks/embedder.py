"""The default embedder against sentence-transformers: `python -m benchmarks.embedder [--texts 1000] [--rounds 5] [--json]`.

Each variant runs in its own process on the same texts, equally English, Spanish and Chinese, from the retrieval sets beside the
project. Variants alternate: compare ratios, or processor time on a busy machine. Loading counts from the first line of a new
process, with files present.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractAsyncContextManager

    from rag_engine.ports import Embedder

VARIANTS: tuple[str, ...] = ("sentence-transformers", "local fp32", "local int8")
SETS = ("scifact", "xquad-es", "xquad-zh")
LOADS = 3
SHARED = Path(__file__).parents[1].parent / "shared" / "data"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingFigures:
    """One variant's row. Times in seconds, sizes in MB."""

    variant: str
    load: float
    load_processor: float
    rss_loaded: float
    rss_used: float
    texts_per_second: float
    ratio: float
    processor_ratio: float
    query_p50: float
    busy_query_p50: float
    farthest: float
    """The greatest 1 - cos to sentence-transformers."""


def read_texts(count: int) -> list[str]:
    """`count` passages, equally from each set."""
    texts: list[str] = []
    for place, name in enumerate(SETS):
        share = count // len(SETS) + (place < count % len(SETS))
        with gzip.open(SHARED / name / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
            documents = [json.loads(line) for line in lines]
        texts += [f"{document['title']}\n\n{document['text']}" for document in (documents * 9)[:share]]
    return texts


def read_queries() -> list[str]:
    with gzip.open(SHARED / "xquad-en" / "queries.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


class Child:
    """A variant in its own process, controlled by lines of JSON."""

    def __init__(self, variant: str, data_dir: Path) -> None:
        command = [sys.executable, "-m", "benchmarks.embedder", "--child", variant, str(data_dir)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.loaded = self._read()

    def ask(self, **order: object) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return self._read()

    def close(self) -> None:
        self._process.communicate("")

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())


def connecting(variant: str, data_dir: Path) -> AbstractAsyncContextManager[Embedder]:
    """Imports only what the variant needs, because imports count as loading."""
    if variant == "sentence-transformers":
        from rag_engine.embedders import sentence_transformers

        return sentence_transformers.connect(
            sentence_transformers.Settings(device="cpu", download=False), data_dir=data_dir
        )
    from rag_engine.embedders import local

    precision = variant.removeprefix("local ")
    return local.connect(local.Settings.model_validate({"precision": precision}), data_dir=data_dir)


def resident(field: str = "VmRSS") -> float:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split(f"{field}:")[1].split()[0]) / 1024


async def serve(variant: str, data_dir: Path) -> None:
    started = time.perf_counter()
    async with connecting(variant, data_dir) as embedder:
        loaded = {
            "seconds": time.perf_counter() - started,
            "processor": time.process_time(),
            "rss": resident(),
        }
        print(json.dumps(loaded), flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            print(json.dumps(await obey(embedder, json.loads(line))), flush=True)


async def obey(embedder: Embedder, order: dict[str, Any]) -> dict[str, Any]:
    if "queries" in order:
        return {"seconds": [await timed_query(embedder, query) for query in order["queries"]]}
    if "busy" in order:
        ingest = asyncio.create_task(embedder.embed(order["busy"], side="passage"))
        await asyncio.sleep(0.2)  # until the processors are at it
        seconds = [await timed_query(embedder, query) for query in order["meanwhile"] if not ingest.done()]
        ingest.cancel()
        await asyncio.wait([ingest])
        return {"seconds": seconds}
    started, processor = time.perf_counter(), time.process_time()
    rows = await embedder.embed(order["passages"], side="passage")
    seconds, processor = time.perf_counter() - started, time.process_time() - processor
    np.save(order["out"], rows)
    return {"seconds": seconds, "processor": processor, "rss": resident()}


async def timed_query(embedder: Embedder, query: str) -> float:
    started = time.perf_counter()
    await embedder.embed([query], side="query")
    return time.perf_counter() - started


@dataclass(slots=True, kw_only=True)
class Tally:
    child: Child
    loads: list[dict[str, float]]
    seconds: float = 0.0
    processor: float = 0.0
    rss: float = 0.0
    alone: list[float] = field(default_factory=list[float])
    busy: list[float] = field(default_factory=list[float])
    rows: list[np.ndarray] = field(default_factory=list[np.ndarray])

    def take_turn(self, passages: Sequence[str], queries: Sequence[str], out: Path) -> None:
        self.alone += self.child.ask(queries=queries)["seconds"]
        told = self.child.ask(passages=passages, out=str(out))
        self.seconds += told["seconds"]
        self.processor += told["processor"]
        self.rss = max(self.rss, told["rss"])
        self.rows.append(np.load(out))
        self.busy += self.child.ask(busy=passages, meanwhile=queries[:5])["seconds"]


def measure(count: int, rounds: int, say: Callable[[str], None]) -> list[EmbeddingFigures]:
    texts, queries = read_texts(count), read_queries()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        data_dir = Path(folder)
        say("loading")
        loads = {variant: load_times(variant, data_dir) for variant in VARIANTS}
        tallies = {
            variant: Tally(child=Child(variant, data_dir), loads=loads[variant]) for variant in VARIANTS
        }
        for tally in tallies.values():
            stack.callback(tally.child.close)
        for number in range(rounds):
            say(f"round {number + 1} of {rounds}")
            for variant in rotated(VARIANTS, number):
                tallies[variant].take_turn(
                    texts[number::rounds], queries[number::rounds][:50], data_dir / "rows.npy"
                )
    reference = tallies[VARIANTS[0]]
    return [figures_of(variant, tally, reference, len(texts)) for variant, tally in tallies.items()]


def figures_of(variant: str, tally: Tally, reference: Tally, texts: int) -> EmbeddingFigures:
    cosines = np.sum(np.concatenate(tally.rows) * np.concatenate(reference.rows), axis=1, dtype=np.float64)
    return EmbeddingFigures(
        variant=variant,
        load=min(load["seconds"] for load in tally.loads),
        load_processor=min(load["processor"] for load in tally.loads),
        rss_loaded=statistics.median(load["rss"] for load in tally.loads),
        rss_used=tally.rss,
        texts_per_second=texts / tally.seconds,
        ratio=reference.seconds / tally.seconds,
        processor_ratio=reference.processor / tally.processor,
        query_p50=statistics.median(tally.alone),
        busy_query_p50=statistics.median(tally.busy),
        farthest=float(np.max(1 - cosines)),
    )


def load_times(variant: str, data_dir: Path) -> list[dict[str, float]]:
    """Load times of several new processes, after one uncounted run that builds the files."""
    found: list[dict[str, float]] = []
    for _ in range(LOADS + 1):
        child = Child(variant, data_dir)
        child.close()
        found.append(child.loaded)
    return found[1:]


def rotated(variants: Sequence[str], by: int) -> list[str]:
    shift = by % len(variants)
    return [*variants[shift:], *variants[:shift]]


def print_table(figures: Sequence[EmbeddingFigures]) -> None:
    print(
        "| embedder | load s (processor) | RSS MB loaded / used | texts/s | ratio (by processor time)"
        " | query p50 ms | while ingesting ms | max 1-cos |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for row in figures:
        print(
            f"| {row.variant} | {row.load:.2f} ({row.load_processor:.2f}) | {row.rss_loaded:.0f} / {row.rss_used:.0f} |"
            f" {row.texts_per_second:.1f} | {row.ratio:.2f} x ({row.processor_ratio:.2f} x) | {row.query_p50 * 1e3:.1f} |"
            f" {row.busy_query_p50 * 1e3:.1f} | {row.farthest:.1e} |"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", nargs=2, metavar=("VARIANT", "DATA_DIR"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        asyncio.run(serve(options.child[0], Path(options.child[1])))
        return 0
    if not SHARED.is_dir():
        print("skipped: the retrieval sets are not beside the project")
        return 0
    figures = measure(options.texts, options.rounds, lambda text: print(text, file=sys.stderr, flush=True))
    if options.json:
        print(json.dumps([asdict(row) for row in figures]))
    else:
        print_table(figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
