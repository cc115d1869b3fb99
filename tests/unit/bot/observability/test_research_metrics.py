from __future__ import annotations

from prometheus_client import CollectorRegistry

from bot.observability.metrics.chat import TurnMeters
from bot.observability.operations import TurnWork
from rag_engine.types import Answer, TurnId


def test_rounds_searches_calls_and_tokens_are_summed_and_endings_counted() -> None:
    registry = CollectorRegistry()
    meters = TurnMeters(registry)
    research = {
        "rounds": 2,
        "searches": 3,
        "calls": 5,
        "tokens": 7_000,
        "ending": "sufficient",
        "queries": [],
    }
    for spent in (research, research, {}):
        answer = Answer(
            turn=TurnId("t"), text="", citations=(), grounded=False, timings={}, research=dict(spent)
        )
        work = TurnWork(platform="slack", turn="t", state="final", answer=answer)
        meters.begin(work)
        meters.end(work)
    amounts = {
        what: registry.get_sample_value("footnote_research_spent_total", {"what": what})
        for what in ("rounds", "searches", "calls", "tokens")
    }
    assert amounts == {"rounds": 4, "searches": 6, "calls": 10, "tokens": 14_000}
    assert registry.get_sample_value("footnote_researches_total", {"ending": "sufficient"}) == 2
