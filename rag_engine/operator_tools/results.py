from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from rag_engine.agent.tool import RESULT, ToolResult
from rag_engine.text.surrogates import encodable
from rag_engine.types import Chunk, ChunkId, DocumentId, Hit, KnowledgeBaseId

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LONGEST: Final = 8_000
"""Characters of a result; also untrusted text is an excerpt."""
_LONGEST_PLACE: Final = 120
_SHORTEST_SECRET: Final = 8
_HIDDEN: Final = "[secret]"
_PLAIN: Final = frozenset({"accept", "accept-language", "content-type", "user-agent"})
_PLAIN_ADDRESS: Final = re.compile(r"https?://[^/?#@\s]+(?:/[\w.-]{0,15})*", re.IGNORECASE)


def secret_headers(headers: Mapping[str, str]) -> list[str]:
    return [value for name, value in headers.items() if name.casefold() not in _PLAIN]


def without_secrets(text: str, given: Iterable[str]) -> str:
    """A server may send back what the operator gave it."""
    secrets = [each for each in given if not _PLAIN_ADDRESS.fullmatch(each)]
    parts = {part for secret in secrets for part in (secret, *secret.split())}
    written = {way for part in parts for way in (part, quote(part, safe=""), json.dumps(part)[1:-1])}
    for each in sorted(written, key=len, reverse=True):
        if len(each) >= _SHORTEST_SECRET:
            text = text.replace(each, _HIDDEN)
    return text


def indented(value: object) -> str:
    """Its beginning: deep lists grow a thousandfold."""
    parts: list[str] = []
    size = 0
    for part in json.JSONEncoder(ensure_ascii=False, indent=1, default=str).iterencode(value):
        parts.append(part)
        size += len(part)
        if size > LONGEST:
            parts.append("…")
            break
    return "".join(parts)


def passage(tool: str, arguments: Mapping[str, object], text: str) -> ToolResult:
    text = encodable(text.strip())
    if not text:
        return ToolResult()
    shown = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
    given = encodable(", ".join(f"{name}: {value}" for name, value in arguments.items()))
    digest = hashlib.sha256(f"{given}\n{shown}".encode()).hexdigest()[:24]
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
