from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class ResearchSettings(BaseModel):
    """Limits on `/research`: a question that takes several searches. It ends at the first limit, and answers with what it found."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    automatic: bool = True
    """Whether the language model that understands a message may choose it, too."""
    parts: int = Field(default=4, ge=1, le=8)
    """Sub-questions of one round, searched at the same time."""
    rounds: int = Field(default=4, ge=1, le=10)
    """Rounds of sub-questions."""
    searches: int = Field(default=12, ge=1, le=50)
    """Searches in all."""
    tokens: int = Field(default=100_000, ge=1_000)
    """Estimated tokens of all calls of language models before the report."""
    seconds: float = Field(default=120, gt=0)
    """Time before the report."""
    call_seconds: float = Field(default=40, gt=0)
    """The longest time of one call or search."""
    facts: int = Field(default=3, ge=1, le=10)
    """Facts for one sub-question."""
    read: int = Field(default=6, ge=1, le=20)
    """Passages read for one sub-question."""
    passages: int = Field(default=20, ge=1, le=50)
    """Passages of the report."""
