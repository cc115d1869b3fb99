from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict, Field

from rag_engine.agent.tool import ToolContext, ToolFailed, ToolPorts, ToolResult
from rag_engine.text.analyzer import query_tokens
from rag_engine.web.addresses import is_outside

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from rag_engine.types import Query

_LONGEST: Final = 200


DESCRIPTION: Final = (
    "Search the public web and read pages, if the files cannot answer. Use the words of the question "
    "and general ones: a query with words that only the files hold is refused."
)


class Arguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    query: str = Field(min_length=1, description="Short and specific.")


def is_offered(query: Query) -> bool:
    return query.web in ("if_nothing", "asked")


def build(ports: ToolPorts) -> Callable[[Arguments, ToolContext], Awaitable[ToolResult]] | None:
    step = ports.web
    if step is None:
        return None

    async def search(arguments: Arguments, context: ToolContext) -> ToolResult:
        text = " ".join(arguments.query.split())[:_LONGEST]
        if secret := await asyncio.to_thread(_of_files_alone, text, context):
            raise ToolFailed(
                f"Not sent: {', '.join(secret)} is in the files and not in the question. Use other words."
            )
        inquiry = context.inquiry
        asked = replace(
            inquiry,
            query=replace(inquiry.query, web="asked"),
            question=text,
            route="search",
            hits=(),
            context=(),
            details={},
            fallbacks=(),
            notices=(),
        )
        read = await step(asked)
        if "web_unavailable" in read.fallbacks:
            raise ToolFailed("The web could not be searched.")
        return ToolResult(hits=read.hits)

    return search


def _of_files_alone(text: str, context: ToolContext) -> list[str]:
    """A page or a file may order a model to tell a search provider something."""
    inquiry = context.inquiry
    said = [
        inquiry.query.text,
        inquiry.question,
        *(turn.text for turn in inquiry.history if turn.role == "user"),
    ]
    known = set(query_tokens("\n".join(said)))
    held = {
        token
        for hit in context.passages
        if not is_outside(hit.chunk.document)
        for token in query_tokens(f"{hit.chunk.title}\n{hit.chunk.text}")
    }
    return [token for token in dict.fromkeys(query_tokens(text)) if token in held - known]
