"""Counters and timings of what the index is asked, round its port; served for Prometheus while the program runs.

Imported only where metrics are wanted: the client library costs a fraction of a second, which a command would feel. No label
says who asked, or what.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, get_args

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, start_http_server

from bot import telemetry
from rag_engine.errors import BadSettings, Misconfigured, Unavailable
from rag_engine.types import Leg

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Generator, Sequence

    from bot.parts import StoredIndex
    from bot.settings import MetricsSettings
    from rag_engine.types import Chunk, Document, DocumentId, KnowledgeBaseId, Ranking, Search, Vector

_OPERATIONS: Final = ("open", "search", "put", "drop")
_OUTCOMES: Final = ("ok", "unavailable", "misconfigured", "cancelled", "failed")
_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Meters:
    """What is counted."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.url = ""
        """Where they are shown, if anywhere."""
        ProcessCollector(registry=self.registry)
        self._operations = Counter(
            "footnote_index_operations",
            "What the index was asked to do, by how it ended",
            ["operation", "outcome"],
            registry=self.registry,
        )
        self._faults = Counter(
            "footnote_index_faults",
            "Times that the index did not answer, by what was wrong",
            ["backend", "reason"],
            registry=self.registry,
        )
        self._incomplete = Counter(
            "footnote_index_incomplete_rankings",
            "Rankings that a part of the index did not contribute to",
            ["leg"],
            registry=self.registry,
        )
        self._seconds = Histogram(
            "footnote_index_seconds",
            "How long the index took, whatever the outcome",
            ["operation"],
            buckets=_BUCKETS,
            registry=self.registry,
        )
        # What has never happened is 0, not absent: an alert can tell the difference.
        for operation in _OPERATIONS:
            self._seconds.labels(operation)
            for outcome in _OUTCOMES:
                self._operations.labels(operation, outcome)
        for leg in get_args(Leg):
            self._incomplete.labels(leg)

    @contextmanager
    def operation(self, name: str) -> Generator[None]:
        """Count and time one operation on the index."""
        started = time.perf_counter()
        outcome = "failed"
        try:
            yield
            outcome = "ok"
        except Unavailable as error:
            outcome = "unavailable"
            self._faults.labels(error.backend or "index", error.reason or "failed").inc()
            raise
        except Misconfigured:
            outcome = "misconfigured"
            raise
        except asyncio.CancelledError:
            outcome = "cancelled"
            raise
        finally:
            self._operations.labels(name, outcome).inc()
            self._seconds.labels(name).observe(time.perf_counter() - started)

    def round(self, index: StoredIndex) -> MeasuredIndex:
        """The index with everything counted that is asked of it."""
        return MeasuredIndex(index, self)

    def incomplete(self, ranking: Ranking) -> None:
        """Count a ranking that a part of the index did not contribute to."""
        self._incomplete.labels(ranking.leg).inc()


@dataclass(frozen=True, slots=True)
class MeasuredIndex:
    """The same port round `index`."""

    index: StoredIndex
    meters: Meters

    async def put(self, document: Document, chunks: Sequence[tuple[Chunk, Vector]]) -> None:
        with self.meters.operation("put"):
            await self.index.put(document, chunks)

    async def drop(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> None:
        with self.meters.operation("drop"):
            await self.index.drop(knowledge_base, document)

    async def search(self, searches: Sequence[Search]) -> list[Ranking]:
        with self.meters.operation("search"):
            rankings = await self.index.search(searches)
        for ranking in rankings:
            if not ranking.complete:
                self.meters.incomplete(ranking)
        return rankings

    def scan(self, knowledge_base: KnowledgeBaseId) -> AsyncIterator[tuple[Chunk, Vector]]:
        return self.index.scan(knowledge_base)

    async def count(self, knowledge_base: KnowledgeBaseId) -> int:
        return await self.index.count(knowledge_base)


@asynccontextmanager
async def served(settings: MetricsSettings) -> AsyncGenerator[Meters]:
    """Meters that `http://host:port/metrics` shows until the block ends. Raises `BadSettings` when the port cannot be had."""
    meters = Meters()
    try:
        server, thread = await asyncio.to_thread(
            start_http_server, settings.port or 0, settings.host, meters.registry
        )
    except OSError as error:
        reason = error.strerror or str(error)
        raise BadSettings(
            f"FOOTNOTE_METRICS__PORT: {settings.port} on {settings.host} cannot be used ({reason});"
            " choose another port, or another FOOTNOTE_METRICS__HOST."
        ) from error
    try:
        meters.url = f"http://{settings.host}:{server.server_port}/metrics"
        telemetry.event("metrics", url=meters.url)
        yield meters
    finally:
        await asyncio.to_thread(server.shutdown)
        server.server_close()
        await asyncio.to_thread(thread.join)
