from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from rag_engine.agent.tool import RESULT, ToolResult
from rag_engine.types import Chunk, ChunkId, DocumentId, Hit, KnowledgeBaseId

if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST: Final = 8_000
"""Characters of a result; also untrusted text is an excerpt."""
_LONGEST_PLACE: Final = 120


def passage(tool: str, arguments: Mapping[str, object], text: str) -> ToolResult:
    text = text.strip()
    if not text:
        return ToolResult()
    shown = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
    given = ", ".join(f"{name}: {value}" for name, value in arguments.items())
    digest = hashlib.sha256(f"{given}\n{shown}".encode("utf-8", "replace")).hexdigest()[:24]
    document = f"{RESULT}{tool}"
    chunk = Chunk(
        id=ChunkId(f"{document}:{digest}"),
        document=DocumentId(document),
        knowledge_base=KnowledgeBaseId(""),
        ordinal=0,
        text=shown,
        title=tool,
        anchor=" ".join(given.split())[:_LONGEST_PLACE],
    )
    cut = f"The result was cut to {LONGEST} characters." if shown is not text else ""
    return ToolResult(text=cut, hits=(Hit(chunk=chunk, score=0.0, rank=1),))
