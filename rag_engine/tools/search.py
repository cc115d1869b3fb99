from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict, Field

from rag_engine.agent.tool import ToolContext, ToolFailed, ToolPorts, ToolResult
from rag_engine.types import DocumentId

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

LONGEST: Final = 300


DESCRIPTION: Final = "Search the files for passages, by words and by meaning; the best comes first."


class Arguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    query: str = Field(min_length=1, description="Short and specific: one topic, with its names.")
    document: str = Field(default="", description="Search this document alone: its id from `list`.")


def build(ports: ToolPorts) -> Callable[[Arguments, ToolContext], Awaitable[ToolResult]]:
    return _search


async def _search(arguments: Arguments, context: ToolContext) -> ToolResult:
    query = " ".join(arguments.query.split())
    if not query:
        raise ToolFailed("The query is empty.")
    documents = frozenset({DocumentId(arguments.document)}) if arguments.document else None
    hits = await context.search(query[:LONGEST], documents=documents)
    text = f"The query was cut to {LONGEST} characters: make it shorter." if len(query) > LONGEST else ""
    return ToolResult(text=text, hits=tuple(hits))
