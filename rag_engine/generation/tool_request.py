from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rag_engine.types import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """`parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    name: str
    arguments: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRound:
    calls: tuple[ToolCall, ...]
    results: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRequest:
    """A model answers it by the text `{"calls": [{"tool": …, "arguments": {…}}]}`, or by other text if it needs no further call."""

    tools: tuple[ToolSpec, ...]
    messages: tuple[Message, ...]
    """Before the first round."""
    rounds: tuple[ToolRound, ...] = ()
