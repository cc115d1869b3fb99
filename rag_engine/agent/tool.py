from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Protocol

from pydantic import BaseModel, ValidationError

from rag_engine.errors import RagError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from rag_engine.pipeline import Inquiry
    from rag_engine.ports import IndexContents, LanguageModel, Step
    from rag_engine.types import DocumentId, DocumentRecord, Hit, KnowledgeBaseId, Query

    ComputeHits = Callable[[str, Inquiry, LanguageModel], Awaitable[tuple[Hit, ...]]]
    ListRecords = Callable[[KnowledgeBaseId], Awaitable[Sequence[DocumentRecord]]]

RESULT: Final = "tool:"
"""The beginning of the ids of documents and chunks that a tool made."""


def is_tool_result(identity: str) -> bool:
    return identity.startswith(RESULT)


class ToolFailed(RagError):
    """The tool gave no result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """An answer may cite `hits`, best first; `text` is for the model alone."""

    text: str = ""
    hits: tuple[Hit, ...] = ()


class SearchText(Protocol):
    def __call__(
        self, text: str, *, documents: frozenset[DocumentId] | None = None
    ) -> Awaitable[Sequence[Hit]]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """All that the readers of the reply may read."""

    inquiry: Inquiry
    search: SearchText
    model: LanguageModel
    passages: Sequence[Hit] = ()
    """Found so far; the model knows passage i as i, from 1."""


def always(_: Query) -> bool:
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """`run` raises `RagError`, whose text the model gets."""

    name: str
    description: str
    parameters: Mapping[str, object] = field(default_factory=dict[str, object])
    """The JSON schema of an object."""
    run: Callable[[Mapping[str, object], ToolContext], Awaitable[ToolResult]]
    is_offered: Callable[[Query], bool] = always
    acts: bool = False
    """It may change something outside: a call is never made twice."""


def typed_tool(
    name: str,
    description: str,
    arguments: type[BaseModel],
    run: Callable[[Any, ToolContext], Awaitable[ToolResult]],
    *,
    is_offered: Callable[[Query], bool] = always,
) -> Tool:

    async def validated(written: Mapping[str, object], context: ToolContext) -> ToolResult:
        try:
            given = arguments.model_validate(dict(written))
        except ValidationError as error:
            raise ToolFailed(_sentence(error)) from error
        return await run(given, context)

    return Tool(
        name=name,
        description=description,
        parameters=_parameters(arguments),
        run=validated,
        is_offered=is_offered,
    )


@cache
def _parameters(arguments: type[BaseModel]) -> Mapping[str, object]:
    schema = arguments.model_json_schema()
    properties = {
        key: {name: value for name, value in own.items() if name != "title"}
        for key, own in schema.get("properties", {}).items()
    }
    return {
        "type": "object",
        "properties": properties,
        "required": schema.get("required", []),
        "additionalProperties": False,
    }


def _sentence(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(map(str, first["loc"])) or "The arguments"
    return f"Wrong arguments: {where}: {first['msg']}."


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPorts:
    contents: IndexContents
    records: ListRecords
    compute: ComputeHits
    web: Step | None = None
