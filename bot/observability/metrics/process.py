from __future__ import annotations

from typing import TYPE_CHECKING, Final

from prometheus_client import Counter, Gauge, Histogram

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

_LAGS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class ConnectionMeters:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._live = Gauge(
            "footnote_connections", "Connections that deliver events", ["platform"], registry=registry
        )
        self._expected = Gauge(
            "footnote_connections_wanted",
            "Connections that should deliver events",
            ["platform"],
            registry=registry,
        )
        self._deaf = Counter(
            "footnote_deaf",
            "Times that a platform delivered nothing for too long",
            ["platform"],
            registry=registry,
        )
        self._recoveries = Counter(
            "footnote_recoveries",
            "Connection faults that the adapter fixed, by fault",
            ["platform", "fault"],
            registry=registry,
        )
        self._troubles = Counter(
            "footnote_troubles",
            "Faults that only the operator can fix, by fault",
            ["platform", "fault"],
            registry=registry,
        )

    def expect(self, platform: str) -> None:
        self._live.labels(platform).set(0)
        self._deaf.labels(platform)

    def connections(self, platform: str, *, live: int, expected: int) -> None:
        self._live.labels(platform).set(live)
        self._expected.labels(platform).set(expected)

    def deaf(self, platform: str) -> None:
        self._deaf.labels(platform).inc()

    def recovered(self, platform: str, fault: str) -> None:
        self._recoveries.labels(platform, fault).inc()

    def operator_needed(self, platform: str, fault: str) -> None:
        self._troubles.labels(platform, fault).inc()


class LoopMeters:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._lag = Histogram(
            "footnote_event_loop_lag_seconds",
            "How late the event loop wakes what waits for it, four times a second",
            buckets=_LAGS,
            registry=registry,
        )

        self._tasks = Gauge(
            "footnote_event_loop_tasks", "Tasks that the event loop has not ended", registry=registry
        )

    def turned(self, *, lag: float, tasks: int) -> None:
        self._lag.observe(lag)
        self._tasks.set(tasks)
