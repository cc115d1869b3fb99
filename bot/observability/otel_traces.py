"""One per turn, without text. Imported only if needed. A silent collector costs traces, never answers."""

from __future__ import annotations

import asyncio
import os
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Status, StatusCode

from bot.observability import log
from bot.observability.operations import Event, StageRun, TurnWork

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator

    from opentelemetry.context import Context
    from opentelemetry.trace import Span

    from bot.observability.operations import Operation
    from bot.settings import TracingSettings

_PATH: Final = "/v1/traces"
_EXPORT_SECONDS: Final = 5.0
"""May delay shutdown."""
_FAULTS: Final = frozenset({"unavailable", "misconfigured", "unreachable", "failed"})

_span: ContextVar[Span | None] = ContextVar("span", default=None)


class Tracer:
    def __init__(self, provider: TracerProvider) -> None:
        self._tracer = provider.get_tracer("footnote")

    @contextmanager
    def around(self, operation: Operation) -> Generator[None]:
        above = _span.get()
        if isinstance(operation, Event) or (above is None and not isinstance(operation, TurnWork)):
            yield
            return
        span = self._tracer.start_span(operation.title, context=_below(above))
        try:
            if isinstance(operation, TurnWork | StageRun):
                with _current(span):
                    yield
            else:
                yield
        finally:
            _describe(span, operation)
            span.end()

    def depth(self, queue: str, read: Callable[[], float]) -> None: ...

    def waited(self, database: str, seconds: float) -> None: ...

    def circuit(self, backend: str, state: str) -> None: ...


@asynccontextmanager
async def exported(settings: TracingSettings) -> AsyncGenerator[Tracer]:
    """Exports the rest at the block's end."""
    own = Resource({SERVICE_NAME: os.environ.get("OTEL_SERVICE_NAME", "footnote")})
    resource = Resource.create({SERVICE_VERSION: version("footnote-bot")}).merge(own)
    exporter = OTLPSpanExporter(endpoint=_address(settings.endpoint), timeout=_EXPORT_SECONDS)
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    log.event("tracing")
    try:
        yield Tracer(provider)
    finally:
        try:
            async with asyncio.timeout(2 * _EXPORT_SECONDS):
                await asyncio.to_thread(provider.shutdown)
        except TimeoutError:
            log.event("traces_lost")


def _address(endpoint: str) -> str:
    return endpoint if endpoint.endswith(_PATH) else endpoint.rstrip("/") + _PATH


def _below(span: Span | None) -> Context:
    return trace.set_span_in_context(span or trace.INVALID_SPAN)


@contextmanager
def _current(span: Span) -> Generator[None]:
    found = span.get_span_context()
    token = _span.set(span)
    try:
        with log.within(
            trace_id=trace.format_trace_id(found.trace_id), span_id=trace.format_span_id(found.span_id)
        ):
            yield
    finally:
        _span.reset(token)


def _describe(span: Span, operation: Operation) -> None:
    for name, value in operation.facts().items():
        span.set_attribute(f"footnote.{name}", value)
    span.set_attribute("footnote.outcome", operation.outcome)
    if operation.error is not None:
        span.set_attribute("error.type", type(operation.error).__qualname__)
    if operation.outcome in _FAULTS:
        span.set_status(Status(StatusCode.ERROR))
