from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict, Field

from rag_engine.agent.tool import ToolContext, ToolPorts, ToolResult

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


DESCRIPTION: Final = (
    "Count, add up, compare or filter the rows of tables in the files. Figures of many rows come from "
    "here alone."
)


class Arguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    question: str = Field(
        min_length=1,
        max_length=1_000,
        description="One complete question with all names and conditions, such as: total amount of Field in 2025.",
    )


def build(ports: ToolPorts) -> Callable[[Arguments, ToolContext], Awaitable[ToolResult]]:
    async def compute(arguments: Arguments, context: ToolContext) -> ToolResult:
        return ToolResult(hits=await ports.compute(arguments.question, context.inquiry, context.model))

    return compute
