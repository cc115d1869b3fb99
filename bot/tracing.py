"""Traces for OpenTelemetry: one for each turn, with a span for each step, model call, search and write. No text is in any of them.

Imported only where an endpoint is set. What is sent is sent by a thread of the library, in batches; a collector that does not answer costs
traces, never answers.
"""

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

from bot import telemetry
from bot.observing.operations import Event, Stage, TurnWork

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator

    from opentelemetry.context import Context
    from opentelemetry.trace import Span

    from bot.observing.operations import Operation
    from bot.settings import TracingSettings

_PATH: Final = "/v1/traces"
_EXPORT_SECONDS: Final = 5.0
"""How long the collector may take, and the end of the program is held up for it."""
_FAULTS: Final = frozenset({"unavailable", "misconfigured", "unreachable", "failed"})
"""Outcomes that are nobody's wish."""

_span: ContextVar[Span | None] = ContextVar("span", default=None)


class Tracer:
    """`bot.observing.Sink`."""

    def __init__(self, provider: TracerProvider) -> None:
        self._tracer = provider.get_tracer("footnote")

    @contextmanager
    def around(self, operation: Operation) -> Generator[None]:
        """A span for the operation, if it belongs to a turn."""
        above = _span.get()
        if isinstance(operation, Event) or (above is None and not isinstance(operation, TurnWork)):
            yield
            return
        span = self._tracer.start_span(operation.title, context=_below(above))
        try:
            if isinstance(operation, TurnWork | Stage):  # what others are part of
                with _current(span):
                    yield
            else:
                yield
        finally:
            _describe(span, operation)
            span.end()

    def depth(self, queue: str, read: Callable[[], float]) -> None:
        """No trace has a queue."""

    def waited(self, database: str, seconds: float) -> None:
        """Too many, too short."""

    def circuit(self, backend: str, state: str) -> None:
        """It belongs to no turn."""


@asynccontextmanager
async def exported(settings: TracingSettings) -> AsyncGenerator[Tracer]:
    """A tracer whose spans go to the collector; what is left goes there when the block ends."""
    own = Resource({SERVICE_NAME: os.environ.get("OTEL_SERVICE_NAME", "footnote")})
    resource = Resource.create({SERVICE_VERSION: version("footnote-bot")}).merge(own)
    exporter = OTLPSpanExporter(endpoint=_address(settings.endpoint), timeout=_EXPORT_SECONDS)
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    telemetry.event("tracing")
    try:
        yield Tracer(provider)
    finally:
        try:
            async with asyncio.timeout(2 * _EXPORT_SECONDS):
                await asyncio.to_thread(provider.shutdown)
        except TimeoutError:
            telemetry.event("traces_lost")


def _address(endpoint: str) -> str:
    """That of traces, below the collector's own; as the library makes it of OTEL_EXPORTER_OTLP_ENDPOINT."""
    return endpoint if endpoint.endswith(_PATH) else endpoint.rstrip("/") + _PATH


def _below(span: Span | None) -> Context:
    # An empty context, not the current one: a turn begins a trace of its own.
    return trace.set_span_in_context(span or trace.INVALID_SPAN)


@contextmanager
def _current(span: Span) -> Generator[None]:
    found = span.get_span_context()
    token = _span.set(span)
    try:
        with telemetry.within(
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
