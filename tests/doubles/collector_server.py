"""An OpenTelemetry collector over HTTP that keeps every span."""

from __future__ import annotations

import gzip
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from opentelemetry.proto.common.v1.common_pb2 import KeyValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One span; ids in hex, as in logs."""

    name: str
    trace: str
    id: str
    parent: str
    seconds: float
    failed: bool
    attributes: dict[str, str | int | float | bool]


@dataclass(slots=True, kw_only=True)
class Collector:
    url: str = ""
    spans: list[Span] = field(default_factory=list)
    resource: dict[str, str | int | float | bool] = field(default_factory=dict)
    texts: list[bytes] = field(default_factory=list)

    async def take(self, request: web.Request) -> web.Response:
        body = await request.read()
        if request.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        self.texts.append(body)
        for batch in ExportTraceServiceRequest.FromString(body).resource_spans:
            self.resource |= dict(map(_pair, batch.resource.attributes))
            for scope in batch.scope_spans:
                for span in scope.spans:
                    self.spans.append(
                        Span(
                            name=span.name,
                            trace=span.trace_id.hex(),
                            id=span.span_id.hex(),
                            parent=span.parent_span_id.hex(),
                            seconds=(span.end_time_unix_nano - span.start_time_unix_nano) / 1e9,
                            failed=span.status.code == 2,
                            attributes=dict(map(_pair, span.attributes)),
                        )
                    )
        return web.Response(content_type="application/x-protobuf")


@asynccontextmanager
async def serve() -> AsyncGenerator[Collector]:
    collector = Collector()
    application = web.Application()
    application.router.add_post("/v1/traces", collector.take)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        collector.url = f"http://{host}:{port}"
        yield collector
    finally:
        await runner.cleanup()


def _pair(attribute: KeyValue) -> tuple[str, str | int | float | bool]:
    value = attribute.value
    return attribute.key, getattr(value, value.WhichOneof("value") or "string_value")
