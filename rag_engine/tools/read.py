from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict, Field

from rag_engine.agent.tool import ToolContext, ToolFailed, ToolPorts, ToolResult
from rag_engine.types import DocumentId, Hit

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from rag_engine.ports import IndexContents
    from rag_engine.types import Chunk

_AT_ONCE: Final = 6
_BEFORE: Final = 2


DESCRIPTION: Final = "Read the text around a passage, or a document from its beginning or a later part."


class Arguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    passage: int = Field(default=0, ge=0, description="The number of a passage, to read around it.")
    document: str = Field(default="", description="Or the id of a document, from `list`.")
    start: int = Field(default=0, ge=0, description="Of a document: the part to begin with.")


def build(ports: ToolPorts) -> Callable[[Arguments, ToolContext], Awaitable[ToolResult]]:
    async def read(arguments: Arguments, context: ToolContext) -> ToolResult:
        document, start = _place(arguments, context)
        allowed = context.inquiry.documents
        is_allowed = allowed is None or document in allowed
        chunks = await _chunks(document, start, context, ports.contents) if is_allowed else ()
        if not chunks:
            raise ToolFailed("There is nothing to read there; `list` names the documents.")
        more = f"Go on with start {chunks[-1].ordinal + 1}." if len(chunks) == _AT_ONCE else ""
        hits = tuple(Hit(chunk=chunk, score=0.0, rank=rank) for rank, chunk in enumerate(chunks, 1))
        text = f"Document {document}, from part {chunks[0].ordinal}. {more}".strip()
        return ToolResult(text=text, hits=hits)

    return read


def _place(arguments: Arguments, context: ToolContext) -> tuple[DocumentId, int]:
    if not arguments.passage:
        return DocumentId(arguments.document), arguments.start
    if arguments.passage > len(context.passages):
        raise ToolFailed(f"There is no passage {arguments.passage}.")
    chunk = context.passages[arguments.passage - 1].chunk
    return chunk.document, max(chunk.ordinal - _BEFORE, 0)


async def _chunks(
    document: DocumentId, start: int, context: ToolContext, contents: IndexContents
) -> Sequence[Chunk]:
    for base in sorted(context.inquiry.query.knowledge_bases):
        if found := await contents.chunks(base, document, limit=_AT_ONCE, start=start):
            return found
    return ()
