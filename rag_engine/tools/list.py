from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict, Field

from rag_engine.agent.tool import RESULT, ToolContext, ToolPorts, ToolResult
from rag_engine.types import Chunk, ChunkId, DocumentId, Hit, KnowledgeBaseId

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from rag_engine.types import DocumentRecord

_AT_ONCE: Final = 40
_LONGEST_TITLE: Final = 150
_DOCUMENT: Final = DocumentId(f"{RESULT}list")


DESCRIPTION: Final = "List the documents that can be searched, with their ids, sizes and types."


class Arguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(default="", description="Only those with this in their name.")
    start: int = Field(default=0, ge=0, description="How many to skip.")


def build(ports: ToolPorts) -> Callable[[Arguments, ToolContext], Awaitable[ToolResult]]:
    async def listed(arguments: Arguments, context: ToolContext) -> ToolResult:
        records = [
            record
            for base in sorted(context.inquiry.query.knowledge_bases)
            for record in await ports.records(base)
            if _is_shown(record, arguments, context)
        ]
        shown = records[arguments.start : arguments.start + _AT_ONCE]
        if not shown:
            return ToolResult(text="There are no such documents.")
        more = len(records) - arguments.start - len(shown)
        ids = "\n".join(f"{record.document.title[:_LONGEST_TITLE]}: {record.document.id}" for record in shown)
        rest = f"\n{more} more: go on with start {arguments.start + len(shown)}." if more > 0 else ""
        return ToolResult(text=f"Ids:\n{ids}{rest}", hits=(_passage(shown, len(records)),))

    return listed


def _is_shown(record: DocumentRecord, arguments: Arguments, context: ToolContext) -> bool:
    allowed = context.inquiry.documents
    is_allowed = allowed is None or record.document.id in allowed
    is_named = arguments.name.casefold() in record.document.title.casefold()
    return is_allowed and is_named and record.state == "ready"


def _passage(shown: list[DocumentRecord], total: int) -> Hit:
    lines = [
        f"{record.document.title[:_LONGEST_TITLE]} ({record.document.media_type}, {record.chunks} parts)"
        for record in shown
    ]
    text = "\n".join((f"There are {total} documents:", *lines))
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
    chunk = Chunk(
        id=ChunkId(f"{_DOCUMENT}:{digest}"),
        document=_DOCUMENT,
        knowledge_base=KnowledgeBaseId(""),
        ordinal=0,
        text=text,
        title="list of documents",
        kind="list",
    )
    return Hit(chunk=chunk, score=0.0, rank=1)
