"""Operations: what was done, how long it took and how it ended. Numbers and names of parts only, never what anybody wrote."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from bot import port
from rag_engine import errors

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
"""How an operation ended; `failed` is a bug, and `rejected` what a person can mend."""
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
    (port.Refused, "refused"),
    (asyncio.CancelledError, "cancelled"),
    (GeneratorExit, "cancelled"),
)


def outcome_of(error: BaseException) -> Outcome:
    """How an operation ended that raised this."""
    found: Outcome | None = next((outcome for kind, outcome in _OUTCOMES if isinstance(error, kind)), None)
    return found or "failed"


@dataclass(slots=True, kw_only=True)
class Operation:
    """One operation; `outcome`, `seconds` and `error` are known when it is over."""

    outcome: Outcome = field(default="failed", init=False)
    seconds: float = field(default=0.0, init=False)
    error: BaseException | None = field(default=None, init=False)

    @property
    def title(self) -> str:
        """What a trace calls it."""
        return type(self).__name__

    def facts(self) -> dict[str, Value]:
        """What a trace tells of it."""
        return {}


@dataclass(slots=True, kw_only=True)
class IndexUse(Operation):
    """`passages` were written."""

    name: Literal["open", "search", "read", "put", "drop"]
    passages: int = 0
    incomplete: tuple[str, ...] = ()
    """Legs that a part of the index did not contribute to."""

    @property
    def title(self) -> str:
        return f"index {self.name}"

    def facts(self) -> dict[str, Value]:
        return {"passages": self.passages} if self.passages else {}


@dataclass(slots=True, kw_only=True)
class ModelCall(Operation):
    """One reply of a language model, from the request to the last text."""

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
    """One batch of texts."""

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
class Stage(Operation):
    """One step of the pipeline."""

    name: str

    @property
    def title(self) -> str:
        return f"step {self.name}"


@dataclass(slots=True, kw_only=True)
class Parsing(Operation):
    """One file, read from beginning to end; `format` is the parser that its name asks for, else `other`."""

    format: str

    @property
    def title(self) -> str:
        return "parse"

    def facts(self) -> dict[str, Value]:
        return {"format": self.format}


@dataclass(slots=True, kw_only=True)
class Writing(Operation):
    """One call that changes what stands on a platform."""

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
    """What a platform told us, until it is dealt with."""

    platform: str
    kind: Literal["message", "edited", "deleted", "command", "action", "resume"]

    @property
    def title(self) -> str:
        return self.kind


@dataclass(slots=True, kw_only=True)
class TurnWork(Operation):
    """One turn from when it is taken up to its last word."""

    platform: str
    turn: str
    state: str = ""
    """How it ended, as it is kept: `final`, `stopped`, ..."""
    begun: int = 1
    """How often it was taken up: more than once after a restart, and when somebody asked for it again."""
    resumed: bool = False
    """A process that ended had begun it."""
    writes: int = 0
    """Calls that changed its messages."""
    first_text_seconds: float | None = None
    """Until a person could read the first words."""
    answer: Answer | None = None

    @property
    def title(self) -> str:
        return "turn"

    def facts(self) -> dict[str, Value]:
        told: dict[str, Value] = {
            "platform": self.platform,
            "state": self.state,
            "begun": self.begun,
            "resumed": self.resumed,
            "writes": self.writes,
        }
        if self.first_text_seconds is not None:
            told["first_text_seconds"] = self.first_text_seconds
        if self.answer is not None:
            told["engine_turn"] = self.answer.turn
            told["model"] = self.answer.model
            told["route"] = self.answer.route
            told["prompt_tokens"] = self.answer.prompt_tokens
            told["citations"] = len(self.answer.citations)
            told["fallbacks"] = ",".join(self.answer.fallbacks)
        return told
