from __future__ import annotations

from typing import TYPE_CHECKING, Final

from prometheus_client import Counter, Gauge, Histogram

from bot.observability.metrics.buckets import CALLS, REPLIES

if TYPE_CHECKING:
    from collections.abc import Callable

    from prometheus_client import CollectorRegistry

    from bot.observability.operations import Event, Feedback, OverBudget, TurnWork, Writing
    from rag_engine.types import Answer

_STATES: Final = ("final", "stopped", "failed")
_WRITES: Final = ("create", "edit", "final")


def spent(answer: Answer) -> dict[str, float]:
    amounts = {what: answer.research.get(what) for what in ("rounds", "searches", "calls", "tokens")}
    return {what: amount for what, amount in amounts.items() if isinstance(amount, int | float)}


class EventMeters:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._events = Counter(
            "footnote_events",
            "Events from platforms: messages (also those not for us), edits, commands, buttons",
            ["platform", "kind"],
            registry=registry,
        )

        self._over_budget = Counter(
            "footnote_over_budget",
            "Questions, repeated answers and views of sources refused because the person reached the hourly limit",
            ["platform", "kind"],
            registry=registry,
        )

        self._feedback = Counter(
            "footnote_feedback",
            "Ratings of answers; a changed rating counts again",
            ["platform", "rating"],
            registry=registry,
        )

        self._reasons = Counter(
            "footnote_feedback_reasons",
            "Why answers were rated down",
            ["platform", "reason"],
            registry=registry,
        )

        self._sources = Counter(
            "footnote_feedback_sources",
            "Ratings and reasons, by what the answer cites: documents, web, messages, nothing",
            ["source", "rating", "reason"],
            registry=registry,
        )

    def rated(self, feedback: Feedback) -> None:
        if feedback.outcome == "ok":
            for kind in feedback.kinds:
                self._sources.labels(kind, feedback.rating, feedback.reason).inc()
        if feedback.outcome == "ok" and feedback.reason:
            self._reasons.labels(feedback.platform, feedback.reason).inc()
        elif feedback.outcome == "ok":
            self._feedback.labels(feedback.platform, feedback.rating).inc()

    def count(self, event: Event) -> None:
        self._events.labels(event.platform, event.kind).inc()

    def count_over_budget(self, refused: OverBudget) -> None:
        self._over_budget.labels(refused.platform, refused.kind).inc()


class TurnMeters:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._running = Gauge(
            "footnote_turns_running",
            "Questions in progress, including those that wait",
            ["platform"],
            registry=registry,
        )
        self._turns = Counter(
            "footnote_turns",
            "Questions, by how their turn ended (any other state: the turn was interrupted)",
            ["platform", "outcome"],
            registry=registry,
        )
        self._again = Counter(
            "footnote_turns_begun_again",
            "Turns that began again: after a restart, or on request (Regenerate, an edit)",
            ["platform", "why"],
            registry=registry,
        )
        self._first_text = Histogram(
            "footnote_turn_first_text_seconds",
            "From the start of a turn until the person can read the first words",
            ["platform"],
            buckets=REPLIES,
            registry=registry,
        )
        self._seconds = Histogram(
            "footnote_turn_seconds",
            "From the start of a turn to the last word",
            ["platform"],
            buckets=REPLIES,
            registry=registry,
        )
        self._answers = AnswerMeters(registry)

    def begin(self, work: TurnWork) -> None:
        for state in _STATES:
            self._turns.labels(work.platform, state)
        for why in ("restart", "asked"):
            self._again.labels(work.platform, why)
        self._running.labels(work.platform).inc()

    def end(self, work: TurnWork) -> None:
        self._running.labels(work.platform).dec()
        self._turns.labels(work.platform, work.state or "received").inc()
        if work.starts > 1:
            self._again.labels(work.platform, "restart" if work.resumed else "asked").inc()
        if work.first_text_seconds is not None:
            self._first_text.labels(work.platform).observe(work.first_text_seconds)
        if work.state == "final":
            self._seconds.labels(work.platform).observe(work.seconds)
        if work.answer is not None:
            self._answers.count(work.answer)


class AnswerMeters:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._stages = Histogram(
            "footnote_stage_seconds",
            "Stages of an answer: its steps, first_text, answer (which includes first_text), citations",
            ["stage"],
            buckets=CALLS,
            registry=registry,
        )
        self._fallbacks = Counter(
            "footnote_fallbacks", "What answers had to do without", ["name"], registry=registry
        )
        self._cited = Counter(
            "footnote_answers", "Answers, by whether they cite anything", ["cited"], registry=registry
        )
        for cited in ("yes", "no"):
            self._cited.labels(cited)
        self._researches = Counter(
            "footnote_researches", "Research runs, by why they ended", ["ending"], registry=registry
        )
        self._research = Counter(
            "footnote_research_spent",
            "What research took: rounds, searches, model calls before the report, their tokens",
            ["what"],
            registry=registry,
        )

    def count(self, answer: Answer) -> None:
        self._cited.labels("yes" if answer.citations else "no").inc()
        for stage, seconds in answer.timings.items():
            self._stages.labels(stage).observe(seconds)
        for name in answer.fallbacks:
            self._fallbacks.labels(name).inc()
        if answer.research:
            self._researches.labels(str(answer.research.get("ending", ""))).inc()
        for what, amount in spent(answer).items():
            self._research.labels(what).inc(amount)


class WriteMeters:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._writes = Counter(
            "footnote_writes",
            "Calls that change our messages, by outcome; throttled and unreachable ones are retried",
            ["platform", "route", "action", "outcome"],
            registry=registry,
        )
        self._seconds = Histogram(
            "footnote_write_seconds",
            "Duration of such a call, whatever its outcome",
            ["platform"],
            buckets=CALLS,
            registry=registry,
        )

    def begin(self, writing: Writing) -> None:
        for action in _WRITES:
            self._writes.labels(writing.platform, writing.route, action, "ok")

    def end(self, writing: Writing) -> None:
        self._writes.labels(writing.platform, writing.route, writing.action, writing.outcome).inc()
        self._seconds.labels(writing.platform).observe(writing.seconds)


class QueueMeters:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._waiting = Gauge("footnote_waiting", "Waiting tasks, by queue", ["queue"], registry=registry)
        self._storage = Histogram(
            "footnote_storage_wait_seconds",
            "How long a writer waited for its turn in a SQLite file",
            ["database"],
            buckets=CALLS,
            registry=registry,
        )
        self._circuits = Gauge(
            "footnote_circuit_open",
            "1: calls to a backend are suspended; 0.5: one is being tried",
            ["backend"],
            registry=registry,
        )

    def depth(self, queue: str, read: Callable[[], float]) -> None:
        self._waiting.labels(queue).set_function(read)

    def waited(self, database: str, seconds: float) -> None:
        self._storage.labels(database).observe(seconds)

    def circuit(self, backend: str, state: str) -> None:
        self._circuits.labels(backend).set({"closed": 0.0, "half_open": 0.5}.get(state, 1.0))
