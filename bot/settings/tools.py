from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class ToolSettings(BaseModel):
    """Limits on an answer for which a language model calls tools, where a channel allows it (`/kb settings tools`). It ends at the first limit, and answers with what it found."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    steps: int = Field(default=8, ge=1, le=30)
    """Replies of the language model that call tools."""
    calls: int = Field(default=20, ge=1, le=100)
    """Calls of tools in all."""
    at_once: int = Field(default=4, ge=1, le=16)
    """Calls of one step, made at the same time."""
    tokens: int = Field(default=100_000, ge=1_000)
    """Estimated tokens of all calls of language models before the answer."""
    seconds: float = Field(default=90, gt=0)
    """Time before the answer."""
    call_seconds: float = Field(default=30, gt=0)
    """The longest time of one call of a tool or of the language model."""
    result_tokens: int = Field(default=2_000, ge=100)
    """Tokens of a result beside its passages; a longer one is cut."""
    found: int = Field(default=6, ge=1, le=20)
    """Passages of one search."""
    passages: int = Field(default=20, ge=1, le=50)
    """Passages of the answer."""
