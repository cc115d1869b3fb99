"""Disk bytes per chunk in Elasticsearch, by part: `python -m benchmarks.elastic.chunk_bytes [--chunks N] [--vectors KIND] [--json]`.

Chunks of the judged sets, if present, and `--chunks` synthetic ones of 150 words go into one shard of a new node. The server
reports the parts, just written and merged into one segment.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
import uuid
import warnings
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any, cast

from elasticsearch import Elasticsearch

from benchmarks.corpus import CHUNKS_PER_DOCUMENT, DIMENSIONS, Corpus, judged_chunks
from rag_engine.indexes import elasticsearch
from rag_engine.indexes.elasticsearch import documents, schema
from rag_engine.indexes.elasticsearch.manifests.store import Generation
from rag_engine.ports import IndexIdentity
from rag_engine.text.analyzer import VERSION
from tests.elastic.node import THOROUGH, running_node

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rag_engine.types import Chunk, Vector

INDEX = "chunk-bytes"
BULK = 500
REFRESHED_EVERY = 8
"""Bulks between refreshes, so that there are segments to merge, which removes the recovery source."""
SECONDS = 600.0
FILES = {"floats": ("vec",), "codes": ("veq", "veb"), "graph": ("vex",)}
"""File endings of vectors."""


def judged() -> list[tuple[Chunk, Vector]]:
    found = asyncio.run(judged_chunks(questions_per_set=1))
    return [] if found is None else list(zip(found.chunks, found.vectors, strict=True))


def made_up(chunks: int) -> list[tuple[Chunk, Vector]]:
    corpus = Corpus()
    return [pair for number in range(chunks // CHUNKS_PER_DOCUMENT) for pair in corpus.document(number)[1]]


def measure(
    client: Elasticsearch, pairs: Sequence[tuple[Chunk, Vector]], url: str, kind: str
) -> Iterator[dict[str, Any]]:
    """Bytes per chunk, just written and merged."""
    settings = elasticsearch.Settings.model_validate({"url": url, "vectors": kind, "replicas": 0})
    identity = IndexIdentity(model="measured", dimensions=DIMENSIONS, analyzer=VERSION)
    client.options(ignore_status=404).indices.delete(index=INDEX)
    client.indices.create(index=INDEX, **schema.chunk_index(settings, identity))
    lines = _lines(pairs)
    bulks = 0
    while batch := [line for _, line in zip(range(2 * BULK), lines, strict=False)]:
        answer = client.bulk(index=INDEX, operations=cast("list[dict[str, Any]]", batch))
        if answer["errors"]:
            raise RuntimeError(str(answer["items"])[:500])
        bulks += 1
        if bulks % REFRESHED_EVERY == 0:
            client.indices.refresh(index=INDEX)
    characters = sum(len(chunk.text) for chunk, _ in pairs) / len(pairs)
    about: dict[str, Any] = {"chunks": len(pairs), "characters": round(characters), "vectors": kind}
    yield about | {"state": "just written"} | _parts(client, len(pairs))
    _wait_until_recoverable(client)
    client.indices.forcemerge(index=INDEX, max_num_segments=1)
    yield about | {"state": "merged"} | _parts(client, len(pairs))
    client.indices.delete(index=INDEX)


def _lines(pairs: Sequence[tuple[Chunk, Vector]]) -> Iterator[bytes]:
    base = uuid.uuid4().hex
    for _, of in groupby(pairs, lambda pair: pair[0].document):
        generation = Generation(name=uuid.uuid4().hex, base=base, at=0)
        yield from chain.from_iterable(documents.operations(list(of), generation))


def _wait_until_recoverable(client: Elasticsearch) -> None:
    """Merging keeps the recovery source that leases need; they are renewed twice a minute."""
    deadline = time.monotonic() + 90
    while True:
        answer = client.indices.stats(index=INDEX, level="shards", metric="docs")
        ((shard,),) = answer["indices"][INDEX]["shards"].values()
        held = [lease["retaining_seq_no"] for lease in shard["retention_leases"]["leases"]]
        if min(held, default=0) > shard["seq_no"]["max_seq_no"]:
            return
        if time.monotonic() > deadline:
            raise RuntimeError(f"the leases were not renewed: {held}")
        time.sleep(0.5)


def _parts(client: Elasticsearch, chunks: int) -> dict[str, float]:
    client.indices.refresh(index=INDEX)
    client.indices.flush(index=INDEX)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the client warns that this API is a preview
        account = client.indices.disk_usage(index=INDEX, run_expensive_tasks=True).body
    fields: Mapping[str, Mapping[str, int]] = account[INDEX]["fields"]
    off_heap = client.indices.stats(index=INDEX, metric="dense_vector")["_all"]["total"]["dense_vector"][
        "off_heap"
    ]
    taken = {name: field["total_in_bytes"] for name, field in fields.items()}
    parts = {
        **{
            part: sum(off_heap[f"total_{file}_size_bytes"] for file in files) for part, files in FILES.items()
        },
        "words": taken.pop("tokens") + taken.pop(schema.FREQUENCIES),
        "source": taken.pop("_source"),
        "source for recovery": taken.pop("_recovery_source", 0),
    }
    taken.pop("vector")
    parts["ids, keywords, numbers"] = sum(taken.values())
    return {part: round(value / chunks, 1) for part, value in {**parts, "all": sum(parts.values())}.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--chunks", type=int, default=20_000, help="made-up chunks; 0 for none")
    parser.add_argument("--vectors", default="int8_hnsw", help="the index's setting of that name")
    parser.add_argument("--json", action="store_true", help="one JSON object per state and line")
    arguments = parser.parse_args()
    every = {"judged sets": judged(), "made up": made_up(arguments.chunks)}
    with (
        running_node(heap="1g", options=THOROUGH) as node,
        Elasticsearch(node.url, request_timeout=SECONDS) as client,
    ):
        for name, pairs in every.items():
            for row in measure(client, pairs, node.url, arguments.vectors) if pairs else ():
                print(json.dumps({"data": name, **row}) if arguments.json else _told(name, row), flush=True)


def _told(name: str, row: Mapping[str, Any]) -> str:
    return f"{name}\n" + "\n".join(f"  {part}: {value}" for part, value in row.items())


if __name__ == "__main__":
    main()
