from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rag_engine.metadata.filter_types import Filter
    from rag_engine.retrieval.queries.early_vectors import EarlyVectors
    from rag_engine.types import Route


@dataclass(frozen=True, slots=True, kw_only=True)
class Understanding:
    route: Route = "search"
    confidence: float = 1.0
    question: str = ""
    queries: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    translations: Mapping[str, str] = field(default_factory=dict[str, str])
    """The question by ISO 639-1 code."""
    counter_question: str = ""
    options: tuple[str, ...] = ()
    filter: Filter | None = None
    """Its most certain condition first."""
    left_out: tuple[str, ...] = ()
    seconds: float = 0.0
    early: EarlyVectors | None = field(default=None, compare=False, repr=False)
