from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from bot import port
from rag_engine import errors
from rag_engine.sync.types import SyncCounts

if TYPE_CHECKING:
    from rag_engine.types import Answer, Side

Outcome: TypeAlias = Literal[
    "ok",
    "unavailable",
    "misconfigured",
    "rejected",
    "refused",
    "throttled",
    "unreachable",
    "stopped",
    "gone",
    "cancelled",
    "failed",
]
"""`failed`: a bug; `rejected`: people can fix it."""
BudgetKind: TypeAlias = Literal["question", "repeat", "sources", "why"]
Value: TypeAlias = str | int | float | bool

_OUTCOMES: tuple[tuple[type[BaseException], Outcome], ...] = (
    (errors.Unavailable, "unavailable"),
    (errors.Misconfigured, "misconfigured"),
    (errors.UserError, "rejected"),
    (errors.Refused, "refused"),
    (port.Throttled, "throttled"),
    (port.Unreachable, "unreachable"),
    (port.Stopped, "stopped"),
    (port.Gone, "gone"),
    (port.WriteRefused, "refused"),
    (asyncio.CancelledError, "cancelled"),
    (GeneratorExit, "cancelled"),
)


def outcome_of(error: BaseException) -> Outcome:
    found: Outcome | None = next((outcome for kind, outcome in _OUTCOMES if isinstance(error, kind)), None)
    return found or "failed"


@dataclass(slots=True, kw_only=True)
class Operation:
    """`outcome`, `seconds` and `error` come at the end."""

    outcome: Outcome = field(default="failed", init=False)
    seconds: float = field(default=0.0, init=False)
    error: BaseException | None = field(default=None, init=False)

    @property
    def title(self) -> str:
        return type(self).__name__

    def facts(self) -> dict[str, Value]:
        return {}


@dataclass(slots=True, kw_only=True)
class IndexUse(Operation):
    name: Literal["open", "search", "read", "put", "drop"]
    passages: int = 0
    incomplete: tuple[str, ...] = ()
    """Part of the index did not answer."""

    @property
    def title(self) -> str:
        return f"index {self.name}"

    def facts(self) -> dict[str, Value]:
        return {"passages": self.passages} if self.passages else {}


@dataclass(slots=True, kw_only=True)
class Feedback(Operation):
    platform: str
    rating: str
    reason: str = ""
    kinds: frozenset[str] = frozenset()
    """Of what the answer cites."""

    @property
    def title(self) -> str:
        return f"feedback {self.rating}"

    def facts(self) -> dict[str, Value]:
        return {"platform": self.platform}


@dataclass(slots=True, kw_only=True)
class ModelCall(Operation):
    model: str
    task: str
    prompt_tokens: int
    reply_tokens: int = 0
    first_text_seconds: float | None = None

    @property
    def title(self) -> str:
        return f"model {self.task}"

    def facts(self) -> dict[str, Value]:
        first = {} if self.first_text_seconds is None else {"first_text_seconds": self.first_text_seconds}
        return {
            "model": self.model,
            "prompt_tokens": self.prompt_tokens,
            "reply_tokens": self.reply_tokens,
            **first,
        }


@dataclass(slots=True, kw_only=True)
class Embedding(Operation):
    side: Side
    texts: int

    @property
    def title(self) -> str:
        return f"embed {self.side}"

    def facts(self) -> dict[str, Value]:
        return {"texts": self.texts}


@dataclass(slots=True, kw_only=True)
class Reranking(Operation):
    hits: int

    @property
    def title(self) -> str:
        return "rerank"

    def facts(self) -> dict[str, Value]:
        return {"hits": self.hits}


@dataclass(slots=True, kw_only=True)
class StageRun(Operation):
    name: str

    @property
    def title(self) -> str:
        return f"step {self.name}"


@dataclass(slots=True, kw_only=True)
class Parsing(Operation):
    """`format` is the parser's name, or `other`."""

    format: str

    @property
    def title(self) -> str:
        return "parse"

    def facts(self) -> dict[str, Value]:
        return {"format": self.format}


@dataclass(slots=True, kw_only=True)
class SourceRun(Operation):
    kind: str
    counts: SyncCounts = field(default_factory=SyncCounts)
    is_complete: bool = False

    @property
    def title(self) -> str:
        return f"source {self.kind}"

    def count(self, counts: SyncCounts, *, is_complete: bool) -> None:
        self.counts, self.is_complete = counts, is_complete

    def facts(self) -> dict[str, Value]:
        return {**asdict(self.counts), "complete": self.is_complete}


@dataclass(slots=True, kw_only=True)
class Writing(Operation):
    platform: str
    route: str
    action: Literal["create", "edit", "final", "remove"]

    @property
    def title(self) -> str:
        return f"write {self.action}"

    def facts(self) -> dict[str, Value]:
        return {"platform": self.platform, "route": self.route}


@dataclass(slots=True, kw_only=True)
class Event(Operation):
    platform: str
    kind: Literal["message", "edited", "deleted", "command", "action", "arrival", "resume"]

    @property
    def title(self) -> str:
        return self.kind


@dataclass(slots=True, kw_only=True)
class OverBudget(Operation):
    platform: str
    kind: BudgetKind

    @property
    def title(self) -> str:
        return f"over budget: {self.kind}"


@dataclass(slots=True, kw_only=True)
class TurnWork(Operation):
    platform: str
    turn: str
    state: str = ""
    """Stored at the end: `final`, `stopped`, ..."""
    starts: int = 1
    resumed: bool = False
    writes: int = 0
    first_text_seconds: float | None = None
    """Until the first visible words."""
    answer: Answer | None = None

    @property
    def title(self) -> str:
        return "turn"

    def facts(self) -> dict[str, Value]:
        facts: dict[str, Value] = {
            "platform": self.platform,
            "state": self.state,
            "begun": self.starts,
            "resumed": self.resumed,
            "writes": self.writes,
        }
        if self.first_text_seconds is not None:
            facts["first_text_seconds"] = self.first_text_seconds
        if self.answer is not None:
            facts["engine_turn"] = self.answer.turn
            facts["model"] = self.answer.model
            facts["route"] = self.answer.route
            facts["prompt_tokens"] = self.answer.prompt_tokens
            facts["citations"] = len(self.answer.citations)
            facts["fallbacks"] = ",".join(self.answer.fallbacks)
        return facts
