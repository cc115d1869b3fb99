"""What a run of a source says in the terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from bot.cli._shared.source_runs import report
from rag_engine.ingestion.source_sync import SyncOutcome
from rag_engine.sync.types import SourceId, SyncCounts, SyncedSource
from rag_engine.types import KnowledgeBaseId

SOURCE = SyncedSource(
    id=SourceId(1),
    knowledge_base=KnowledgeBaseId("kb"),
    kind="git",
    address="https://a.test",
    every_seconds=1,
)


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (SyncOutcome(counts=SyncCounts(), error="no host: a.test"), "no host: a.test. What was read"),
        (SyncOutcome(counts=SyncCounts(), error="It is away."), "It is away. What was read"),
        (SyncOutcome(counts=SyncCounts(new=1), entries=1), "https://a.test: 1 entry, 1 new"),
        (SyncOutcome(counts=SyncCounts(new=2), entries=2_000), "https://a.test: 2,000 entries, 2 new"),
    ],
)
def test_a_run_is_reported_in_whole_sentences(outcome: SyncOutcome, said: str) -> None:
    written = io.StringIO()
    report(SOURCE, outcome, Console(file=written, width=200))
    assert said in written.getvalue()
