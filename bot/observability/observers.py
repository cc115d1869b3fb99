from __future__ import annotations

import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from bot.observability.operations import StageRun, outcome_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from contextlib import AbstractContextManager

    from bot.observability.operations import Operation
    from bot.port import ChatService
    from rag_engine.ingestion.ingestion import Parse
    from rag_engine.pipeline import Inquiry, NamedStep
    from rag_engine.ports import Answerer, Embedder, LanguageModel, Reranker, StoredIndex


class Sink(Protocol):
    def around(self, operation: Operation) -> AbstractContextManager[None]: ...

    def depth(self, queue: str, read: Callable[[], float]) -> None: ...

    def waited(self, database: str, seconds: float) -> None: ...

    def circuit(self, backend: str, state: str) -> None:
        """`closed`, `half_open` or `open`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Observers:
    """Without any, ports are not wrapped."""

    sinks: tuple[Sink, ...] = field(default=())

    @contextmanager
    def around(self, operation: Operation) -> Generator[None]:
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
        for sink in self.sinks:
            sink.depth(queue, read)

    def waited(self, database: str, seconds: float) -> None:
        for sink in self.sinks:
            sink.waited(database, seconds)

    def circuit(self, backend: str, state: str) -> None:
        for sink in self.sinks:
            sink.circuit(backend, state)

    def index(self, index: StoredIndex) -> StoredIndex:
        return self._wrappers().ObservedIndex(index, self) if self.sinks else index

    def embedder(self, embedder: Embedder) -> Embedder:
        return self._wrappers().ObservedEmbedder(embedder, self) if self.sinks else embedder

    def model(self, model: LanguageModel) -> LanguageModel:
        return self._wrappers().ObservedModel(model, self) if self.sinks else model

    def answerer(self, answerer: Answerer) -> Answerer:
        return self._wrappers().ObservedAnswerer(answerer, self) if self.sinks else answerer

    def reranker(self, reranker: Reranker) -> Reranker:
        return self._wrappers().ObservedReranker(reranker, self) if self.sinks else reranker

    def parse(self, parse: Parse) -> Parse:
        return self._wrappers().ObservedParse(parse, self) if self.sinks else parse

    def service(self, service: ChatService) -> ChatService:
        if not self.sinks:
            return service
        from bot.observability import observed_service

        return observed_service.ObservedService(service, self)

    def steps(self, steps: Sequence[NamedStep]) -> Sequence[NamedStep]:
        return [self._step(step) for step in steps] if self.sinks else steps

    @staticmethod
    def _wrappers():  # naming the module's type would disable checks
        from bot.observability import observed_ports

        return observed_ports

    def _step(self, step: NamedStep) -> NamedStep:
        async def run(inquiry: Inquiry) -> Inquiry:
            with self.around(StageRun(name=step.name)):
                return await step.run(inquiry)

        return replace(step, run=run)
