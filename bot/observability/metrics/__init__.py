"""Imported only if set up. No label says who asked, where, or what: values are few and known."""

from __future__ import annotations

import platform
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Gauge, ProcessCollector

from bot.observability import operations
from bot.observability.metrics.chat import EventMeters, QueueMeters, TurnMeters, WriteMeters
from bot.observability.metrics.engine import FileMeters, IndexMeters, ModelMeters, SourceMeters, VectorMeters
from bot.observability.metrics.process import ConnectionMeters, LoopMeters

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from bot.observability.operations import Operation


class Meters:
    """A `Sink`; more gauges may join `registry`."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        build = Gauge("footnote_build_info", "What runs here", ["version", "python"], registry=self.registry)
        build.labels(version("footnote-bot"), platform.python_version()).set(1)
        self._index = IndexMeters(self.registry)
        self._model = ModelMeters(self.registry)
        self._vectors = VectorMeters(self.registry)
        self._files = FileMeters(self.registry)
        self._sources = SourceMeters(self.registry)
        self._events = EventMeters(self.registry)
        self._turns = TurnMeters(self.registry)
        self._writes = WriteMeters(self.registry)
        self._queues = QueueMeters(self.registry)
        self.connections = ConnectionMeters(self.registry)
        self.event_loop = LoopMeters(self.registry)

    @contextmanager
    def around(self, operation: Operation) -> Generator[None]:
        match operation:
            case operations.TurnWork():
                self._turns.begin(operation)
            case operations.Writing():
                self._writes.begin(operation)
            case _:
                pass
        try:
            yield
        finally:
            self._count(operation)

    def _count(self, operation: Operation) -> None:
        match operation:
            case operations.IndexUse():
                self._index.count(operation)
            case operations.ModelCall():
                self._model.count(operation)
            case operations.Embedding():
                self._vectors.embedded(operation)
            case operations.Reranking():
                self._vectors.reranked(operation)
            case operations.SourceRun():
                self._sources.count(operation)
            case operations.Parsing():
                self._files.count(operation)
            case operations.Feedback():
                self._events.rated(operation)
            case operations.Event():
                self._events.count(operation)
            case operations.OverBudget():
                self._events.count_over_budget(operation)
            case operations.Writing():
                self._writes.end(operation)
            case operations.TurnWork():
                self._turns.end(operation)
            case _:
                pass

    def depth(self, queue: str, read: Callable[[], float]) -> None:
        self._queues.depth(queue, read)

    def waited(self, database: str, seconds: float) -> None:
        self._queues.waited(database, seconds)

    def circuit(self, backend: str, state: str) -> None:
        self._queues.circuit(backend, state)
