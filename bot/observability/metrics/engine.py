from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Final, get_args

from prometheus_client import Counter, Histogram

from bot.observability.metrics.buckets import CALLS, FILES, REPLIES
from rag_engine.errors import Unavailable
from rag_engine.types import Leg, Side

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from bot.observability.operations import Embedding, IndexUse, ModelCall, Parsing, Reranking, SourceRun

_INDEX_USES: Final = ("open", "search", "put", "drop")
_INDEX_OUTCOMES: Final = ("ok", "unavailable", "misconfigured", "cancelled", "failed")


class IndexMeters:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._operations = Counter(
            "footnote_index_operations",
            "What the index was asked to do, by how it ended",
            ["operation", "outcome"],
            registry=registry,
        )
        self._faults = Counter(
            "footnote_index_faults",
            "Times that the index did not answer, by what was wrong",
            ["backend", "reason"],
            registry=registry,
        )
        self._incomplete = Counter(
            "footnote_index_incomplete_rankings",
            "Rankings that a part of the index did not contribute to",
            ["leg"],
            registry=registry,
        )
        self._seconds = Histogram(
            "footnote_index_seconds",
            "How long the index took, whatever the outcome",
            ["operation"],
            buckets=CALLS,
            registry=registry,
        )
        self._passages = Counter(
            "footnote_index_passages", "Passages written to the index", registry=registry
        )
        for operation in _INDEX_USES:
            self._seconds.labels(operation)
            for outcome in _INDEX_OUTCOMES:
                self._operations.labels(operation, outcome)
        for leg in get_args(Leg):
            self._incomplete.labels(leg)

    def count(self, use: IndexUse) -> None:
        if isinstance(use.error, Unavailable):
            self._faults.labels(use.error.backend or "index", use.error.reason or "failed").inc()
        self._operations.labels(use.name, use.outcome).inc()
        self._seconds.labels(use.name).observe(use.seconds)
        for leg in use.incomplete:
            self._incomplete.labels(leg).inc()
        if use.outcome == "ok":
            self._passages.inc(use.passages)


class ModelMeters:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._calls = Counter(
            "footnote_model_calls",
            "Replies that language models were asked for, by how they ended",
            ["model", "task", "outcome"],
            registry=registry,
        )
        self._first_text = Histogram(
            "footnote_model_first_text_seconds",
            "From the request to the first text of a reply",
            ["model", "task"],
            buckets=CALLS,
            registry=registry,
        )
        self._seconds = Histogram(
            "footnote_model_seconds",
            "From the request to the end of a reply, whatever the outcome",
            ["model", "task"],
            buckets=REPLIES,
            registry=registry,
        )
        self._tokens = Counter(
            "footnote_model_tokens",
            "Tokens that models were given (prompt) and wrote (reply), as we count them",
            ["model", "direction"],
            registry=registry,
        )

    def count(self, call: ModelCall) -> None:
        self._calls.labels(call.model, call.task, call.outcome).inc()
        self._seconds.labels(call.model, call.task).observe(call.seconds)
        self._tokens.labels(call.model, "prompt").inc(call.prompt_tokens)
        self._tokens.labels(call.model, "reply").inc(call.reply_tokens)
        if call.first_text_seconds is not None:
            self._first_text.labels(call.model, call.task).observe(call.first_text_seconds)


class VectorMeters:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._batches = Counter(
            "footnote_embedding_batches",
            "Batches of texts that were to be embedded, by how that ended",
            ["side", "outcome"],
            registry=registry,
        )
        self._texts = Counter(
            "footnote_embedding_texts", "Texts that were embedded", ["side"], registry=registry
        )
        self._seconds = Histogram(
            "footnote_embedding_seconds",
            "How long a batch took, its wait for its turn included",
            ["side"],
            buckets=CALLS,
            registry=registry,
        )
        self._rerankings = Counter(
            "footnote_rerankings", "Calls of the reranker, by how they ended", ["outcome"], registry=registry
        )
        self._reranking_seconds = Histogram(
            "footnote_reranking_seconds", "How long the reranker took", buckets=CALLS, registry=registry
        )
        for side in get_args(Side):
            self._texts.labels(side)
            self._seconds.labels(side)

    def embedded(self, batch: Embedding) -> None:
        self._batches.labels(batch.side, batch.outcome).inc()
        self._seconds.labels(batch.side).observe(batch.seconds)
        if batch.outcome == "ok":
            self._texts.labels(batch.side).inc(batch.texts)

    def reranked(self, call: Reranking) -> None:
        self._rerankings.labels(call.outcome).inc()
        self._reranking_seconds.observe(call.seconds)


class FileMeters:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._files = Counter(
            "footnote_parsed_files",
            "Files that were read, by their format and how that ended (rejected: the file is at fault)",
            ["format", "outcome"],
            registry=registry,
        )
        self._seconds = Histogram(
            "footnote_parsing_seconds",
            "From the wait for a worker to the last section of a file",
            ["format"],
            buckets=FILES,
            registry=registry,
        )

    def count(self, parsing: Parsing) -> None:
        self._files.labels(parsing.format, parsing.outcome).inc()
        self._seconds.labels(parsing.format).observe(parsing.seconds)


class SourceMeters:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._runs = Counter(
            "footnote_source_runs",
            "Readings of sources, by their kind and whether they were complete",
            ["kind", "outcome"],
            registry=registry,
        )
        self._entries = Counter(
            "footnote_source_entries",
            "Entries of sources that a reading found new, changed, gone or failed",
            ["kind", "change"],
            registry=registry,
        )

    def count(self, run: SourceRun) -> None:
        outcome = run.outcome if run.outcome != "ok" or run.is_complete else "incomplete"
        self._runs.labels(run.kind, outcome).inc()
        for change, count in asdict(run.counts).items():
            self._entries.labels(run.kind, change).inc(count)
