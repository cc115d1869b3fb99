from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class ExpansionSettings(BaseModel):
    """Summaries of passages and questions that they answer, in knowledge bases that have them (`footnote kb expand`). The tasks `passage_summary` and `passage_questions` may have models of their own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    longer_than: int = Field(default=200, ge=0)
    """Only passages with more characters have them."""
    questions: int = Field(default=3, ge=1, le=10)
    """The most questions of one passage."""
    at_once: int = Field(default=3, ge=1, le=64)
    """Calls of the language model at the same time."""
    seconds: float = Field(default=60, gt=0)
    """The longest time of one call."""
    summary_prompt: str = ""
    """In place of the rules that `footnote prompts passage_summary` prints; `{passage}` becomes the passage."""
    questions_prompt: str = ""
    """The same for `footnote prompts passage_questions`."""


class GraphSettings(BaseModel):
    """Names and terms that passages share, in knowledge bases that have a graph (`footnote kb graph`). Rules find them; with a model of its own for the task `graph` (`FOOTNOTE_TASKS__GRAPH__MODEL`), that too."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    gleanings: int = Field(default=0, ge=0, le=3)
    """Further calls of the model about each passage, for what the first left out."""
    at_once: int = Field(default=3, ge=1, le=64)
    """Calls of the model at the same time."""
    seconds: float = Field(default=60, gt=0)
    """The longest time of all calls about one passage."""
