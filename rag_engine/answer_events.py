"""What `Engine.answer` yields: stages, the passages, growing text, and the answer last."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rag_engine.research.findings import PlanStep
    from rag_engine.tables.types import ComputedAnswer
    from rag_engine.types import Citation, Evidence, Hit, Leg, Route, TurnId


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What is being done; `detail` is text for people."""

    name: str
    detail: str = ""
    number: int = 0
    of: int = 0
    steps: tuple[PlanStep, ...] = ()
    found: Mapping[Leg, int] = field(default_factory=dict["Leg", int])


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """The passages that the answer may use, with provenance."""

    hits: tuple[Hit, ...]
    fallbacks: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    """Sentences to show with the hits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """Text to append. Earlier text never changes."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """`grounded`: a passage that the text cites supports one of its statements."""

    turn: TurnId
    text: str
    citations: tuple[Citation, ...]
    grounded: bool
    timings: Mapping[str, float]
    fallbacks: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    """Sentences to show under the answer."""
    model: str = ""
    prompt_tokens: int = 0
    route: Route = "search"
    language: str = ""
    """ISO 639-1, of the engine's own sentences in the text; empty if it has none."""
    repeatable: bool = True
    """False if the same question would get the same answer, as for an unknown file."""
    understood_as: str = ""
    """The question as a language model completed it; empty if unchanged."""
    corrections: Mapping[str, str] = field(default_factory=dict[str, str])
    filtered_by: str = ""
    """The filters that chose the documents, as people may write them."""
    support_ratio: float = 0.0
    """The share of its statements that the passages support."""
    unsupported: tuple[str, ...] = ()
    """Its figures, dates and names that no cited passage holds."""
    choices: tuple[str, ...] = ()
    research: Mapping[str, object] = field(default_factory=dict[str, object])
    """Of a researched question: rounds, searches, calls, ..."""
    used_tools: bool = False
    computed: ComputedAnswer | None = None
    evidence: Evidence = ""


AnswerEvent: TypeAlias = Stage | Retrieval | Delta | Answer
