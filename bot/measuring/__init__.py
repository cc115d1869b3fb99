"""Counters and timings of what is observed, for Prometheus; `bot.process.health_server` shows them.

Imported only where metrics are wanted: the client library costs a fraction of a second, which a command would feel. No label
says who asked, where, or what: their values are few and known beforehand.
"""

from __future__ import annotations

import platform
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Gauge, ProcessCollector

from bot.measuring.chat import EventMeters, QueueMeters, TurnMeters, WriteMeters
from bot.measuring.engine import FileMeters, IndexMeters, ModelMeters, VectorMeters
from bot.measuring.running import ConnectionMeters, LoopMeters
from bot.observing import operations

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from bot.observing.operations import Operation


class Meters:
    """What is counted; `bot.observing.Sink`. `registry` is open to whoever has a gauge of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        build = Gauge("footnote_build_info", "What runs here", ["version", "python"], registry=self.registry)
        build.labels(version("footnote-bot"), platform.python_version()).set(1)
        self._index = IndexMeters(self.registry)
        self._model = ModelMeters(self.registry)
        self._vectors = VectorMeters(self.registry)
        self._files = FileMeters(self.registry)
        self._events = EventMeters(self.registry)
        self._turns = TurnMeters(self.registry)
        self._writes = WriteMeters(self.registry)
        self._queues = QueueMeters(self.registry)
        self.connections = ConnectionMeters(self.registry)
        self.event_loop = LoopMeters(self.registry)

    @contextmanager
    def around(self, operation: Operation) -> Generator[None]:
        """Count the operation when it is over."""
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
            case operations.Parsing():
                self._files.count(operation)
            case operations.Event():
                self._events.count(operation)
            case operations.Writing():
                self._writes.end(operation)
            case operations.TurnWork():
                self._turns.end(operation)
            case _:
                pass  # stages are counted with their turn

    def depth(self, queue: str, read: Callable[[], float]) -> None:
        """How many wait in a queue."""
        self._queues.depth(queue, read)

    def waited(self, database: str, seconds: float) -> None:
        """How long a writer waited."""
        self._queues.waited(database, seconds)

    def circuit(self, backend: str, state: str) -> None:
        """Whether calls to a backend are let through."""
        self._queues.circuit(backend, state)
