"""Observers: those who are told of every operation, and the wrappers that tell them."""

from __future__ import annotations

import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from bot.observing.operations import Stage, outcome_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from contextlib import AbstractContextManager

    from bot.observing.operations import Operation
    from bot.port import ChatService
    from rag_engine.ingestion import Parse
    from rag_engine.pipeline import Inquiry, NamedStep
    from rag_engine.ports import Embedder, LanguageModel, Reranker, StoredIndex


class Sink(Protocol):
    """Whoever counts, times or traces."""

    def around(self, operation: Operation) -> AbstractContextManager[None]:
        """Entered when the operation begins; left when it is over and all is known of it."""
        ...

    def depth(self, queue: str, read: Callable[[], float]) -> None:
        """How many wait in a queue: to be asked at any time."""
        ...

    def waited(self, database: str, seconds: float) -> None:
        """How long a writer of a database waited for its turn."""
        ...

    def circuit(self, backend: str, state: str) -> None:
        """Calls to a backend are let through (`closed`), tried (`half_open`) or not even made (`open`)."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Observers:
    """All of them; none where neither metrics nor traces are wanted, and then every port is left as it is."""

    sinks: tuple[Sink, ...] = field(default=())

    @contextmanager
    def around(self, operation: Operation) -> Generator[None]:
        """Tell of an operation that goes on inside the block."""
        started = time.perf_counter()
        with ExitStack() as stack:
            for sink in self.sinks:
                stack.enter_context(sink.around(operation))
            try:
                yield
                operation.outcome = "ok"
            except BaseException as error:
                operation.outcome, operation.error = outcome_of(error), error
                raise
            finally:
                operation.seconds = time.perf_counter() - started

    def depth(self, queue: str, read: Callable[[], float]) -> None:
        """Tell how many wait in a queue whenever somebody asks."""
        for sink in self.sinks:
            sink.depth(queue, read)

    def waited(self, database: str, seconds: float) -> None:
        """Tell how long a writer waited."""
        for sink in self.sinks:
            sink.waited(database, seconds)

    def circuit(self, backend: str, state: str) -> None:
        """Tell whether calls to a backend are let through."""
        for sink in self.sinks:
            sink.circuit(backend, state)

    # --- the ports, observed; the wrappers are imported only where somebody observes

    def index(self, index: StoredIndex) -> StoredIndex:
        """The index, with every use told."""
        return self._wrappers().ObservedIndex(index, self) if self.sinks else index

    def embedder(self, embedder: Embedder) -> Embedder:
        """The embedder, with every batch told."""
        return self._wrappers().ObservedEmbedder(embedder, self) if self.sinks else embedder

    def model(self, model: LanguageModel) -> LanguageModel:
        """The model, with every reply told."""
        return self._wrappers().ObservedModel(model, self) if self.sinks else model

    def reranker(self, reranker: Reranker) -> Reranker:
        """The reranker, with every call told."""
        return self._wrappers().ObservedReranker(reranker, self) if self.sinks else reranker

    def parse(self, parse: Parse) -> Parse:
        """The parser, with every file told."""
        return self._wrappers().ObservedParse(parse, self) if self.sinks else parse

    def service(self, service: ChatService) -> ChatService:
        """The chat service, with every event and every write told."""
        if not self.sinks:
            return service
        from bot.observing import chat

        return chat.ObservedService(service, self)

    def steps(self, steps: Sequence[NamedStep]) -> Sequence[NamedStep]:
        """The steps, each told."""
        return [self._step(step) for step in steps] if self.sinks else steps

    @staticmethod
    def _wrappers():  # the module's type is inferred: with a name for it, nothing in it would be checked
        from bot.observing import ports

        return ports

    def _step(self, step: NamedStep) -> NamedStep:
        async def run(inquiry: Inquiry) -> Inquiry:
            with self.around(Stage(name=step.name)):
                return await step.run(inquiry)

        return replace(step, run=run)
